#!/bin/sh
# Sees to it that there is a libfaketime for the tests of clocks that jump: Debian's, where it can be installed.
set -eu
if [ -n "$(find /usr/lib -name libfaketime.so.1 -print -quit 2> /dev/null)" ]; then exit 0; fi
echo "Installing libfaketime for the tests of clocks ..."
if "$(dirname "$0")/debian_package.sh" libfaketime; then exit 0; fi
echo "No libfaketime could be installed; its test is skipped, or fails if CI is set." >&2
