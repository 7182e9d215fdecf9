#!/usr/bin/env bash
# Sees to it that there is a Java that Spark runs on, 17 or newer.
set -eu
. "$(dirname "$0")/debian.sh"
is_new_enough() {
    local version
    version=$("$1" -version 2>&1 | sed -nE 's/.* version "([0-9]+).*/\1/p' | head -n 1)
    [ "${version:-0}" -ge 17 ]
}

java=${JAVA_HOME:+$JAVA_HOME/bin/}java
if command -v "$java" > /dev/null && is_new_enough "$java"; then exit 0; fi

# not every release of Debian has 17; the default of those that have not is newer
install_java() {
    { install openjdk-17-jre-headless || install default-jre-headless; } && is_new_enough "$java"
}

try_installing "Installing Debian's Java, to test the Spark engine ..." install_java \
    || go_without "There is no Java 17 or newer here: the tests of the Spark engine need it." openjdk-17-jre-headless
