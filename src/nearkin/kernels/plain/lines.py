"""The plain twins of the loops of `nearkin.kernels.lines`."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np

_HYPHEN_FLAG = re.compile(rb"[-\xad\xac\x90][\n-\r]")
_NUMBERS_FLAG = re.compile(rb"(?s)(?:.\n|[\x00-\x0f\x20-\x2f] )2[\x09-\x10 ]|[\x21-\x60][0-9]..[0-9][\n-\r]")
_NUMBER = re.compile(rb"([0-9]{1,2})(?:[ \t\r]|\Z)")
_BATES = re.compile(rb"(?=.{5,48}\Z)[0A-Z][^\t\x60-\xff]*[0-9]{4}\Z")
_BREAK = re.compile(rb"(-|\xe2\x80\x90|\xc2\xad|\xc2\xac)[ \t]*\r?\n[ \t]*")
_LETTERS = re.compile(rb"[A-Za-z\x80-\xff]+")
_DASH_IN_WORD = re.compile(rb"-[A-Za-z\x80-\xff]")
_LETTERS_BEFORE = re.compile(rb"[A-Za-z\x80-\xff]+\Z")


def flag_many(data, offsets, flags):
    for i, (start, end) in enumerate(pairwise(offsets)):
        text = data[start:end].tobytes()
        flags[i] = bool(_HYPHEN_FLAG.search(text)) + 2 * bool(_NUMBERS_FLAG.search(text) and _may_have_numbers(text))


def _may_have_numbers(text):
    lines = [line for full in text.split(b"\n") if (line := full.strip(b" \t\r"))]
    n_numbered, number = 0, 0
    for line in lines:
        if (found := _NUMBER.match(line)) and int(found[1]) in (1, number + 1):
            number = int(found[1])
            n_numbered += 1
    return (n_numbered >= 10 and 5 * n_numbered >= 2 * len(lines)) or sum(map(bool, map(_BATES.match, lines))) >= 2


def join_many(data, offsets, is_small, joined, joined_offsets):
    for i, (start, end) in enumerate(pairwise(offsets)):
        own = np.frombuffer(_joined(data[start:end].tobytes(), is_small), np.uint8)
        joined_offsets[i + 1] = joined_offsets[i] + len(own)
        joined[joined_offsets[i] : joined_offsets[i + 1]] = own


def _joined(text, is_small):
    breaks = []
    for found in _BREAK.finditer(text):
        before, after = text[: found.start()], text[found.end() :]
        if _is_small_end(before, is_small) and after and is_small[ord(after[:4].decode(errors="ignore")[0])]:
            breaks.append((found, _LETTERS_BEFORE.search(before)[0], _LETTERS.match(after)[0]))
    spans = [(f.start() - len(a), f.end() + len(b)) for f, a, b in breaks]
    runs = [r for r in _LETTERS.finditer(text) if not any(start <= r.start() < end for start, end in spans)]
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
        is_compound = in_chain or one + b"-" + other in compounds or is_rare or are_words
        if found[1] == b"\xc2\xad" or one + other in words or not is_compound:
            pieces.append(text[at : found.start()])
            at = found.end()
    return b"".join(pieces) + text[at:]


def _is_small_end(before, is_small):
    """Whether the last character is a small letter."""
    last = before[-4:].decode(errors="ignore")[-1:]
    return bool(last and before.endswith(last.encode()) and is_small[ord(last)])
