"""The hash finaliser that all kernels use.

Source: the finaliser of SplitMix64 (Guy L. Steele Jr., Doug Lea, Christine H. Flood, "Fast splittable pseudorandom
number generators", 2014, with the constants of David Stafford's variant 13): a bijection of 64 bits in which every
input bit moves every output bit.
"""

from __future__ import annotations

import numpy as np

from nearkin.kernels.compiled.jit import njit

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MULTIPLIER_1 = np.uint64(0xBF58476D1CE4E5B9)
_MULTIPLIER_2 = np.uint64(0x94D049BB133111EB)


@njit(inline="always", cache=True)
def mix(x):
    """Apply a pseudo-random bijection to a uint64."""
    x = (x ^ (x >> np.uint64(30))) * _MULTIPLIER_1
    x = (x ^ (x >> np.uint64(27))) * _MULTIPLIER_2
    return x ^ (x >> np.uint64(31))
