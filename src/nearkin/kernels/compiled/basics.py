"""numba's ``njit``, and the functions that several kernels inline.

Source of `mix`: the finaliser of SplitMix64 (Guy L. Steele Jr., Doug Lea, Christine H. Flood, "Fast splittable
pseudorandom number generators", 2014, with the constants of David Stafford's variant 13): a bijection of 64 bits in
which every input bit moves every output bit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba import types
from numba.core import event
from numba.extending import intrinsic

from nearkin.kernels.choosing import starts_compiling

Function = Callable[..., Any]
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MULTIPLIER_1 = np.uint64(0xBF58476D1CE4E5B9)
_MULTIPLIER_2 = np.uint64(0x94D049BB133111EB)


class _Compilations(event.Listener):  # type: ignore[misc]
    def on_start(self, event: event.Event) -> None:
        starts_compiling()

    def on_end(self, event: event.Event) -> None:
        """Nothing hangs on it."""


event.register("numba:compile", _Compilations())  # not broadcast for what the cache has


def njit(**options: Any) -> Callable[[Function], Any]:
    """Compile a kernel when it is first called.

    A variable that is passed to another kernel starts as ``np.int64(0)``: for one that starts as ``0`` numba compiles
    that kernel twice, first for the literal.
    """

    def decorate(function: Function) -> Any:
        try:
            return numba.njit(**options)(function)
        except RuntimeError:  # "cannot cache function …: no locator available"
            return numba.njit(**{name: value for name, value in options.items() if name != "cache"})(function)

    return decorate


@njit(inline="always", cache=True)
def mix(x):
    """Apply a pseudo-random bijection to a uint64."""
    x = (x ^ (x >> np.uint64(30))) * _MULTIPLIER_1
    x = (x ^ (x >> np.uint64(27))) * _MULTIPLIER_2
    return x ^ (x >> np.uint64(31))


@intrinsic
def n_ones(typing_context, x):
    """Count the ones among the bits of a uint64."""

    def code(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), code


@njit(nogil=True, cache=True)
def copy_into(out, values):
    """Write values to the front of an array, or to a part of it.

    For ``out[:] = values`` numba would compile the message of lengths that differ, for seconds, in each kernel.
    """
    for i in range(len(values)):
        out[i] = values[i]


@njit(inline="always", cache=True)
def decoded(text, at):
    """Return the code point of the valid character that begins here, and where the next one begins."""
    byte = text[at]
    length = 1 if byte < 128 else (2 if byte < 0xE0 else (3 if byte < 0xF0 else 4))
    code_point = np.int64(byte)
    if length > 1:
        code_point &= 0x1F if length == 2 else (0x0F if length == 3 else 0x07)
        for j in range(at + 1, at + length):
            code_point = (code_point << 6) | (np.int64(text[j]) & 0x3F)
    return code_point, at + length
