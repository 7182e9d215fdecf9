"""Loops of `nearkin.kernels.text`."""

from __future__ import annotations

import numpy as np

from nearkin.kernels.characters import ALONE, NEEDS_LIBRARY, REPLACED, SPACE, WORD
from nearkin.kernels.compiled.basics import decoded, mix, njit
from nearkin.kernels.text import MAX_COUNT, N_BUCKETS, N_LATIN

_BLOCK = 64
_SMALL_BLOCK = 16
_BUCKET_SHIFT = np.uint64(58)
_N_HISTOGRAMS = 4
_COUNTED_AT_ONCE = 1 << 24  # bytes after which the histograms are cleared, so that their 32 bits never overflow


@njit(nogil=True, cache=True)
def check_many(data, offsets, invalid_at, n_characters):
    for i in range(len(offsets) - 1):
        start, end = offsets[i], offsets[i + 1]
        at, n_continuations = start, 0
        is_valid = True
        while at < end and is_valid:
            at = _ascii_end(data, at, end)
            while at < end and data[at] >= 128:
                length = _sequence_length(data, at, end)
                is_valid = length > 0
                if not is_valid:
                    break
                at += length
                n_continuations += length - 1
        invalid_at[i] = -1 if is_valid else at - start
        n_characters[i] = at - start - n_continuations


@njit(nogil=True, cache=True)
def visible_many(data, offsets, n_visible):
    for i in range(len(offsets) - 1):
        first, n = np.uint64(offsets[i]), np.int64(0)
        for j in range(offsets[i + 1] - offsets[i]):
            byte = data[first + np.uint64(j)]
            n += (np.uint8(byte & np.uint8(0xC0)) != 0x80) & (byte != 32)
        n_visible[i] = n


@njit(nogil=True, cache=True)
def _ascii_end(data, start, end):
    """Return the end of the initial ASCII; whole blocks are tested at once."""
    at = start
    while at + _BLOCK <= end:
        seen = np.uint8(0)
        for j in range(at, at + _BLOCK):
            seen |= data[j]
        if seen >= 128:
            break
        at += _BLOCK
    while at < end and data[at] < 128:
        at += 1
    return at


@njit(nogil=True, cache=True)
def _sequence_length(data, at, end):
    """Return the length in bytes of the character beyond ASCII that starts here; 0 if it is invalid."""
    first = data[at]
    if 0xC2 <= first <= 0xDF:
        length, low, high = 2, 0x80, 0xBF
    elif 0xE0 <= first <= 0xEF:
        length = 3
        low = 0xA0 if first == 0xE0 else 0x80  # shortest form only
        high = 0x9F if first == 0xED else 0xBF  # no surrogates
    elif 0xF0 <= first <= 0xF4:
        length = 4
        low = 0x90 if first == 0xF0 else 0x80
        high = 0x8F if first == 0xF4 else 0xBF  # at most U+10FFFF
    else:
        return 0
    if at + length > end or not (low <= data[at + 1] <= high):
        return 0
    for j in range(at + 2, at + length):
        if not (0x80 <= data[j] <= 0xBF):
            return 0
    return length


@njit(nogil=True, cache=True)
def fold_many(data, offsets, tables, to_lower, collapse, folded, folded_offsets, is_left):
    out = np.int64(0)
    for i in range(len(offsets) - 1):
        first = out
        out = _fold_one(data, offsets[i], offsets[i + 1], tables, to_lower, collapse, folded, out)
        if out < 0:
            out = first
            is_left[i] = True
        folded_offsets[i + 1] = out


@njit(nogil=True, cache=True)
def _fold_one(data, start, end, tables, to_lower, collapse, folded, out):
    """Process plain ASCII block by block, the rest character by character; return -1 if a text needs the library."""
    first = out
    after_space = collapse  # drops leading white space
    last_class = np.int64(0)
    at = small_until = start
    while at < end:
        n = min(_BLOCK if at >= small_until else _SMALL_BLOCK, end - at)
        if _fold_block(data, at, n, to_lower, collapse, after_space, folded, out):
            at += n
            out += n
            after_space = collapse and folded[out - 1] == 32
            last_class = 0
            continue
        if n > _SMALL_BLOCK:
            small_until = at + n
            continue
        at, out, after_space, last_class = _fold_characters(
            data, at, at + n, end, tables, to_lower, collapse, folded, out, after_space, last_class
        )
        if out < 0:
            return -1
    if after_space and out > first:
        out -= 1
    return out


@njit(nogil=True, cache=True)
def _fold_block(data, at, n, to_lower, collapse, after_space, folded, out):
    """Return True if the block is ASCII without white space to collapse; otherwise the output is invalid."""
    start, target = np.uint64(at), np.uint64(out)
    n_white = np.uint8(5 if collapse else 0)  # tab to carriage return
    high = np.uint8(0)
    for i in range(n):
        byte = data[start + np.uint64(i)]
        high = np.uint8(high | byte)
        lowered = np.uint8(byte + np.uint8(np.uint8(byte - np.uint8(65)) < 26) * to_lower)
        folded[target + np.uint64(i)] = np.uint8(32) if np.uint8(byte - np.uint8(9)) < n_white else lowered
    least = np.uint8(32 if after_space and data[start] <= 32 else 255)
    for i in range(1, n):
        byte, previous = data[start + np.uint64(i)], data[start + np.uint64(i) - np.uint64(1)]
        larger = byte if byte > previous else previous
        least = larger if larger < least else least
    return high < 128 and (least > 32 or not collapse)


@njit(nogil=True, cache=True)
def _fold_characters(data, at, stop, end, tables, to_lower, collapse, folded, out, after_space, last_class):
    classes, form, replaced, replacement_offsets, replacements = tables
    while at < stop:
        byte = data[at]
        if byte < 128:
            is_space = collapse and classes[byte] == SPACE
            is_upper = np.uint8(np.uint8(byte - np.uint8(65)) < 26)
            folded[out] = np.uint8(32) if is_space else byte + is_upper * to_lower
            out += not (is_space and after_space)
            after_space = is_space
            last_class = 0
            at += 1
            continue
        code_point, after = decoded(data, at)
        becomes = form[code_point]
        if becomes == NEEDS_LIBRARY or (0 < becomes < REPLACED and becomes < last_class):
            return end, -1, after_space, last_class
        if collapse and classes[code_point] == SPACE:
            folded[out] = np.uint8(32)
            out += not after_space
            after_space = True
        elif becomes == REPLACED:
            place = np.searchsorted(replaced, np.uint32(code_point))
            for j in range(replacement_offsets[place], replacement_offsets[place + 1]):
                folded[out] = replacements[j]
                out += 1
                after_space = False
        else:
            for j in range(at, after):
                folded[out] = data[j]
                out += 1
            after_space = False
        last_class = becomes if becomes < REPLACED else 0
        at = after
    return at, out, after_space, last_class


@njit(nogil=True, cache=True)
def count_many(data, offsets, classes, counts, n_counted, n_others):
    histograms = np.zeros((_N_HISTOGRAMS, 256), np.uint32)
    totals = np.zeros(256, np.int64)
    buckets = np.zeros(N_BUCKETS, np.int64)
    for i in range(len(counts)):
        text = data[offsets[i] : offsets[i + 1]]
        _count_bytes(text, histograms, totals)
        for place in range(N_LATIN):
            n = totals[_byte_of(place)]
            counts[i, place] = min(n, MAX_COUNT)
            n_counted[i] += n
        if totals[128:].any():
            buckets[:] = 0
            n = _count_other_letters(text, classes, buckets)
            if counts.shape[1] == N_LATIN:
                n_others[i] = n
            else:
                n_counted[i] += n
                for bucket in range(N_BUCKETS):
                    counts[i, N_LATIN + bucket] = min(buckets[bucket], MAX_COUNT)


@njit(inline="always", cache=True)
def _byte_of(place):
    if place < 26:
        return 65 + place
    return 97 + place - 26 if place < 52 else 48 + place - 52


@njit(nogil=True, cache=True)
def _count_bytes(text, histograms, totals):
    """Count each byte; neighbours go to different histograms, so that a repeated letter need not wait for itself."""
    totals[:] = 0
    for first in range(0, len(text), _COUNTED_AT_ONCE):
        end = min(len(text), first + _COUNTED_AT_ONCE)
        whole = end - (end - first) % _N_HISTOGRAMS
        histograms[:] = 0
        for at in range(first, whole, _N_HISTOGRAMS):
            histograms[0, text[at]] += np.uint32(1)
            histograms[1, text[at + 1]] += np.uint32(1)
            histograms[2, text[at + 2]] += np.uint32(1)
            histograms[3, text[at + 3]] += np.uint32(1)
        for at in range(whole, end):
            histograms[0, text[at]] += np.uint32(1)
        for byte in range(256):
            for k in range(_N_HISTOGRAMS):
                totals[byte] += histograms[k, byte]


@njit(nogil=True, cache=True)
def _count_other_letters(text, classes, buckets):
    n = 0
    at = 0
    while at < len(text):
        byte = text[at]
        if byte < 128:
            at += 1
            continue
        code_point, at = decoded(text, at)
        kind = classes[code_point]
        if kind in (WORD, ALONE):
            buckets[np.int64(mix(np.uint64(code_point)) >> _BUCKET_SHIFT)] += 1
            n += 1
    return n
