"""Loops of `nearkin.kernels.linking`."""

from __future__ import annotations

import numpy as np

from nearkin.kernels.compiled.basics import copy_into, mix, njit
from nearkin.kernels.linking import NO_ROW

_DIGIT_BITS = 11
_N_DIGITS = 1 << _DIGIT_BITS
_N_PASSES = 6  # 6 digits of 11 bits cover 64
_MAX_BY_INSERTION = 64


def sort_by_key(keys, rows):
    """Sort by radix: digits equal in all keys, such as the upper ones of a small partition, cost no move."""
    keys, rows = keys.copy(), rows.copy()
    spare_keys, spare_rows = np.empty_like(keys), np.empty_like(rows)
    counts = np.empty(_N_DIGITS, np.int64)
    for i in range(_N_PASSES):
        if _radix_pass(keys, rows, i * _DIGIT_BITS, counts, spare_keys, spare_rows):
            keys, spare_keys = spare_keys, keys
            rows, spare_rows = spare_rows, rows
    return keys, rows


@njit(nogil=True, cache=True)
def _radix_pass(keys, rows, shift, counts, out_keys, out_rows):
    counts[:] = 0
    mask = np.uint64(_N_DIGITS - 1)
    bits = np.uint64(shift)
    for i in range(len(keys)):
        counts[(keys[i] >> bits) & mask] += 1
    total = 0
    for digit in range(_N_DIGITS):
        if counts[digit] == len(keys):
            return False
        n = counts[digit]
        counts[digit] = total
        total += n
    for i in range(len(keys)):
        digit = (keys[i] >> bits) & mask
        out_keys[counts[digit]] = keys[i]
        out_rows[counts[digit]] = rows[i]
        counts[digit] += 1
    return True


@njit(nogil=True, cache=True)
def link_many(keys, rows, sizes, sides, start, min_size_ratio, max_pivots, max_pairs, pairs):
    n_pairs = np.int64(0)
    n_not_compared = 0
    while start < len(keys):
        end = start + 1
        while end < len(keys) and keys[end] == keys[start]:
            end += 1
        length = end - start
        n_leads = 0
        while n_leads < length and not (sides[rows[start + n_leads]] & 4):
            n_leads += 1
        pivots = min(n_leads, max_pivots, max(1, max_pairs // length))
        n_linked = _n_pairs_with(pivots, length)
        if n_pairs + n_linked > len(pairs):
            break
        n_not_compared += _n_crossing(rows, start + pivots, end, sides) - _n_crossing(rows, start + n_leads, end, sides)
        n_pairs = _link_one(rows, start, end, sizes, sides, min_size_ratio, pivots, pairs, n_pairs)
        start = end
    return n_pairs, start, n_not_compared


@njit(nogil=True, cache=True)
def _n_pairs_with(n_first, length):
    """Count the pairs of a run that contain one of its first rows: n_first=2, length=4 -> 5."""
    return n_first * (n_first - 1) // 2 + (length - n_first) * n_first


@njit(nogil=True, cache=True)
def _n_crossing(rows, start, end, sides):
    length = 0
    n_first = 0
    n_second = 0
    for i in range(start, end):
        side = sides[rows[i]] & 3
        length += side != 0
        n_first += side == 1
        n_second += side == 2
    return (length * (length - 1) - n_first * (n_first - 1) - n_second * (n_second - 1)) // 2


@njit(nogil=True, cache=True)
def _link_one(rows, start, end, sizes, sides, min_size_ratio, pivots, pairs, n_pairs):
    """rows=[3, 1, 8] in one run -> (1, 3), (3, 8), (1, 8)."""
    for i in range(start, start + pivots):
        for j in range(i + 1, end):
            a, b = rows[i], rows[j]
            small, large = min(sizes[a], sizes[b]), max(sizes[a], sizes[b])
            is_crossing = ((sides[a] & 1) and (sides[b] & 2)) or ((sides[a] & 2) and (sides[b] & 1))
            if a != b and is_crossing and small >= min_size_ratio * large:
                pairs[n_pairs] = (np.uint64(min(a, b)) << np.uint64(32)) | np.uint64(max(a, b))
                n_pairs += 1
    return n_pairs


@njit(nogil=True, cache=True)
def prefix_many(hashes, offsets, counts, lengths, shift, elements):
    largest = 0
    for i in range(len(offsets) - 1):
        largest = max(largest, offsets[i + 1] - offsets[i])
    ordered, frequency = np.empty(largest, np.uint64), np.empty(largest, np.uint32)
    out = 0
    for i in range(len(offsets) - 1):
        _order_one(hashes, offsets[i], offsets[i + 1], counts, shift, ordered, frequency)
        for j in range(lengths[i]):
            elements[out] = ordered[j]
            out += 1


@njit(nogil=True, cache=True)
def _order_one(hashes, start, end, counts, shift, ordered, frequency):
    if end - start > _MAX_BY_INSERTION:
        elements = np.sort(hashes[start:end])
        found = counts[elements >> np.uint64(shift)]
        copy_into(ordered, elements[np.argsort(found, kind="mergesort")])  # stable
        return
    for i in range(end - start):
        element = hashes[start + i]
        count = counts[element >> np.uint64(shift)]
        j = i
        while j > 0 and (frequency[j - 1] > count or (frequency[j - 1] == count and ordered[j - 1] > element)):
            ordered[j] = ordered[j - 1]
            frequency[j] = frequency[j - 1]
            j -= 1
        ordered[j] = element
        frequency[j] = count


@njit(nogil=True, cache=True)
def mark_many(hashes, shift, bitmap):
    for i in range(len(hashes)):
        bit = hashes[i] >> np.uint64(shift)
        bitmap[bit >> np.uint64(3)] |= np.uint8(1) << np.uint8(bit & np.uint64(7))


@njit(nogil=True, cache=True)
def find_marked(hashes, shift, bitmap, found):
    for i in range(len(hashes)):
        bit = hashes[i] >> np.uint64(shift)
        found[i] = (bitmap[bit >> np.uint64(3)] >> np.uint8(bit & np.uint64(7))) & 1


@njit(nogil=True, cache=True)
def find_and_add_one(keys, row, heads, previous, most, buffer):
    n_found = 0
    n_cut = 0
    for j in range(keys.shape[1]):
        _add(keys, row, j, heads, previous)
        earlier = previous[row, j]
        n_seen = 0
        while earlier != NO_ROW and n_seen < most:
            buffer[n_found] = earlier
            n_found += 1
            n_seen += 1
            earlier = previous[earlier, j]
        n_cut += earlier != NO_ROW
    return n_found, n_cut


@njit(nogil=True, cache=True)
def add_many(keys, n_rows, heads, previous):
    for row in range(n_rows):
        for j in range(keys.shape[1]):
            _add(keys, row, j, heads, previous)


@njit(nogil=True, cache=True)
def _add(keys, row, j, heads, previous):
    mask = np.uint64(heads.shape[1] - 1)
    place = mix(keys[row, j]) & mask
    while heads[j, place] != NO_ROW and keys[heads[j, place], j] != keys[row, j]:
        place = (place + np.uint64(1)) & mask
    previous[row, j] = heads[j, place]
    heads[j, place] = row


@njit(nogil=True, cache=True)
def assign_principals(left, right, similarity, order, principal):
    starts, neighbours, likeness = _adjacency(left, right, similarity, len(order))
    rank = np.empty(len(order), np.uint32)
    for i in range(len(order)):
        rank[order[i]] = i
    is_principal = np.zeros(len(order), np.bool_)
    _choose_principals(starts, neighbours, order, is_principal)
    _assign_members(starts, neighbours, likeness, rank, is_principal, principal)


@njit(nogil=True, cache=True)
def unite(left, right, parent):
    """Union-find with path halving; the lower root wins, so the result does not depend on the order of the matches."""
    for i in range(len(left)):
        a, b = _root(parent, left[i]), _root(parent, right[i])
        if a != b:
            parent[max(a, b)] = min(a, b)
    for row in range(len(parent)):
        parent[row] = _root(parent, np.uint32(row))


@njit(nogil=True, cache=True)
def _adjacency(left, right, similarity, n_rows):
    """Compressed rows: the neighbours of i are neighbours[starts[i]:starts[i + 1]]."""
    starts = np.zeros(n_rows + 1, np.int64)
    for i in range(len(left)):
        starts[left[i] + 1] += 1
        starts[right[i] + 1] += 1
    for i in range(n_rows):
        starts[i + 1] += starts[i]
    fill = starts[:-1].copy()
    neighbours = np.empty(2 * len(left), np.uint32)
    likeness = np.empty(2 * len(left), np.float64)
    for i in range(len(left)):
        a, b = left[i], right[i]
        neighbours[fill[a]], likeness[fill[a]] = b, similarity[i]
        neighbours[fill[b]], likeness[fill[b]] = a, similarity[i]
        fill[a] += 1
        fill[b] += 1
    return starts, neighbours, likeness


@njit(nogil=True, cache=True)
def _choose_principals(starts, neighbours, order, is_principal):
    for i in range(len(order)):
        row = order[i]
        is_free = True
        for j in range(starts[row], starts[row + 1]):
            if is_principal[neighbours[j]]:
                is_free = False
                break
        is_principal[row] = is_free


@njit(nogil=True, cache=True)
def _assign_members(starts, neighbours, likeness, rank, is_principal, principal):
    for row in range(len(principal)):
        if is_principal[row]:
            continue
        best = -1.0
        for j in range(starts[row], starts[row + 1]):
            other = neighbours[j]
            is_better = likeness[j] > best or (likeness[j] == best and rank[other] < rank[principal[row]])
            if is_principal[other] and is_better:
                best = likeness[j]
                principal[row] = other


@njit(nogil=True, cache=True)
def _root(parent, row):
    while parent[row] != row:
        parent[row] = parent[parent[row]]
        row = parent[row]
    return row
