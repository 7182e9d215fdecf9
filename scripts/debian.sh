# Sourced by the scripts that see to it that there is what tests need, from Debian's packages.

install() {
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@"
}

# try_installing SENTENCE COMMAND...: where this user may, say it and run the command, up to three times; 0 if it worked
try_installing() {
    local sentence=$1 log attempt
    shift
    if [ "$(id -u)" != 0 ] || ! command -v apt-get > /dev/null; then return 1; fi
    echo "$sentence"
    log=$(mktemp)
    for attempt in 1 2 3; do
        if { apt-get update -qq && "$@"; } > "$log" 2>&1 < /dev/null; then
            rm -f "$log"
            return 0
        fi
        sleep $((attempt * 5))
    done
    tail -n 20 "$log" >&2
    return 1
}

# go_without SENTENCE PACKAGES: say what is missing and how to get it; CI may not skip a test
go_without() {
    echo "$1" >&2
    echo "Please run, as root: apt-get install $2" >&2
    if [ "${CI:-}" = true ]; then exit 1; fi
    echo "Going on without: those tests will be marked as skipped." >&2
}
