#!/usr/bin/env bash
# Makes or mends a Python environment: environment.sh DIR PYTHON PIP-ARGUMENTS...
set -eu
directory=$1
python=$2
shift 2

fail() {
    printf '%s\n' "$@" >&2
    exit 1
}

command -v "$python" > /dev/null \
    || fail "Nearkin needs Python 3.11 or newer, and there is no '$python' here." \
            "On Debian: apt-get install python3 python3-venv.  Elsewhere: make PYTHON=/path/to/python ..."
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
    || fail "Nearkin needs Python 3.11 or newer; '$python' is $("$python" -V 2>&1)." \
            "Name another one: make PYTHON=/path/to/python ..."

if ! "$python" -c 'import ensurepip, venv' 2> /dev/null; then
    if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
        version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
        echo "Installing Debian's python$version-venv ..."
        log=$(mktemp)
        { flock 9 && apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y "python$version-venv"; } \
            > "$log" 2>&1 < /dev/null 9> "${TMPDIR:-/tmp}/nearkin-apt.lock" || { cat "$log" >&2; fail "Debian's python$version-venv could not be installed."; }
        rm -f "$log"
    else
        fail "'$python' cannot make environments: Debian keeps that part in a package of its own." \
             "Please run, as root: apt-get install python3-venv.  Then call make again."
    fi
fi

if ! "$directory/bin/python" -m pip --version > /dev/null 2>&1; then
    echo "Making an environment in $directory with $("$python" -V) ..."
    "$python" -m venv --clear "$directory"
fi

echo "Installing into $directory (about a minute the first time) ..."
"$directory/bin/python" -m pip install -qq --disable-pip-version-check --no-input \
    --root-user-action ignore "$@" < /dev/null \
    || fail "" "pip could not install into $directory; the reason is above. Is there a way to a package index?"
