#!/usr/bin/env bash
# Sees to it that there are two small things that tests need: nginx, behind which the service is tested, and the English
# language data for OCR, whose engine is part of xberg. nginx is only unpacked: installed, it would serve this machine.
set -eu
unpacked=.venvs/nginx

missing() {
    if [ ! -x "$unpacked/usr/sbin/nginx" ] && ! PATH="$PATH:/usr/sbin:/usr/local/sbin" command -v nginx > /dev/null; then
        echo nginx
    fi
    for folder in .venv/share/tessdata /usr/share/tesseract-ocr/5/tessdata /usr/share/tesseract-ocr/4.00/tessdata \
        /usr/share/tessdata /usr/local/share/tessdata /opt/homebrew/share/tessdata; do
        if [ -f "$folder/eng.traineddata" ]; then return; fi
    done
    echo tesseract-ocr-eng
}

install() {
    apt-get update -qq || return 1
    for package in $(missing); do
        if [ "$package" = nginx ]; then
            folder=$(mktemp -d)
            (cd "$folder" && apt-get download -qq nginx) && mkdir -p "$unpacked" && dpkg-deb -x "$folder"/nginx_*.deb "$unpacked"
            rm -rf "$folder"
        else
            DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$package"
        fi
    done
    [ -z "$(missing)" ]
}

if [ -z "$(missing)" ]; then exit 0; fi

if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
    echo "Fetching from Debian, to test the service behind a proxy, and OCR:" $(missing)
    log=$(mktemp)
    for attempt in 1 2 3; do
        if install > "$log" 2>&1 < /dev/null; then
            rm -f "$log"
            exit 0
        fi
        sleep $((attempt * 5))
    done
    tail -n 20 "$log" >&2
fi

echo "Tests need what is missing here:" $(missing) >&2
echo "Please run, as root: apt-get install" $(missing) >&2
if [ "${CI:-}" = true ]; then exit 1; fi
echo "Going on without: those tests will be marked as skipped." >&2
