"""What each code point is: part of a word, a word by itself, a separator.

The classes are pinned in ``character_classes.npz`` (Unicode 14.0) and not taken from the running Python, because every word shingle
depends on them: a signature made today must be the signature made after an upgrade.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

SEPARATOR = 0  # punctuation, symbols, controls: ends a word
WORD = 1  # letters and numbers: extends a word
ALONE = 2  # letters of scripts that put no spaces between words: a word of one character
MARK = 3  # combining marks: belong to what stands before them
SPACE = 4  # white space: ends a word; runs of it collapse
FORMAT = 5  # soft hyphen, zero-width joiners, direction marks: as if they were not there

N_CODE_POINTS = 0x110000


@cache
def character_classes() -> NDArray[np.uint8]:
    """The class of every code point, shape (0x110000,), uint8, read-only.

    Examples
    --------
    >>> classes = character_classes()
    >>> [int(classes[ord(c)]) for c in "a1 ,語"]
    [1, 1, 4, 0, 2]
    """
    with np.load(Path(__file__).with_name("character_classes.npz")) as stored:
        starts = stored["starts"].astype(np.int64)
        runs = np.diff(np.append(starts, N_CODE_POINTS))
        classes = np.repeat(stored["classes"], runs)
    classes.setflags(write=False)
    return classes
