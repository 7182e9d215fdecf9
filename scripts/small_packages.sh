#!/usr/bin/env bash
# Sees to it that there are two small things that tests need: nginx, behind which the service is tested, and the English
# language data for OCR, whose engine is part of xberg. nginx is only unpacked: installed, it would serve this machine.
set -eu
. "$(dirname "$0")/debian.sh"
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

install_missing() {
    local package folder
    for package in $(missing); do
        if [ "$package" = nginx ]; then
            folder=$(mktemp -d)
            (cd "$folder" && apt-get download -qq nginx) && mkdir -p "$unpacked" \
                && dpkg-deb -x "$folder"/nginx_*.deb "$unpacked"
            rm -rf "$folder"
        else
            install "$package"
        fi
    done
    [ -z "$(missing)" ]
}

packages=$(missing | tr '\n' ' ')
if [ -z "$packages" ]; then exit 0; fi
try_installing "Fetching from Debian, to test the service behind a proxy, and OCR: $packages..." install_missing \
    || go_without "Tests need what is missing here: $packages" "$packages"
