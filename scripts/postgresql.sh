#!/usr/bin/env bash
# Sees to it that there is a PostgreSQL server, of which the tests start one of their own.
set -eu
for server in /usr/lib/postgresql/*/bin/postgres; do
    if [ -x "$server" ]; then exit 0; fi
done
if command -v postgres > /dev/null && command -v initdb > /dev/null; then exit 0; fi

install() {
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@"
}

# Debian starts a server for every installation, which nobody asked for here
install_without_a_cluster() {
    apt-get update -qq && install postgresql-common || return 1
    local settings=/etc/postgresql-common/createcluster.conf done=0
    cp -p "$settings" "$settings.nearkin"
    echo "create_main_cluster = false" >> "$settings"
    install postgresql || done=1
    mv "$settings.nearkin" "$settings"
    return "$done"
}

if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
    echo "Installing Debian's PostgreSQL, to test collections in it ..."
    log=$(mktemp)
    for attempt in 1 2 3; do
        if install_without_a_cluster > "$log" 2>&1 < /dev/null; then
            rm -f "$log"
            exit 0
        fi
        sleep $((attempt * 5))
    done
    tail -n 20 "$log" >&2
fi

echo "There is no PostgreSQL here: the tests of collections in a database server need it." >&2
echo "Please run, as root: apt-get install postgresql" >&2
if [ "${CI:-}" = true ]; then exit 1; fi
echo "Going on without: those tests will be marked as skipped." >&2
