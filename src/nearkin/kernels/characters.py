"""Class of each code point: part of a word, a word by itself, a separator.

The classes are pinned in ``character_classes.npz`` (Unicode 14.0), because every word shingle depends on them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

SEPARATOR = 0  # punctuation, symbols, controls: ends a word
WORD = 1  # letters and numbers: extends a word
ALONE = 2  # letters of scripts without spaces between words, and ticks of forms: a word of one character
MARK = 3  # combining marks: belong to the preceding character
SPACE = 4  # white space: ends a word; runs of it collapse
FORMAT = 5  # soft hyphen, zero-width joiners, direction marks: ignored

N_CODE_POINTS = 0x110000
UNITS = {"chars": 0, "words": 1, "code": 2}
"""Units of shingles: code points, words, or tokens of source code."""
CHARACTERS, WORDS, CODE = UNITS.values()


CURRENCIES = "¢£¤¥֏؋৲৳૱௹฿៛" + "".join(map(chr, range(0x20A0, 0x20D0)))
"""Signs of currencies beyond ASCII, which normalisation does not replace."""

INERT = 0  # stays unchanged; so do 1 to 252, marks of that combining class, if they are in ascending order
REPLACED = 253  # is replaced, whatever its neighbours
NEEDS_LIBRARY = 255  # the result depends on the neighbours, or takes more bytes


@dataclass(frozen=True, slots=True)
class Forms:
    """Normalised form of each character.

    Parameters
    ----------
    form : uint8 array, shape (0x110000,)
        INERT, a combining class, REPLACED or NEEDS_LIBRARY.
    replaced : uint32 array, shape (n_replaced,)
        Code points that are replaced, ascending.
    offsets, data : int64 array of shape (n_replaced + 1,), uint8 array
        Their replacements, as UTF-8; never longer than the original.
    """

    form: NDArray[np.uint8]
    replaced: NDArray[np.uint32]
    offsets: NDArray[np.int64]
    data: NDArray[np.uint8]


@cache
def character_classes() -> NDArray[np.uint8]:
    """Return the class of every code point, shape (0x110000,), uint8, read-only."""
    with np.load(Path(__file__).with_name("character_classes.npz")) as stored:
        return _from_runs(stored["starts"], stored["values"])


@cache
def classes_with_currencies() -> NDArray[np.uint8]:
    """Return the same, with signs of currencies as words of one character."""
    classes = character_classes().copy()
    classes[[ord(sign) for sign in CURRENCIES]] = ALONE
    classes.flags.writeable = False
    return classes


@cache
def character_forms(*steps: str) -> Forms:
    """Return the result of some of the steps nfkc, case, arabic and accents, in this order, for each character."""
    name_of_steps = "+".join(steps) or "none"
    with np.load(Path(__file__).with_name("character_forms.npz")) as stored:
        starts, values, *replacements = (
            stored[f"{name_of_steps}/{name}"] for name in ("starts", "values", "replaced", "offsets", "data")
        )
        return Forms(_from_runs(starts, values), *replacements)


@cache
def case_folding() -> dict[int, str]:
    """Return what the step "case" makes of each character that it changes, for `str.translate`.

    Examples
    --------
    >>> "STRAẞE ΣΑΣ".translate(case_folding()) == "straße σας".translate(case_folding()) == "strasse σασ"
    True
    """
    forms = character_forms("case")
    data, bounds = forms.data.tobytes(), forms.offsets.tolist()
    folded = [data[start:end].decode() for start, end in pairwise(bounds)]
    return dict(zip(forms.replaced.tolist(), folded, strict=True)) | {c: chr(c + 32) for c in range(65, 91)}


def _from_runs(starts: NDArray[np.uint32], values: NDArray[np.uint8]) -> NDArray[np.uint8]:
    expanded = np.repeat(values, np.diff(np.append(starts.astype(np.int64), N_CODE_POINTS)))
    expanded.setflags(write=False)
    return expanded
