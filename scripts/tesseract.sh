#!/usr/bin/env bash
# Sees to it that there is the English language data for OCR, which the tests of --ocr need; the engine is part of xberg.
set -eu
for folder in .venv/share/tessdata /usr/share/tesseract-ocr/5/tessdata /usr/share/tesseract-ocr/4.00/tessdata \
    /usr/share/tessdata /usr/local/share/tessdata /opt/homebrew/share/tessdata; do
    if [ -f "$folder/eng.traineddata" ]; then exit 0; fi
done

if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
    echo "Installing Debian's language data of tesseract, to test OCR ..."
    log=$(mktemp)
    for attempt in 1 2 3; do
        if { apt-get update -qq \
                && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends tesseract-ocr-eng; } \
                > "$log" 2>&1 < /dev/null; then
            rm -f "$log"
            exit 0
        fi
        sleep $((attempt * 5))
    done
    tail -n 20 "$log" >&2
fi

echo "There is no language data of tesseract here: the tests of --ocr need it." >&2
echo "Please run, as root: apt-get install tesseract-ocr-eng" >&2
if [ "${CI:-}" = true ]; then exit 1; fi
echo "Going on without: those tests will be marked as skipped." >&2
