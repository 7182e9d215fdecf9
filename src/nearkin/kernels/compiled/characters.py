"""Characters of a text in UTF-8."""

from __future__ import annotations

import numpy as np

from nearkin.kernels.compiled.jit import njit


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
