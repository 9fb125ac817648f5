#!/bin/sh
# Installs a package of Debian where that is allowed; fails where it is not: `scripts/debian_package.sh chromium`.
set -eu
as_root=
if [ "$(id -u)" -ne 0 ]; then as_root="sudo -n"; fi
command -v apt-get > /dev/null
$as_root apt-get update -qq
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$1" > /dev/null
