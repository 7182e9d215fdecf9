"""The plain twins of the loops of `nearkin.kernels.lines`."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np

_HYPHEN_FLAG = re.compile(rb"[-\xad\xac\x90][ \t]*[\n-\r]")
_TWO_FLAG = re.compile(rb"(?s)(?:.[\t\n]|[\x00-\x0f\x20-\x2f][ 0])2[\x09-\x10 ]|2\Z")
_DIGITS_FLAG = re.compile(rb"(?s)(?:[\x21-\x60][0-9]| 0)..[0-9][ \t]*[\n-\r]")
_RAISED_FLAG = re.compile(rb"\xc2[\xb2\xb3\xb9]|\xe2\x81[\xb0\xb4-\xb9]|\xe2\x82[\x80-\x89]")
_AT_SLASH = re.compile(rb"(?<![A-Za-z\x80-\xff])([A-Za-z\x80-\xff]++)[\t-\r ]*+/(?=[\t-\r ]*+([A-Za-z\x80-\xff]+))")
_SMALL = re.compile(rb"[a-z]")
_VISIBLE = re.compile(rb"[!-~]")
_NUMBERS = (
    re.compile(rb"[ \t]*([0-9]{1,2})(?:[ \t]|\r?\Z)"),
    re.compile(rb".*(?:  |\t)([0-9]{1,2})[ \t\r]*\Z", re.DOTALL),
)
JOINING = (b"and", b"bzw", b"oder", b"sowie", b"und")
"""Words after a hyphen that stands for the rest of a word: Ein- und Ausgang."""
_BATES = re.compile(rb"(?=.{5,48}\Z)[0A-Z][^\t\x60-\xff]*[0-9]{4}\Z")
_BREAK = re.compile(rb"(-|\xe2\x80\x90|\xc2\xad|\xc2\xac)[ \t]*\r?\n[ \t]*")
_LETTERS = re.compile(rb"[A-Za-z\x80-\xff]+")
_DASH_IN_WORD = re.compile(rb"-[A-Za-z\x80-\xff]")
_LETTER_BYTES = bytes(byte for byte in range(256) if _LETTERS.match(bytes([byte])))


def flag_many(data, offsets, flags):
    for i, (start, end) in enumerate(pairwise(offsets)):
        text = data[start:end].tobytes()
        has_some = _TWO_FLAG.search(text) or _DIGITS_FLAG.search(text)
        flags[i] = bool(_HYPHEN_FLAG.search(text)) + 8 * _has_hidden(text)
        flags[i] += _numbers_in(text) if has_some else 0


def _has_hidden(text):
    choices = [choice.groups() for choice in _AT_SLASH.finditer(text)]
    are_words = (bool(_SMALL.search(a)) != bool(_SMALL.search(b)) or not (a + b).isascii() for a, b in choices)
    return bool(_RAISED_FLAG.search(text)) or any(are_words)


def _numbers_in(text):
    lines = text.split(b"\n")
    n_lines, n_bates = (sum(map(bool, map(pattern, lines))) for pattern in (_VISIBLE.search, _match_bates))
    n_numbered = max(_n_numbered(lines, pattern) for pattern in _NUMBERS)
    return 2 * (n_numbered >= 10 and 5 * n_numbered >= 2 * n_lines) + 4 * (n_bates >= 2)


def _n_numbered(lines, pattern):
    n_numbered, number = 0, 0
    for line in lines:
        if (found := pattern.match(line)) and int(found[1]) in (1, number + 1):
            number = int(found[1])
            n_numbered += 1
    return n_numbered


def _match_bates(line):
    return _BATES.match(line.strip(b" \t\r"))


def join_many(data, offsets, is_small, joined, joined_offsets):
    for i, (start, end) in enumerate(pairwise(offsets)):
        own = np.frombuffer(_joined(data[start:end].tobytes(), is_small), np.uint8)
        joined_offsets[i + 1] = joined_offsets[i] + len(own)
        joined[joined_offsets[i] : joined_offsets[i + 1]] = own


def _joined(text, is_small):
    breaks = []
    for found in _BREAK.finditer(text):
        hyphen, second = found.span()
        before, after = text[max(hyphen - 4, 0) : hyphen], text[second : second + 4]
        if _is_small_end(before, is_small) and after and is_small[ord(after.decode(errors="ignore")[0])]:
            line = text[text.rfind(b"\n", 0, hyphen) + 1 : hyphen]
            breaks.append((found, line[len(line.rstrip(_LETTER_BYTES)) :], _LETTERS.match(text, second)[0]))
    runs = _runs_outside(text, [(f.start() - len(a), f.end() + len(b)) for f, a, b in breaks])
    words = {run[0].lower() for run in runs}
    compounds = {
        b"-".join((a[0].lower(), b[0].lower()))
        for a, b in pairwise(runs)
        if a.end() + 1 == b.start() and text[a.end()] == ord("-")
    }
    is_rare = 100 * len(breaks) < 3 * (text.count(b"\n") + 1)
    pieces, at = [], 0
    for found, a, b in breaks:
        one, other = a.lower(), b.lower()
        start, end = found.start() - len(a), found.end() + len(b)
        in_chain = text[max(start - 1, 0) : start] == b"-" or bool(_DASH_IN_WORD.match(text, end))
        are_words = min(len(a), len(b)) >= 3 and one in words and other in words
        is_compound = in_chain or one + b"-" + other in compounds or is_rare or are_words or other in JOINING
        if found[1] == b"\xc2\xad" or one + other in words or not is_compound:
            pieces.append(text[at : found.start()])
            at = found.end()
    return b"".join(pieces) + text[at:]


def _runs_outside(text, spans):
    runs, k = [], 0
    for run in _LETTERS.finditer(text):
        while k < len(spans) and spans[k][1] <= run.start():
            k += 1
        if k == len(spans) or run.start() < spans[k][0]:
            runs.append(run)
    return runs


def _is_small_end(before, is_small):
    last = before.decode(errors="ignore")[-1:]
    return bool(last and before.endswith(last.encode()) and is_small[ord(last)])
