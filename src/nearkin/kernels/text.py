"""Validation of UTF-8; forms of characters and white space of valid text; counts of its letters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.characters import character_classes, character_forms
from nearkin.kernels.choosing import frozen, loops

LATIN = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
N_LATIN = len(LATIN)
N_BUCKETS = 64
"""Buckets for the letters and digits of all other scripts: the upper six bits of the mixed code point."""
MAX_COUNT = 2**27 - 1
"""Upper limit of a count, so that the squares of 256 counts add up to less than 2**62."""


def first_invalid_byte(
    data: NDArray[np.uint8], offsets: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    r"""Check that each text is UTF-8 by RFC 3629: shortest forms, no surrogates, at most U+10FFFF.

    Returns
    -------
    invalid_at : int64 array, shape (n_documents,)
        Start of the first invalid sequence in its text; -1 if the text is valid.
    n_characters : int64 array, shape (n_documents,)
        Number of code points of the valid part.
    """
    invalid_at = np.empty(len(offsets) - 1, np.int64)
    n_characters = np.empty(len(offsets) - 1, np.int64)
    kernel = loops("text", int(offsets[-1] - offsets[0]))
    kernel.check_many(*frozen(data, offsets), invalid_at, n_characters)
    return invalid_at, n_characters


def count_visible(data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the characters but spaces of each text of valid UTF-8; shape (n_documents,)."""
    n_visible = np.empty(len(offsets) - 1, np.int64)
    loops("text", int(offsets[-1] - offsets[0])).visible_many(*frozen(data, offsets), n_visible)
    return n_visible


def fold(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], steps: Sequence[str], *, collapse: bool
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.bool_]]:
    r"""Apply steps of `character_forms` to valid UTF-8, and collapse white space to single spaces, none at either end.

    Returns
    -------
    is_left : bool array, shape (n_documents,)
        Texts with a character that the tables cannot normalise; their result is empty.
    """
    folded = np.empty(int(offsets[-1] - offsets[0]), np.uint8)
    folded_offsets = np.zeros(len(offsets), np.int64)
    is_left = np.zeros(len(offsets) - 1, np.bool_)
    forms = character_forms(*steps)
    arrays = character_classes(), forms.form, forms.replaced, forms.offsets, forms.data
    tables, to_lower = frozen(*arrays), np.uint8(32 if "case" in steps else 0)
    loops("text", len(folded)).fold_many(
        *frozen(data, offsets), tables, to_lower, collapse, folded, folded_offsets, is_left
    )
    return folded[: folded_offsets[-1]], folded_offsets, is_left


def count_letters(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], *, n_buckets: int
) -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.int64]]:
    """Count the letters and digits of each text.

    Returns
    -------
    counts : uint32 array, shape (n_texts, 62 + n_buckets)
        In the order of LATIN; at most MAX_COUNT each.
    n_counted, n_others : int64 arrays, shape (n_texts,)
        Number of letters and digits with a column among the counts, and of those without.
    """
    n_texts = len(offsets) - 1
    counts = np.zeros((n_texts, N_LATIN + n_buckets), np.uint32)
    n_counted, n_others = np.zeros(n_texts, np.int64), np.zeros(n_texts, np.int64)
    kernel = loops("text", int(offsets[-1] - offsets[0]))
    kernel.count_many(*frozen(data, offsets, character_classes()), counts, n_counted, n_others)
    return counts, n_counted, n_others
