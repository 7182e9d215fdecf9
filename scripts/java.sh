#!/usr/bin/env bash
# Sees to it that there is a Java that Spark runs on, 17 or newer.
set -eu
is_new_enough() {
    local version
    version=$("$1" -version 2>&1 | sed -nE 's/.* version "([0-9]+).*/\1/p' | head -n 1)
    [ "${version:-0}" -ge 17 ]
}

java=${JAVA_HOME:+$JAVA_HOME/bin/}java
if command -v "$java" > /dev/null && is_new_enough "$java"; then exit 0; fi

install() {
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@"
}

# not every release of Debian has 17; the default of those that have not is newer
install_java() {
    apt-get update -qq && { install openjdk-17-jre-headless || install default-jre-headless; }
}

if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
    echo "Installing Debian's Java, to test the Spark engine ..."
    log=$(mktemp)
    for attempt in 1 2 3; do
        if install_java > "$log" 2>&1 < /dev/null && is_new_enough "$java"; then
            rm -f "$log"
            exit 0
        fi
        sleep $((attempt * 5))
    done
    tail -n 20 "$log" >&2
fi

echo "There is no Java 17 or newer here: the tests of the Spark engine need it." >&2
echo "Please run, as root: apt-get install openjdk-17-jre-headless" >&2
if [ "${CI:-}" = true ]; then exit 1; fi
echo "Going on without: those tests will be marked as skipped." >&2
