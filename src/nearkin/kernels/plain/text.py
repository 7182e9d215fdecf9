"""The twin of ``compiled.text``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.characters import SPACE, character_classes


def first_invalid_byte(
    data: NDArray[np.uint8], offsets: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """See ``compiled.text.first_invalid_byte``.

    Examples
    --------
    >>> first_invalid_byte(np.frombuffer(b"ok" + b"a\\xff", np.uint8), np.array([0, 2, 4]))[0].tolist()
    [-1, 1]
    """
    invalid_at = np.full(len(offsets) - 1, -1, np.int64)
    is_ascii = np.zeros(len(offsets) - 1, np.bool_)
    for i in range(len(offsets) - 1):
        text = data[offsets[i] : offsets[i + 1]].tobytes()
        is_ascii[i] = text.isascii()
        try:
            text.decode()
        except UnicodeDecodeError as error:
            invalid_at[i] = error.start
    return invalid_at, is_ascii


def fold(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], *, lower: bool, collapse: bool
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """See ``compiled.text.fold``.

    Examples
    --------
    >>> folded, _ = fold(np.frombuffer(b" A  b\\n", np.uint8), np.array([0, 6]), lower=True, collapse=True)
    >>> bytes(folded)
    b'a b'
    """
    texts = [_fold_one(data[a:b].tobytes(), lower, collapse) for a, b in zip(offsets, offsets[1:], strict=False)]
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    return np.frombuffer(b"".join(texts), np.uint8).copy(), np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _fold_one(text: bytes, lower: bool, collapse: bool) -> bytes:
    if lower:
        text = text.lower()  # of bytes: ASCII letters only
    if not collapse:
        return text
    classes = character_classes()
    spaced = "".join(" " if classes[ord(c)] == SPACE else c for c in text.decode())
    return " ".join(word for word in spaced.split(" ") if word).encode()
