"""Write src/nearkin/kernels/character_classes.npz from this Python's Unicode database.

The classes decide what a word is, hence every word shingle and every stored signature: the file is pinned, and this script is run again
only with a decision to break them. Python 3.11 carries Unicode 14.0.
"""

from __future__ import annotations

import sys
import unicodedata
from pathlib import Path

import numpy as np

SEPARATOR, WORD, ALONE, MARK, SPACE, FORMAT = range(6)
WITHOUT_SPACES = (
    "CJK UNIFIED IDEOGRAPH", "CJK COMPATIBILITY IDEOGRAPH", "HIRAGANA", "KATAKANA", "HALFWIDTH KATAKANA", "BOPOMOFO", "THAI ", "LAO ",
    "KHMER ", "MYANMAR ", "TAI ", "NEW TAI LUE", "TIBETAN ", "JAVANESE ", "BALINESE ", "YI SYLLABLE", "TANGUT ", "NUSHU ",
)  # fmt: skip
WHITE_SPACE_CONTROLS = {0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x85}


def character_class(code_point: int) -> int:
    """The class of one code point."""
    character = chr(code_point)
    category = unicodedata.category(character)
    if code_point in WHITE_SPACE_CONTROLS or category.startswith("Z"):
        return SPACE
    if category.startswith("M"):
        return MARK
    if category == "Cf":
        return FORMAT
    if category.startswith("L") and unicodedata.name(character, "").startswith(WITHOUT_SPACES):
        return ALONE
    if category[0] in "LN":
        return WORD
    return SEPARATOR


def main() -> None:
    """Write the runs of equal class."""
    classes = np.fromiter((character_class(c) for c in range(0x110000)), np.uint8, 0x110000)
    starts = np.flatnonzero(np.concatenate([[True], classes[1:] != classes[:-1]])).astype(np.uint32)
    target = Path(__file__).parents[1] / "src/nearkin/kernels/character_classes.npz"
    np.savez(target, starts=starts, classes=classes[starts], unicode_version=unicodedata.unidata_version)
    print(
        f"{target}: {len(starts)} runs, Unicode {unicodedata.unidata_version}, {target.stat().st_size} bytes",
        file=sys.stderr,
    )


if __name__ == "__main__":
    main()
