#!/usr/bin/env bash
# Sees to it that there is a PostgreSQL server, of which the tests start one of their own.
set -eu
. "$(dirname "$0")/debian.sh"
for server in /usr/lib/postgresql/*/bin/postgres; do
    if [ -x "$server" ]; then exit 0; fi
done
if command -v postgres > /dev/null && command -v initdb > /dev/null; then exit 0; fi

# Debian starts a server for every installation, which nobody asked for here
install_without_a_cluster() {
    install postgresql-common || return 1
    local settings=/etc/postgresql-common/createcluster.conf done=0
    cp -p "$settings" "$settings.nearkin"
    echo "create_main_cluster = false" >> "$settings"
    install postgresql || done=1
    mv "$settings.nearkin" "$settings"
    return "$done"
}

try_installing "Installing Debian's PostgreSQL, to test collections in it ..." install_without_a_cluster \
    || go_without "There is no PostgreSQL here: the tests of collections in a database server need it." postgresql
