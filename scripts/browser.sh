#!/usr/bin/env bash
# Sees to it that there is a chromium, which the test of report.html opens the page with.
set -eu
for name in chromium chromium-browser google-chrome; do
    if command -v "$name" > /dev/null; then exit 0; fi
done

if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
    echo "Installing Debian's chromium, to test report.html in it ..."
    log=$(mktemp)
    for attempt in 1 2 3; do
        if { apt-get update -qq \
                && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium; } \
                > "$log" 2>&1 < /dev/null; then
            rm -f "$log"
            exit 0
        fi
        sleep $((attempt * 5))
    done
    tail -n 20 "$log" >&2
fi

echo "There is no chromium here: the tests that open report.html in a browser need it." >&2
echo "Please run, as root: apt-get install chromium" >&2
if [ "${CI:-}" = true ]; then exit 1; fi
echo "Going on without: those tests will be marked as skipped." >&2
