"""Loops of `nearkin.kernels.hashing`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.compiled.basics import GOLDEN, mix, njit
from nearkin.kernels.hashing import RATE_BYTES

_LANES = 32


@njit(nogil=True, cache=True)
def hash_many(data, offsets, hashes):
    for i in range(len(offsets) - 1):
        hashes[i] = _hash_one(data, offsets[i], offsets[i + 1])


@njit(nogil=True, cache=True)
def _hash_one(data, start, end):
    value = mix(np.uint64(end - start) + GOLDEN)
    for at in range(start, end):
        value = (value ^ np.uint64(data[at])) * GOLDEN
    return mix(value)


def _rotations() -> NDArray[np.uint64]:
    """Return the rotation by rho of each lane [x, y], at x + 5 * y."""
    rotations = np.zeros(25, np.uint64)
    x, y = 1, 0
    for t in range(24):
        rotations[x + 5 * y] = (t + 1) * (t + 2) // 2 % 64
        x, y = y, (2 * x + 3 * y) % 5
    return rotations


def _round_constants() -> NDArray[np.uint64]:
    """Return the constants that iota adds in each round: bits of a shift register."""
    constants = []
    register = 1
    for _ in range(24):
        constant = 0
        for j in range(7):
            constant |= (register & 1) << ((1 << j) - 1)
            register <<= 1
            register ^= 0x171 * (register >> 8)
        constants.append(constant)
    return np.array(constants, np.uint64)


_TURNS = _rotations()
_CONSTANTS = _round_constants()


@njit(nogil=True, cache=True)
def shake_many(data, starts, ends, digests):
    n_bytes = digests.shape[1]
    state, moved = np.empty((25, _LANES), np.uint64), np.empty((25, _LANES), np.uint64)
    parity = np.empty((10, _LANES), np.uint64)
    for first in range(0, len(starts), _LANES):
        n = min(_LANES, len(starts) - first)
        state[:] = 0
        for lane in range(n):
            length = ends[first + lane] - starts[first + lane]
            for j in range(length):
                _add_byte(state, lane, j, np.uint64(data[starts[first + lane] + j]))
            _add_byte(state, lane, length, np.uint64(0x1F))
            _add_byte(state, lane, RATE_BYTES - 1, np.uint64(0x80))
        _permute(state, moved, parity)
        for lane in range(n):
            for j in range(n_bytes):
                digests[first + lane, j] = (state[j >> 3, lane] >> np.uint64(8 * (j & 7))) & np.uint64(0xFF)


@njit(inline="always", cache=True)
def _add_byte(state, lane, j, byte):
    state[j >> 3, lane] ^= byte << np.uint64(8 * (j & 7))


@njit(nogil=True, cache=True)
def _permute(state, moved, parity):
    """Apply Keccak-f[1600]; the innermost loops run over the messages, so that they become vector instructions."""
    for round_ in range(24):
        for x in range(5):
            for i in range(_LANES):
                parity[x, i] = state[x, i] ^ state[x + 5, i] ^ state[x + 10, i] ^ state[x + 15, i] ^ state[x + 20, i]
        for x in range(5):
            left, right = (x + 4) % 5, (x + 1) % 5
            for i in range(_LANES):
                turned = (parity[right, i] << np.uint64(1)) | (parity[right, i] >> np.uint64(63))
                parity[5 + x, i] = parity[left, i] ^ turned
        for x in range(5):
            for y in range(5):
                turn = _TURNS[x + 5 * y]
                back = (np.uint64(64) - turn) & np.uint64(63)
                to = y + 5 * ((2 * x + 3 * y) % 5)
                for i in range(_LANES):
                    value = state[x + 5 * y, i] ^ parity[5 + x, i]
                    moved[to, i] = (value << turn) | (value >> back)
        for y in range(0, 25, 5):
            for x in range(5):
                one, two = y + (x + 1) % 5, y + (x + 2) % 5
                for i in range(_LANES):
                    state[y + x, i] = moved[y + x, i] ^ (~moved[one, i] & moved[two, i])
        for i in range(_LANES):
            state[0, i] ^= _CONSTANTS[round_]
