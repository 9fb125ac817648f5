#!/bin/sh
# Sees to it that there is a Chromium for the tests of the pages: Debian's, where it can be installed.
set -eu
for name in "${TEST_CHROMIUM:-}" chromium chromium-browser google-chrome; do
    if [ -n "$name" ] && command -v "$name" > /dev/null; then exit 0; fi
done
echo "Installing Chromium for the tests of the pages ..."
if "$(dirname "$0")/debian_package.sh" chromium; then exit 0; fi
echo "No Chromium could be installed: install one, or name it with TEST_CHROMIUM." >&2
