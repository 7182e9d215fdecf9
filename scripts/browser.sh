#!/usr/bin/env bash
# Sees to it that there is a chromium, in which tests open the pages.
set -eu
. "$(dirname "$0")/debian.sh"
for name in chromium chromium-browser google-chrome; do
    if command -v "$name" > /dev/null; then exit 0; fi
done
try_installing "Installing Debian's chromium, to test pages in it ..." install chromium \
    || go_without "There is no chromium here: the tests that open pages in a browser need it." chromium
