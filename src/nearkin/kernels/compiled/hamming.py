"""Loops of `nearkin.kernels.hamming`."""

from __future__ import annotations

import numpy as np

from nearkin.kernels.compiled.basics import mix, n_ones, njit
from nearkin.kernels.hamming import CHUNK, LANES, NONE, UNIT

_FEW = 12  # up to this number are compared one by one
_DIGIT_BITS = 11
_FEW_LANES = 16
_BLOCK = 64


@njit(nogil=True, cache=True)
def number_classes(words, has_features, class_of_row):
    n_classes, size = 0, 16
    while size < 2 * len(words):
        size *= 2
    mask = np.uint64(size - 1)
    table, firsts = np.full(size, NONE, np.int32), np.empty(len(words), np.int64)
    for row in range(len(words)):
        if not has_features[row]:
            continue
        place = _hash_one(words, row) & mask
        while table[place] != NONE and not _is_equal(words, firsts[table[place]], row):
            place = (place + np.uint64(1)) & mask
        if table[place] == NONE:
            table[place] = n_classes
            firsts[n_classes] = row
            n_classes += 1
        class_of_row[row] = table[place]
    return n_classes


@njit(nogil=True, cache=True)
def fill_members(class_of_row, offsets, members):
    places = offsets[:-1].copy()
    for row in range(len(class_of_row)):
        if class_of_row[row] != NONE:
            members[places[class_of_row[row]]] = row
            places[class_of_row[row]] += 1


@njit(inline="always", cache=True)
def _hash_one(words, row):
    key = np.uint64(0)
    for w in range(words.shape[1]):
        key = mix(key ^ words[row, w])
    return key


@njit(inline="always", cache=True)
def _is_equal(words, a, b):
    differing = np.uint64(0)
    for w in range(words.shape[1]):
        differing |= words[a, w] ^ words[b, w]
    return differing == np.uint64(0)


@njit(nogil=True, cache=True)
def expand_many(
    class_of_row, members, offsets, neighbours, neighbour_distances, neighbour_offsets, row, pairs, distances
):
    n_pairs = 0
    while row < len(class_of_row):
        own = class_of_row[row]
        if own != NONE:
            n_more = 0
            for k in range(neighbour_offsets[own], neighbour_offsets[own + 1]):
                n_more += offsets[neighbours[k] + 1] - offsets[neighbours[k]]
            if n_pairs + n_more > len(pairs):
                break
            for k in range(neighbour_offsets[own], neighbour_offsets[own + 1]):
                other = neighbours[k]
                begin = _first_above(members, offsets[other], offsets[other + 1], row)
                for m in range(begin, offsets[other + 1]):
                    pairs[n_pairs] = (np.uint64(row) << np.uint64(32)) | np.uint64(members[m])
                    distances[n_pairs] = neighbour_distances[k]
                    n_pairs += 1
        row += 1
    return n_pairs, row


@njit(inline="always", cache=True)
def _first_above(members, low, high, row):
    while low < high:
        middle = (low + high) // 2
        if members[middle] > row:
            high = middle
        else:
            low = middle + 1
    return low


@njit(nogil=True, cache=True)
def sort_by_block(words, mask, key_bits):
    n_passes = -(-key_bits // _DIGIT_BITS)
    digit_bits = -(-key_bits // n_passes)
    counts = np.zeros((n_passes, 1 << digit_bits), np.int64)
    entries, spare = np.empty(len(words), np.uint64), np.empty(len(words), np.uint64)
    _keys_many(words, mask, key_bits, digit_bits, counts, entries)
    for i in range(n_passes):
        _radix_pass(entries, 32 + i * digit_bits, counts[i], spare)
        entries, spare = spare, entries
    return entries


@njit(nogil=True, cache=True)
def link_many(entries, leads, words, blocks, is_key, most, n_queries, i, j, pairs, distances):
    n_pairs = np.int64(0)
    while i < len(entries):
        last_left, first_right, end = _run_from(entries, i, n_queries)
        if first_right == end:
            i = end
            continue
        while i < last_left:
            j = max(j, i + 1, first_right)
            while j < end:
                stop = min(j + CHUNK, end)
                if n_pairs + stop - j > len(pairs):
                    return n_pairs, i, j
                if stop - j < _FEW or _any_close(leads, i, j, stop, most):
                    n_pairs = _link_one(
                        entries, leads, words, blocks, is_key, most, i, j, stop, pairs, distances, n_pairs
                    )
                j = stop
            i += 1
            j = 0
        i = end
    return n_pairs, i, 0


@njit(inline="always", cache=True)
def _key_one(words, row, mask):
    key = np.uint64(0)
    for w in range(words.shape[1]):
        key = mix(key ^ (words[row, w] & mask[w]))
    return key


@njit(nogil=True, cache=True)
def _keys_many(words, mask, key_bits, digit_bits, counts, entries):
    """Return the unsorted entries, and the frequency of each digit of their keys."""
    digit_mask = np.uint64((1 << digit_bits) - 1)
    for row in range(len(words)):
        key = _key_one(words, row, mask) >> np.uint64(64 - key_bits)
        entries[row] = (key << np.uint64(32)) | np.uint64(row)
        for i in range(len(counts)):
            counts[i, (key >> np.uint64(i * digit_bits)) & digit_mask] += 1


@njit(nogil=True, cache=True)
def _radix_pass(entries, shift, counts, out):
    total = 0
    for digit in range(len(counts)):
        n = counts[digit]
        counts[digit] = total
        total += n
    mask = np.uint64(len(counts) - 1)
    for i in range(len(entries)):
        digit = (entries[i] >> np.uint64(shift)) & mask
        out[counts[digit]] = entries[i]
        counts[digit] += 1


@njit(inline="always", cache=True)
def _run_from(entries, i, n_queries):
    """Return the end of the run with this key; left rows are below the first number, right rows from the second on."""
    key = entries[i] >> np.uint64(32)
    end, middle = i, i
    while end < len(entries) and entries[end] >> np.uint64(32) == key:
        middle += (entries[end] & np.uint64(0xFFFFFFFF)) < np.uint64(n_queries)
        end += 1
    if n_queries == 0:
        return end, min(i + 1, end), end
    return middle, middle, end


@njit(inline="always", cache=True)
def _any_close(leads, i, j, stop, most):
    """Count without an early exit from the loop, so that it runs on several words at once."""
    n_close = 0
    for k in range(j, stop):
        n_close += n_ones(leads[k] ^ leads[i]) <= most
    return n_close > 0


@njit(nogil=True, cache=True)
def _link_one(entries, leads, words, blocks, is_key, most, i, j, stop, pairs, distances, n_pairs):
    row_mask = np.uint64(0xFFFFFFFF)
    for k in range(j, stop):
        lead = leads[k] ^ leads[i]  # the lead of a one-word string is the string: nothing else is loaded then
        if n_ones(lead) > most:
            continue
        a, b = entries[i] & row_mask, entries[k] & row_mask
        distance = n_ones(lead) + _distance_of_rest(words, a, b)
        if distance <= most and _is_first_table(lead, words, a, b, blocks, is_key):
            pairs[n_pairs] = (min(a, b) << np.uint64(32)) | max(a, b)
            distances[n_pairs] = distance
            n_pairs += 1
    return n_pairs


@njit(inline="always", cache=True)
def _distance_of_rest(words, a, b):
    distance = np.uint64(0)
    for w in range(1, words.shape[1]):
        distance += n_ones(words[a, w] ^ words[b, w])
    return distance


@njit(inline="always", cache=True)
def _is_first_table(lead, words, a, b, blocks, is_key):
    last = len(blocks) - 1
    while not is_key[last]:
        last -= 1
    for block in range(last + 1):
        differing = lead & blocks[block, 0]
        for w in range(1, words.shape[1]):
            differing |= (words[a, w] ^ words[b, w]) & blocks[block, w]
        if (differing == np.uint64(0)) != is_key[block]:
            return False
    return True


@njit(nogil=True, cache=True)
def move_many(words, lookup, moved):
    for row in range(len(words)):
        for w in range(words.shape[1]):
            word = words[row, w]
            for byte in range(8):
                value = (word >> np.uint64(8 * byte)) & np.uint64(255)
                for out in range(words.shape[1]):
                    moved[row, out] |= lookup[8 * w + byte, value, out]


@njit(nogil=True, cache=True)
def scan_many(
    tiles, queries, first, last, first_row, end_row, is_one_set, n_lead_words, most, tile, i, pairs, distances
):
    n_pairs, n_lanes = np.int64(0), tiles.shape[2]
    partial = np.empty(n_lanes, np.uint64)
    while tile < len(tiles):
        row = first_row + tile * n_lanes
        # in one set, a string is compared only with later ones
        end = min(last, row + n_lanes - 1) if is_one_set else last
        was_close = False
        while i < end:
            if n_pairs + n_lanes > len(pairs):
                return n_pairs, tile, i
            # if the previous string passed the first words, this one will too: skip their test
            if was_close or _any_lead_close(tiles, tile, queries, i, n_lead_words, most):
                begin = max(0, i + 1 - row) if is_one_set else 0
                stop = min(n_lanes, end_row - row)
                n_pairs, was_close = _scan_one(
                    tiles, tile, queries, i, row, begin, stop, most, partial, pairs, distances, n_pairs
                )
            i += 1
        tile += 1
        i = first
    return n_pairs, tile, first


@njit(inline="always", cache=True)
def _any_lead_close(tiles, tile, queries, i, n_lead_words, most):
    """Whether any lane is close in the first words; without an early exit, so that many lanes run at once."""
    n_close, n_lanes = 0, tiles.shape[2]
    if n_lead_words == 1:
        a = queries[i, 0]
        for lane in range(n_lanes):
            n_close += n_ones(tiles[tile, 0, lane] ^ a) <= most
    elif n_lead_words == 2:
        a, b = queries[i, 0], queries[i, 1]
        for lane in range(n_lanes):
            n_close += n_ones(tiles[tile, 0, lane] ^ a) + n_ones(tiles[tile, 1, lane] ^ b) <= most
    else:
        for lane in range(n_lanes):
            n_close += _ones_of_four(tiles, tile, lane, queries, i, 0) <= most
    return n_close > 0


@njit(inline="always", cache=True)
def _ones_of_four(tiles, tile, lane, queries, i, w):
    ones = n_ones(tiles[tile, w, lane] ^ queries[i, w])
    ones += n_ones(tiles[tile, w + 1, lane] ^ queries[i, w + 1])
    ones += n_ones(tiles[tile, w + 2, lane] ^ queries[i, w + 2])
    return ones + n_ones(tiles[tile, w + 3, lane] ^ queries[i, w + 3])


@njit(nogil=True, cache=True)
def _scan_one(tiles, tile, queries, i, row, begin, stop, most, partial, pairs, distances, n_pairs):
    """Add up word by word while many lanes are close, then lane by lane."""
    n_words = tiles.shape[1]
    partial[:] = np.uint64(0)
    n_close, w = _add_words(tiles, tile, queries, i, 0, most, partial)
    was_close = n_close > 0
    while w < n_words and n_close > _FEW_LANES:
        n_close, w = _add_words(tiles, tile, queries, i, w, most, partial)
    if n_close == 0:
        return n_pairs, was_close
    for lane in range(begin, stop):
        distance = partial[lane]
        later = w
        while distance <= most and later < n_words:
            distance += n_ones(tiles[tile, later, lane] ^ queries[i, later])
            later += 1
        if distance <= most:
            pairs[n_pairs] = (np.uint64(i) << np.uint64(32)) | np.uint64(row + lane)
            distances[n_pairs] = distance
            n_pairs += 1
    return n_pairs, was_close


@njit(inline="always", cache=True)
def _add_words(tiles, tile, queries, i, w, most, partial):
    n_close, n_lanes = 0, tiles.shape[2]
    if w + 4 <= tiles.shape[1]:
        for lane in range(n_lanes):
            partial[lane] += _ones_of_four(tiles, tile, lane, queries, i, w)
            n_close += partial[lane] <= most
        return n_close, w + 4
    for lane in range(n_lanes):
        partial[lane] += n_ones(tiles[tile, w, lane] ^ queries[i, w])
        n_close += partial[lane] <= most
    return n_close, w + 1


@njit(nogil=True, cache=True)
def tile_many(words, rows, tiles):
    n_words = words.shape[1]
    for tile in range(len(tiles)):
        first = tile * LANES
        n = min(LANES, len(rows) - first)
        own = tiles[tile]
        if n < LANES or n_words < own.shape[0]:
            own[:] = np.uint64(0)
        for lane in range(n):
            row = rows[first + lane]
            for w in range(n_words):
                own[w, lane] = words[row, w]


@njit(nogil=True, cache=True)
def near_many(left, tiles, starts, ends, most, block, tile, i, pairs, distances):
    """Compare tiles with blocks of strings, two at a time, so that a tile stays in the nearest cache."""
    one, two = np.empty(LANES, np.uint64), np.empty(LANES, np.uint64)
    n_pairs, n_left = 0, len(left)
    while block < n_left:
        stop = min(block + _BLOCK, n_left)
        low, high = _span(starts, ends, block, stop)
        tile, i = max(tile, low // LANES), max(i, block)
        while tile * LANES < high:
            first = tile * LANES
            while i < stop:
                if n_pairs + 2 * LANES > len(pairs):
                    return n_pairs, block, tile, i
                j = i + 1 if i + 1 < stop else i
                if _meets(starts, ends, i, first) or _meets(starts, ends, j, first):
                    n_close = _count_two(left[i], left[j], tiles[tile], most, one, two)
                    if n_close > 0:
                        n_pairs = _keep(i, first, starts, ends, most, one, pairs, distances, n_pairs)
                        if j > i:
                            n_pairs = _keep(j, first, starts, ends, most, two, pairs, distances, n_pairs)
                i += 2
            tile, i = tile + 1, block
        block, tile, i = block + _BLOCK, 0, 0
    return n_pairs, block, 0, 0


@njit(inline="always", cache=True)
def _span(starts, ends, block, stop):
    low, high = starts[block], ends[block]
    for i in range(block + 1, stop):
        low, high = min(low, starts[i]), max(high, ends[i])
    return low, high


@njit(inline="always", cache=True)
def _meets(starts, ends, i, first):
    return starts[i] < first + LANES and ends[i] > first and starts[i] < ends[i]


@njit(nogil=True, cache=True)
def _count_two(p, q, tile, most, one, two):
    for lane in range(LANES):
        one[lane], two[lane] = np.uint64(0), np.uint64(0)
    for w in range(0, len(p), UNIT):
        _add_words_to_two(p, q, tile, w, one, two)
    n_close = 0
    for lane in range(LANES):
        n_close += (one[lane] <= most) + (two[lane] <= most)
    return n_close


@njit(inline="always", cache=True)
def _add_words_to_two(p, q, tile, w, one, two):
    """Add four words at once: each is loaded once for both strings, and the sums once for four."""
    words_0, words_1, words_2, words_3 = tile[w], tile[w + 1], tile[w + 2], tile[w + 3]
    p0, p1, p2, p3 = p[w], p[w + 1], p[w + 2], p[w + 3]
    q0, q1, q2, q3 = q[w], q[w + 1], q[w + 2], q[w + 3]
    for lane in range(LANES):
        x0, x1, x2, x3 = words_0[lane], words_1[lane], words_2[lane], words_3[lane]
        one[lane] += n_ones(x0 ^ p0) + n_ones(x1 ^ p1) + n_ones(x2 ^ p2) + n_ones(x3 ^ p3)
        two[lane] += n_ones(x0 ^ q0) + n_ones(x1 ^ q1) + n_ones(x2 ^ q2) + n_ones(x3 ^ q3)


@njit(inline="always", cache=True)
def _keep(i, first, starts, ends, most, differs, pairs, distances, n_pairs):
    for lane in range(max(0, starts[i] - first), min(LANES, ends[i] - first)):
        if differs[lane] <= most:
            pairs[n_pairs] = (np.uint64(i) << np.uint64(32)) | np.uint64(first + lane)
            distances[n_pairs] = differs[lane]
            n_pairs += 1
    return n_pairs
