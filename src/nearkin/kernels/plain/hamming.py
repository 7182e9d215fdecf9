"""The plain twins of the loops of `nearkin.kernels.hamming`."""

from __future__ import annotations

from itertools import groupby

import numpy as np

from nearkin.kernels.hamming import CHUNK, LANES, NONE
from nearkin.kernels.plain.hashing import mix

_ROW = 0xFFFFFFFF


def number_classes(words, has_features, class_of_row):
    numbers = {}
    for row in np.flatnonzero(has_features):
        class_of_row[row] = numbers.setdefault(tuple(words[row].tolist()), len(numbers))
    return len(numbers)


def fill_members(class_of_row, offsets, members):
    members[:] = np.argsort(class_of_row, kind="stable")[np.count_nonzero(class_of_row == NONE) :]


def expand_many(
    class_of_row, members, offsets, neighbours, neighbour_distances, neighbour_offsets, start, pairs, distances
):
    n_pairs = 0
    for row in range(start, len(class_of_row)):
        own = class_of_row[row]
        if own == NONE:
            continue
        near = range(neighbour_offsets[own], neighbour_offsets[own + 1])
        rights = [members[offsets[c] : offsets[c + 1]].tolist() for c in neighbours[near.start : near.stop]]
        if n_pairs + sum(map(len, rights)) > len(pairs):
            return n_pairs, row
        for k, right_rows in zip(near, rights, strict=True):
            for right in right_rows:
                if right > row:
                    pairs[n_pairs], distances[n_pairs] = (row << 32) | right, neighbour_distances[k]
                    n_pairs += 1
    return n_pairs, len(class_of_row)


def sort_by_block(words, mask, key_bits):
    entries = []
    for row, string in enumerate((words & mask).tolist()):
        key = 0
        for word in string:
            key = mix(key ^ word)
        entries.append(key >> (64 - key_bits) << 32 | row)
    return np.array(sorted(entries), np.uint64)


def link_many(entries, leads, words, blocks, is_key, most, n_queries, start, start_in_run, pairs, distances):
    n_pairs = 0
    rows = [int(entry) & _ROW for entry in entries]
    strings = [_as_int(words[row]) for row in rows]
    masks = [_as_int(mask) for mask in blocks]
    for _, run in groupby(range(start, len(entries)), key=lambda i: int(entries[i]) >> 32):
        places = list(run)
        rights = [i for i in places if rows[i] >= n_queries]
        lefts = [i for i in places if rights and (not n_queries or rows[i] < n_queries)]
        for i in lefts:
            first = max(start_in_run if i == start else 0, i + 1, rights[0])
            for chunk in range(first, places[-1] + 1, CHUNK):
                stop = min(chunk + CHUNK, places[-1] + 1)
                if n_pairs + stop - chunk > len(pairs):
                    return n_pairs, i, chunk
                for j in range(chunk, stop):
                    differing = strings[i] ^ strings[j]
                    if differing.bit_count() <= most and _is_first_table(differing, masks, is_key.tolist()):
                        left, right = sorted((rows[i], rows[j]))
                        pairs[n_pairs], distances[n_pairs] = (left << 32) | right, differing.bit_count()
                        n_pairs += 1
    return n_pairs, len(entries), 0


def _as_int(words):
    return sum(word << (64 * w) for w, word in enumerate(words.tolist()))


def _is_first_table(differing, masks, is_key):
    agree = [block for block, mask in enumerate(masks) if not differing & mask]
    return agree[: sum(is_key)] == [block for block, of_key in enumerate(is_key) if of_key]


def move_many(words, lookup, moved):
    for byte in range(len(lookup)):
        value = words[:, byte // 8] >> np.uint64(8 * (byte % 8)) & np.uint64(255)
        moved |= lookup[byte, value]


def scan_many(
    tiles,
    queries,
    first,
    last,
    first_row,
    end_row,
    is_one_set,
    n_lead_words,
    most,
    start,
    start_row,
    pairs,
    distances,
):
    n_pairs, n_lanes = 0, tiles.shape[2]
    for tile in range(start, len(tiles)):
        row = first_row + tile * n_lanes
        end = min(last, row + n_lanes - 1) if is_one_set else last
        for i in range(start_row if tile == start else first, end):
            if n_pairs + n_lanes > len(pairs):
                return n_pairs, tile, i
            ones = np.bitwise_count(tiles[tile] ^ queries[i][:, None]).sum(axis=0, dtype=np.uint64)
            for lane in np.flatnonzero(ones <= most).tolist():
                right = row + lane
                if right < end_row and (right > i or not is_one_set):
                    pairs[n_pairs], distances[n_pairs] = (i << 32) | right, ones[lane]
                    n_pairs += 1
    return n_pairs, len(tiles), first


def tile_many(words, rows, tiles):
    n_tiles, n_words, _ = tiles.shape
    filled = np.zeros((n_tiles * LANES, n_words), np.uint64)
    filled[: len(rows), : words.shape[1]] = words[rows]
    tiles[:] = filled.reshape(n_tiles, LANES, n_words).transpose(0, 2, 1)


def near_many(left, tiles, starts, ends, most, i, tile, _, pairs, distances):
    n_pairs = 0
    while i < len(left):
        while tile * LANES < ends[i]:
            if n_pairs + LANES > len(pairs):
                return n_pairs, i, tile, 0
            differs = np.bitwise_count(tiles[tile] ^ left[i][:, None]).sum(axis=0)
            places = tile * LANES + np.arange(LANES)
            near = (differs <= most) & (places >= starts[i]) & (places < ends[i])
            block = slice(n_pairs, n_pairs + int(near.sum()))
            pairs[block] = (np.uint64(i) << np.uint64(32)) | places[near].astype(np.uint64)
            distances[block] = differs[near]
            n_pairs, tile = block.stop, tile + 1
        i, tile = i + 1, 0
    return n_pairs, i, 0, 0
