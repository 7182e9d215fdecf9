"""Copies of arrays within kernels."""

from __future__ import annotations

from nearkin.kernels.compiled.jit import njit


@njit(nogil=True, cache=True)
def copy_into(out, values):
    """Write values to the front of an array, or to a part of it.

    For ``out[:] = values`` numba would compile the message of lengths that differ, for seconds, in each kernel.
    """
    for i in range(len(values)):
        out[i] = values[i]
