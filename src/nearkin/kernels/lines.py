"""Ends of lines: words that a hyphen breaks there, and texts whose lines may have numbers in the margin."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.characters import INERT, WORD, character_classes, character_forms
from nearkin.kernels.choosing import frozen, loops

HYPHEN, NUMBERS, BATES, HIDDEN = 1, 2, 4, 8
"""Bits of `line_flags`."""


def line_flags(data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> NDArray[np.uint8]:
    r"""Tell in one quick pass which texts may need more: no text with a bit unset does.

    Returns
    -------
    flags : uint8 array, shape (n_documents,)
        HYPHEN: a line may end in a hyphen. NUMBERS: two of five lines begin or end with numbers that follow one
        another. BATES: two lines may be Bates numbers. HIDDEN: it has a raised or lowered digit, or a word in
        capitals may stand beside a slash and another word.
    """
    flags = np.empty(len(offsets) - 1, np.uint8)
    loops("lines", int(offsets[-1] - offsets[0])).flag_many(*frozen(data, offsets), flags)
    return flags


def join_broken_words(
    data: NDArray[np.uint8], offsets: NDArray[np.int64]
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Join the words that a hyphen breaks at the end of a line, with a small letter on each side.

    A hyphen stays if it seems to be a part of a compound: another one stands beside either part; the text has the
    compound inside of a line, or both parts as words of at least three letters; fewer than 3 of 100 lines end so; or a
    word such as "und" follows. It goes in any case if the text also has the joined word.
    """
    joined = np.empty(int(offsets[-1] - offsets[0]), np.uint8)
    joined_offsets = np.zeros(len(offsets), np.int64)
    kernel = loops("lines", 4 * len(joined))  # the twin of this one is slower than that of the other
    kernel.join_many(*frozen(data, offsets, _small_letters()), joined, joined_offsets)
    return joined[: joined_offsets[-1]], joined_offsets


@cache
def _small_letters() -> NDArray[np.uint8]:
    """Return for each code point whether it is a letter that is not a capital; digits beyond ASCII count as such."""
    is_small = (character_classes() == WORD) & (character_forms("case").form == INERT)
    is_small[:128] = False
    is_small[[*range(ord("a"), ord("z") + 1), *map(ord, "ßſςı")]] = True
    small: NDArray[np.uint8] = is_small.view(np.uint8)
    return small
