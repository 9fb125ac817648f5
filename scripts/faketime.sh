#!/bin/sh
# Sees to it that there is a libfaketime for the tests of clocks that jump: Debian's, where it can be installed.
set -eu
if [ -n "$(find /usr/lib -name libfaketime.so.1 -print -quit 2> /dev/null)" ]; then exit 0; fi
echo "Installing libfaketime for the tests of clocks ..."
as_root=
if [ "$(id -u)" -ne 0 ]; then as_root="sudo -n"; fi
if command -v apt-get > /dev/null && $as_root apt-get update -qq \
    && $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends libfaketime > /dev/null; then
    exit 0
fi
echo "No libfaketime could be installed; its test is skipped, or fails if CI is set." >&2
