"""Loops of `nearkin.kernels.words`."""

from __future__ import annotations

import numpy as np

from nearkin.kernels.characters import ALONE, FORMAT, MARK, SEPARATOR, WORD, character_classes
from nearkin.kernels.compiled.basics import GOLDEN, copy_into, decoded, mix, njit
from nearkin.kernels.compiled.shingles import _absorb, _find_bounds, _piece, _scratch

_SPACE = np.uint8(32)
_DISTINCT_AT_FIRST = 1 << 12
_EIGHT = np.uint64(8)


@njit(nogil=True, cache=True)
def split_many(data, offsets, classes, words, word_offsets, text_offsets, bounds):
    n_words, n_bytes = np.int64(0), np.int64(0)
    word_offsets[0] = 0
    for i in range(len(offsets) - 1):
        text = data[offsets[i] : offsets[i + 1]]
        n_words, n_bytes = _split_one(text, classes, words, word_offsets, bounds, n_words, n_bytes)
        text_offsets[i + 1] = n_words
    return n_words


@njit(nogil=True, cache=True)
def _split_one(text, classes, words, word_offsets, bounds, n_words, n_bytes):
    inside = np.int64(SEPARATOR)  # or WORD or ALONE: kind of the open word
    at = 0
    while at < len(text):
        code_point, after = decoded(text, at)
        kind = np.int64(classes[code_point])
        is_part = (kind == WORD and inside == WORD) or (kind == MARK and inside != SEPARATOR)
        if not is_part and kind not in (FORMAT, MARK):
            if inside != SEPARATOR:
                n_words += 1
                word_offsets[n_words] = n_bytes
            inside = kind if kind in (WORD, ALONE) else np.int64(SEPARATOR)
        if is_part or kind in (WORD, ALONE):
            if len(bounds):
                if not is_part:
                    bounds[n_words, 0] = at
                bounds[n_words, 1] = after
            for j in range(at, after):
                words[n_bytes] = text[j]
                n_bytes += 1
        at = after
    if inside != SEPARATOR:
        n_words += 1
        word_offsets[n_words] = n_bytes
    return n_words, n_bytes


def number_words(data, offsets, ids, id_offsets):
    scratch = _scratch(int(np.diff(offsets).max(initial=0)))[:5]
    return _number_many(data, offsets, character_classes(), scratch, ids, id_offsets)


def look_up(data, bounds, words, found):
    longest = int((bounds[:, 1] - bounds[:, 0]).max(initial=0))
    _look_up_many(data, bounds, _table_of(words), _scratch(longest)[:2], found)


def leave_out(data, offsets, words, kept, kept_offsets):
    scratch = _scratch(int(np.diff(offsets).max(initial=0)))[:5]
    _leave_out_many(data, offsets, _table_of(words), character_classes(), scratch, kept, kept_offsets)


def _table_of(words):
    """Words to look up: distinct words by their keys; their bounds in a text; the text."""
    joined = np.frombuffer(b"".join(words) or b"\0", np.uint8)
    ends = np.cumsum([0, *map(len, words)], dtype=np.int64)
    bounds = np.stack([ends[:-1], ends[1:]], axis=1)
    rows = np.zeros((1 << max(4, (2 * len(words)).bit_length()), 4), np.uint64)
    _fill_table(rows, bounds, joined, _scratch(max(map(len, words), default=0))[:2])
    return rows, bounds, joined


@njit(nogil=True, cache=True)
def _number_many(data, offsets, classes, scratch, ids, id_offsets):
    bounds, rows = np.empty((_DISTINCT_AT_FIRST, 2), np.int64), np.zeros((2 * _DISTINCT_AT_FIRST, 4), np.uint64)
    is_bare = _bare_bytes(classes)
    n_distinct, out = np.int64(0), np.int64(0)
    for i in range(len(offsets) - 1):
        n_runs = _runs_between_spaces(data[offsets[i] : offsets[i + 1]], scratch)
        run = np.int64(0)
        while run < n_runs:
            run, out, n_distinct = _number_runs(
                data, offsets[i], scratch, run, n_runs, is_bare, classes, rows, bounds, n_distinct, ids, out
            )
            if n_distinct == len(bounds):
                bounds, rows = _grown(bounds, rows)
        id_offsets[i + 1] = out
    return bounds[:n_distinct].copy()


@njit(nogil=True, cache=True)
def _number_runs(data, at, scratch, run, n_runs, is_bare, classes, rows, bounds, n_distinct, ids, out):
    """Number the parts between spaces, until there is no room for a new word."""
    copy, copy_words, _, _, runs = scratch
    while run < n_runs and n_distinct < len(bounds):
        start, end = np.int64(runs[run]), np.int64(runs[run + 1])
        run += 2
        if not (is_bare[copy[start]] and is_bare[copy[end - 1]]):
            start, end = _bare(copy, start, end, classes)
            if start == end:
                continue
        key = _key(copy_words, start, end)
        place = _place(copy, start, end, key, rows, bounds, data)
        if rows[place, 2] == 0:
            bounds[n_distinct, 0], bounds[n_distinct, 1] = at + start, at + end
            _enter(rows[place], key, end - start, n_distinct)
            n_distinct += 1
        ids[out] = _number(rows[place, 2])
        out += 1
    return run, out, n_distinct


@njit(nogil=True, cache=True)
def _runs_between_spaces(text, scratch):
    copy, _, inside, inside_words, runs = scratch
    for i in range(len(text)):
        copy[i] = text[i]
        inside[i] = np.uint8(1) if text[i] != _SPACE else np.uint8(0)
    for i in range(len(text), min(len(text) + 64, len(inside))):
        copy[i] = 0
        inside[i] = 0
    return _find_bounds(inside_words, len(text), runs)


@njit(nogil=True, cache=True)
def _bare_bytes(classes):
    is_bare = np.zeros(256, np.bool_)
    for byte in range(128):
        is_bare[byte] = (classes[byte] == WORD) | (classes[byte] == ALONE) | (classes[byte] == MARK)
    return is_bare


@njit(nogil=True, cache=True)
def _grown(bounds, rows):
    n = len(bounds)
    more_bounds, more_rows = np.empty((2 * n, 2), np.int64), np.zeros((2 * len(rows), 4), np.uint64)
    for i in range(n):
        copy_into(more_bounds[i], bounds[i])
    for row in rows:
        if row[2] != 0:
            place = _first_place((row[0], row[1]), row[2] >> np.uint64(32), len(more_rows))
            while more_rows[place, 2] != 0:
                place = (place + 1) & (len(more_rows) - 1)
            copy_into(more_rows[place], row)
    return more_bounds, more_rows


@njit(inline="always", cache=True)
def _enter(row, key, length, number):
    row[0], row[1] = key
    row[2] = (np.uint64(length) << np.uint64(32)) | np.uint64(number + 1)


@njit(inline="always", cache=True)
def _number(entry):
    return np.int64(entry & np.uint64(0xFFFFFFFF)) - 1


@njit(inline="always", cache=True)
def _key(text_words, start, end):
    """Return a word of up to sixteen bytes in two halves; for a longer one the second half is the hash of the rest."""
    at, left = np.uint64(start), np.uint64(end - start)
    first = _piece(text_words, at, min(left, _EIGHT))
    at, left = at + _EIGHT, left - min(left, _EIGHT)
    second = _piece(text_words, at, min(left, _EIGHT))
    while left > _EIGHT:
        at, left = at + _EIGHT, left - _EIGHT
        second = _absorb(second, _piece(text_words, at, min(left, _EIGHT)))
    return first, second


@njit(inline="always", cache=True)
def _first_place(key, length, size):
    return np.int64(mix(key[0] + key[1] * GOLDEN + np.uint64(length)) & np.uint64(size - 1))


@njit(inline="always", cache=True)
def _place(text, start, end, key, rows, bounds, words):
    length = end - start
    place = _first_place(key, length, len(rows))
    while rows[place, 2] != 0:
        is_it = rows[place, 0] == key[0] and rows[place, 1] == key[1]
        if is_it and rows[place, 2] >> np.uint64(32) == np.uint64(length):
            if length <= 16:
                break
            first, at = bounds[_number(rows[place, 2]), 0], 16
            while at < length and text[start + at] == words[first + at]:
                at += 1
            if at == length:
                break
        place = (place + 1) & (len(rows) - 1)
    return place


@njit(nogil=True, cache=True)
def _key_of(text, start, end, scratch):
    copy, copy_words = scratch
    for at in range(end - start):
        copy[at] = text[start + at]
    return _key(copy_words, 0, end - start)


@njit(nogil=True, cache=True)
def _fill_table(rows, bounds, words, scratch):
    for i in range(len(bounds)):
        start, end = bounds[i, 0], bounds[i, 1]
        key = _key_of(words, start, end, scratch)
        place = _place(words, start, end, key, rows, bounds, words)
        _enter(rows[place], key, end - start, i)


@njit(nogil=True, cache=True)
def _look_up_many(data, bounds, table, scratch, found):
    rows, other_bounds, others = table
    for i in range(len(bounds)):
        start, end = bounds[i, 0], bounds[i, 1]
        key = _key_of(data, start, end, scratch)
        found[i] = rows[_place(data, start, end, key, rows, other_bounds, others), 2] != 0


@njit(nogil=True, cache=True)
def _leave_out_many(data, offsets, table, classes, scratch, kept, kept_offsets):
    copy, copy_words, _, _, runs = scratch
    rows, bounds, words = table
    out = 0
    for i in range(len(offsets) - 1):
        first_out = out
        n_runs = _runs_between_spaces(data[offsets[i] : offsets[i + 1]], scratch)
        for run in range(0, n_runs, 2):
            start, end = np.int64(runs[run]), np.int64(runs[run + 1])
            first, last = _bare(copy, start, end, classes)
            key = _key(copy_words, first, last)
            if first < last and rows[_place(copy, first, last, key, rows, bounds, words), 2] != 0:
                continue
            if out > first_out:
                kept[out] = _SPACE
                out += 1
            for at in range(start, end):
                kept[out] = copy[at]
                out += 1
        kept_offsets[i + 1] = out


@njit(nogil=True, cache=True)
def _bare(text, start, end, classes):
    while start < end:
        length = 1 if text[start] < 128 else (2 if text[start] < 0xE0 else (3 if text[start] < 0xF0 else 4))
        if _is_part(text, start, length, classes):
            break
        start += length
    while end > start:
        at = end - 1
        while text[at] & 0xC0 == 0x80:
            at -= 1
        if _is_part(text, at, end - at, classes):
            break
        end = at
    return start, end


@njit(inline="always", cache=True)
def _is_part(text, at, length, classes):
    code_point = np.int64(text[at])
    if length > 1:
        code_point &= 0x1F if length == 2 else (0x0F if length == 3 else 0x07)
        for j in range(at + 1, at + length):
            code_point = (code_point << 6) | (np.int64(text[j]) & 0x3F)
    kind = classes[code_point]
    return (kind == WORD) | (kind == ALONE) | (kind == MARK)


@njit(nogil=True, cache=True)
def keep_first(ids, offsets, n_distinct, kept, kept_offsets):
    seen_in = np.full(n_distinct, -1, np.int64)
    out = 0
    for i in range(len(offsets) - 1):
        for at in range(offsets[i], offsets[i + 1]):
            if seen_in[ids[at]] != i:
                seen_in[ids[at]] = i
                kept[out] = ids[at]
                out += 1
        kept_offsets[i + 1] = out


@njit(nogil=True, cache=True)
def keep_frequent(ids, offsets, n_distinct, most, kept, kept_offsets):
    counts, firsts = np.zeros(n_distinct, np.int64), np.empty(min(n_distinct, len(ids)), np.int32)
    out = 0
    for i in range(len(offsets) - 1):
        n = 0
        for at in range(offsets[i], offsets[i + 1]):
            if counts[ids[at]] == 0:
                firsts[n] = ids[at]
                n += 1
            counts[ids[at]] += 1
        order = np.argsort(-counts[firsts[:n]], kind="mergesort")[:most]  # stable: the first in a tie
        for place in order:
            kept[out] = firsts[place]
            out += 1
        for place in range(n):
            counts[firsts[place]] = 0
        kept_offsets[i + 1] = out
