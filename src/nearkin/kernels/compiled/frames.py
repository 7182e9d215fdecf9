"""Loops of `nearkin.kernels.frames`."""

from __future__ import annotations

from functools import cache

import numpy as np

from nearkin.kernels.characters import ALONE, FORMAT, MARK, SEPARATOR, WORD, classes_with_currencies
from nearkin.kernels.compiled.basics import GOLDEN, decoded, mix, njit
from nearkin.kernels.compiled.shingles import (
    _BLOCK,
    _MAX_AT_FIRST,
    _absorb,
    _find_bounds,
    _hash_run,
    _mark_runs,
    _piece,
    _scratch,
    _table_size,
    _word_shingles_one,
)
from nearkin.kernels.plain.shingles import word_hash

_ONES = np.uint64(0x0101010101010101)
_MAYBE_BITS = 15
_WORDS_BEFORE = 4
"""The question that a tick answers."""


@cache
def _tables(also_numbers, ticks):
    begins = np.array([int.from_bytes(word[:8], "little") for word in also_numbers + ticks], np.uint64)
    maybe = np.zeros(1 << _MAYBE_BITS, np.bool_)
    maybe[begins * GOLDEN >> np.uint64(64 - _MAYBE_BITS)] = True
    lists = (also_numbers + ticks, ticks)
    units, of_ticks = (np.array(sorted(word_hash(word.decode()) for word in words), np.uint64) for words in lists)
    return units, np.isin(units, of_ticks), maybe


def frame_many(data, offsets, also_numbers, ticks, frame, numbers, hashes, number_offsets):
    longest = int(np.diff(offsets).max(initial=0))
    work = *_tables(also_numbers, ticks), _scratch(2 * longest), np.empty(2 * longest + 1, np.uint8)
    _frame_many(data, offsets, classes_with_currencies(), *work, frame, numbers, hashes, number_offsets)


@njit(nogil=True, cache=True)
def _frame_many(
    data, offsets, classes, also_numbers, are_ticks, maybe, scratch, bare, frame, numbers, hashes, number_offsets
):
    copy, copy_words, inside, inside_words, bounds, _, found = scratch
    block, one = np.empty(_BLOCK, np.uint64), np.int64(1)
    distinct = np.empty(_table_size(np.int64(_MAX_AT_FIRST)), np.uint64)
    shift, eight = np.uint64(64 - _MAYBE_BITS), np.uint64(8)
    out = np.int64(0)
    for i in range(len(offsets) - 1):
        text = data[offsets[i] : offsets[i + 1]]
        has_mixed_runs = _mark_runs(text, copy, inside)
        n_bounds = _find_bounds(inside_words, len(text), bounds)
        if has_mixed_runs:
            text = bare[: _words_alone(text, bounds, n_bounds, classes, bare)]
            _mark_runs(text, copy, inside)
            n_bounds = _find_bounds(inside_words, len(text), bounds)
        n, words, figures = np.int64(0), np.uint64(0), np.uint64(0)
        for k in range(0, n_bounds, 2):
            start, end = bounds[k], bounds[k + 1]
            first = _piece(copy_words, start, end - start)
            longer, digits, at = _absorb(words + (end - start), first), _digits_of(first), start + eight
            while at < end:
                piece = _piece(copy_words, at, end - at)
                longer = _absorb(longer, piece)
                digits |= _digits_of(piece)
                at += eight
            if digits == 0 and not maybe[(first * GOLDEN) >> shift]:
                words = longer
                continue
            unit, _ = _hash_run(copy_words, start, end)
            place = np.searchsorted(also_numbers, unit)
            if digits == 0 and (place == len(also_numbers) or also_numbers[place] != unit):
                words = longer
                continue
            if digits == 0 and are_ticks[place]:
                figures = _absorb(figures, words)
                for before in range(max(k - 2 * _WORDS_BEFORE, 0), k, 2):
                    unit = _absorb(unit, _hash_run(copy_words, bounds[before], bounds[before + 1])[0])
            found[n] = unit
            n += 1
            figures = _absorb(figures, unit)
        frame[i], numbers[i] = mix(words), mix(figures)
        _tell_apart(found[:n])
        distinct, out = _word_shingles_one(found, n, one, block, distinct, hashes, out)
        number_offsets[i + 1] = out


@njit(nogil=True, cache=True)
def _tell_apart(figures):
    """Sort, and make the second and later occurrences of a number other numbers."""
    figures.sort()
    number, n_before = np.uint64(0), np.uint64(0)
    for j in range(len(figures)):
        n_before = n_before + np.uint64(1) if j > 0 and figures[j] == number else np.uint64(0)
        number = figures[j]
        figures[j] += n_before * GOLDEN


@njit(inline="always", cache=True)
def _digits_of(piece):
    """Mark the digits among eight bytes of words: only these have bit 4 without the bits 6 and 7."""
    return (piece >> np.uint64(4)) & ~(piece >> np.uint64(6)) & ~(piece >> np.uint64(7)) & _ONES


@njit(nogil=True, cache=True)
def _words_alone(text, bounds, n_bounds, classes, bare):
    out = np.int64(0)
    for k in range(0, n_bounds, 2):
        at, end = np.int64(bounds[k]), np.int64(bounds[k + 1])
        all_bits = np.uint8(0)
        for j in range(at, end):
            bare[out + j - at] = text[j]
            all_bits |= text[j]
        if all_bits < 128:
            out += end - at + 1
            bare[out - 1] = 32
            continue
        open_kind = np.int64(SEPARATOR)
        while at < end:
            code_point, after = decoded(text, at)
            kind = np.int64(WORD) if code_point < 128 else np.int64(classes[code_point])  # no other ASCII is in a run
            is_part = (kind == WORD and open_kind == WORD) or (kind == MARK and open_kind != SEPARATOR)
            if kind != FORMAT and not is_part and open_kind != SEPARATOR:
                bare[out] = 32
                out += 1
                open_kind = np.int64(SEPARATOR)
            if is_part or kind in (WORD, ALONE):
                open_kind = open_kind if is_part else kind
                for j in range(at, after):
                    bare[out] = text[j]
                    out += 1
            at = after
        bare[out] = 32
        out += 1
    return out
