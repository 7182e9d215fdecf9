"""Number of ones among 64 bits."""

from __future__ import annotations

from numba import types
from numba.extending import intrinsic


@intrinsic
def n_ones(typing_context, x):
    """Count the ones among the bits of a uint64."""

    def code(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), code
