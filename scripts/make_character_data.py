"""Write src/nearkin/kernels/character_classes.npz and character_forms.npz from this Python's Unicode database.

The classes decide what a word is and the forms what normalisation makes of a character, hence every shingle and every
stored signature: the files are pinned, and this script is run again only with a decision to break them. Python 3.11
carries Unicode 14.0.
"""

from __future__ import annotations

import sys
import unicodedata
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

SEPARATOR, WORD, ALONE, MARK, SPACE, FORMAT = range(6)
WITHOUT_SPACES = (
    "CJK UNIFIED IDEOGRAPH", "CJK COMPATIBILITY IDEOGRAPH", "HIRAGANA", "KATAKANA", "HALFWIDTH KATAKANA", "BOPOMOFO",
    "THAI ", "LAO ", "KHMER ", "MYANMAR ", "TAI ", "NEW TAI LUE", "TIBETAN ", "JAVANESE ", "BALINESE ", "YI SYLLABLE",
    "TANGUT ", "NUSHU ",
)  # fmt: skip
WHITE_SPACE_CONTROLS = {0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x85}
CONJOINING_JAMO = {*range(0x1161, 0x1176), *range(0x11A8, 0x11C3)}
SURROGATES = range(0xD800, 0xE000)
N_CODE_POINTS = 0x110000
INERT, NEEDS_LIBRARY = 0, 255
KERNELS = Path(__file__).parents[1] / "src/nearkin/kernels"


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


def second_characters() -> set[int]:
    """Characters that may compose with what stands before them (NFC_Quick_Check=Maybe), and possibly some more."""
    second = set(CONJOINING_JAMO)
    for code_point in range(N_CODE_POINTS):
        decomposition = unicodedata.decomposition(chr(code_point))
        if decomposition and not decomposition.startswith("<"):
            parts = decomposition.split()
            if len(parts) == 2:
                second.add(int(parts[1], 16))
    return second


def lower(text: str) -> str:
    """As Arrow does it, a character at a time."""
    return str(pc.utf8_lower(pa.scalar(text)).as_py())


def forms() -> tuple[np.ndarray, dict[int, str]]:
    """Each code point's combining class if NFKC leaves it alone, else NEEDS_LIBRARY; and those that become a string."""
    second = second_characters()
    form = np.full(N_CODE_POINTS, NEEDS_LIBRARY, np.uint8)
    for code_point in range(N_CODE_POINTS):
        character = chr(code_point)
        if code_point in SURROGATES or unicodedata.category(character) == "Cn" or code_point in second:
            continue
        if unicodedata.normalize("NFKC", character) == character:
            form[code_point] = unicodedata.combining(character)
    becomes = {}
    for code_point in np.flatnonzero(form == NEEDS_LIBRARY).tolist():
        character = chr(code_point)
        if code_point in SURROGATES or unicodedata.category(character) == "Cn" or code_point in second:
            continue
        composed = unicodedata.normalize("NFKC", character)
        if len(composed.encode()) <= len(character.encode()) and all(form[ord(c)] == INERT for c in composed):
            becomes[code_point] = composed
    return form, becomes


def lower_forms() -> dict[int, str]:
    """What lower case makes of each assigned character that it changes, where that takes no more bytes."""
    assigned = [c for c in range(N_CODE_POINTS) if c not in SURROGATES and unicodedata.category(chr(c)) != "Cn"]
    changed = pc.utf8_lower(pa.array([chr(c) for c in assigned])).to_pylist()
    return {c: text for c, text in zip(assigned, changed, strict=True) if text != chr(c)}


def save_runs(path: Path, values: np.ndarray, **others: object) -> None:
    """Write the runs of equal values."""
    starts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]])).astype(np.uint32)
    np.savez_compressed(
        path, starts=starts, values=values[starts], unicode_version=unicodedata.unidata_version, **others
    )
    print(
        f"{path.name}: {len(starts)} runs, Unicode {unicodedata.unidata_version}, {path.stat().st_size} bytes",
        file=sys.stderr,
    )


def main() -> None:
    """Write both files."""
    classes = np.fromiter((character_class(c) for c in range(N_CODE_POINTS)), np.uint8, N_CODE_POINTS)
    save_runs(KERNELS / "character_classes.npz", classes)
    form, becomes = forms()
    lowered = lower_forms()
    save_runs(
        KERNELS / "character_forms.npz",
        form,
        nfkc_from=np.array(list(becomes), np.uint32),
        nfkc_to=np.array(list(becomes.values())),
        lower_from=np.array(list(lowered), np.uint32),
        lower_to=np.array(list(lowered.values())),
    )


if __name__ == "__main__":
    main()
