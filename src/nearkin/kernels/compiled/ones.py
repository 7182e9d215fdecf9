"""How many ones there are among 64 bits.

The machine has an instruction for it, and newer ones do eight words at once: LLVM knows when this is so.
"""

from __future__ import annotations

from numba import types
from numba.extending import intrinsic


@intrinsic
def n_ones(typing_context, x):
    """The ones among the bits of a uint64."""

    def code(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), code
