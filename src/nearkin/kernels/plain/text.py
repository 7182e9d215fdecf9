"""The twin of ``compiled.text``."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.characters import INERT, NEEDS_LIBRARY, REPLACED, SPACE, character_classes, character_forms


def first_invalid_byte(
    data: NDArray[np.uint8], offsets: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    r"""See ``compiled.text.first_invalid_byte``.

    Examples
    --------
    >>> first_invalid_byte(np.frombuffer(b"ok" + b"a\xff", np.uint8), np.array([0, 2, 4]))[0].tolist()
    [-1, 1]
    """
    invalid_at = np.full(len(offsets) - 1, -1, np.int64)
    n_characters = np.zeros(len(offsets) - 1, np.int64)
    for i in range(len(offsets) - 1):
        text = data[offsets[i] : offsets[i + 1]].tobytes()
        try:
            text.decode()
        except UnicodeDecodeError as error:
            invalid_at[i] = error.start
        n_characters[i] = len(text[: invalid_at[i]].decode()) if invalid_at[i] >= 0 else len(text.decode())
    return invalid_at, n_characters


def fold(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], *, nfkc: bool, lower: bool, collapse: bool
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.bool_]]:
    r"""See ``compiled.text.fold``.

    Examples
    --------
    >>> text = np.frombuffer(b" A  b\n", np.uint8)
    >>> bytes(fold(text, np.array([0, 6]), nfkc=True, lower=True, collapse=True)[0])
    b'a b'
    """
    form, becomes = character_forms(nfkc=nfkc, lower=lower).form, _becomes(nfkc, lower)
    texts = [_fold_one(data[a:b].tobytes().decode(), form, becomes, lower, collapse) for a, b in pairwise(offsets)]
    encoded = [b"" if text is None else text.encode() for text in texts]
    lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
    return (
        np.frombuffer(b"".join(encoded), np.uint8).copy(),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        np.array([text is None for text in texts], np.bool_),
    )


@cache
def _becomes(nfkc: bool, lower: bool) -> dict[str, str]:
    """What takes the place of characters."""
    forms = character_forms(nfkc=nfkc, lower=lower)
    ends = pairwise(forms.offsets.tolist())
    return {chr(c): forms.data[a:b].tobytes().decode() for c, (a, b) in zip(forms.replaced.tolist(), ends, strict=True)}


def _fold_one(text: str, form: NDArray[np.uint8], becomes: dict[str, str], lower: bool, collapse: bool) -> str | None:
    classes = character_classes()
    last_class = 0
    folded = []
    for character in text:
        kind = int(form[ord(character)]) if ord(character) >= 128 else INERT
        if kind == NEEDS_LIBRARY or (0 < kind < REPLACED and kind < last_class):
            return None
        last_class = kind if kind < REPLACED else 0
        if collapse and classes[ord(character)] == SPACE:
            folded.append(" ")
        elif ord(character) < 128:
            folded.append(character.lower() if lower else character)
        else:
            folded.append(becomes.get(character, character))
    joined = "".join(folded)
    return " ".join(word for word in joined.split(" ") if word) if collapse else joined
