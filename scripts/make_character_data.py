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
INERT, REPLACED, NEEDS_LIBRARY = 0, 253, 255
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


def tables(form: np.ndarray, composed: dict[int, str], lowered: dict[int, str]) -> dict[str, np.ndarray]:
    """The tables of `nearkin.kernels.characters.Forms` after some steps: NFKC, lower case, both, or none."""
    becomes = dict(composed)
    becomes |= {c: text for c, text in lowered.items() if c not in composed and form[c] != NEEDS_LIBRARY}
    becomes = {c: "".join(lowered.get(ord(one), one) for one in text) for c, text in becomes.items()}
    form = form.copy()
    form[[c for c in lowered if form[c] not in (INERT, REPLACED)]] = NEEDS_LIBRARY
    fitting = {
        c: t.encode() for c, t in sorted(becomes.items()) if len(t.encode()) <= len(chr(c).encode()) and c >= 128
    }
    form[[c for c in becomes if c >= 128]] = NEEDS_LIBRARY
    form[list(fitting)] = REPLACED
    starts, values = runs(form)
    return {
        "starts": starts,
        "values": values,
        "replaced": np.array(list(fitting), np.uint32),
        "offsets": np.cumsum([0, *map(len, fitting.values())], dtype=np.int64),
        "data": np.frombuffer(b"".join(fitting.values()) or b"\0", np.uint8),
    }


def without_nfkc(form: np.ndarray, composed: dict[int, str]) -> np.ndarray:
    """The forms before lower case alone; unassigned characters, which the library may know, are left to it."""
    form = form.copy()
    form[(form != NEEDS_LIBRARY) | np.isin(np.arange(N_CODE_POINTS), list(composed))] = INERT
    return form


def runs(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The starts and the values of runs of equal values."""
    starts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]])).astype(np.uint32)
    return starts, values[starts]


def save(path: Path, **arrays: np.ndarray) -> None:
    """Write a file of arrays."""
    np.savez_compressed(path, **arrays, unicode_version=unicodedata.unidata_version)
    print(f"{path.name}: Unicode {unicodedata.unidata_version}, {path.stat().st_size} bytes", file=sys.stderr)


def main() -> None:
    """Write both files."""
    classes = np.fromiter((character_class(c) for c in range(N_CODE_POINTS)), np.uint8, N_CODE_POINTS)
    starts, values = runs(classes)
    save(KERNELS / "character_classes.npz", starts=starts, values=values)
    form, composed = forms()
    lowered = lower_forms()
    by_steps = {
        "nfkc+lower": tables(form, composed, lowered),
        "nfkc": tables(form, composed, {}),
        "lower": tables(without_nfkc(form, composed), {}, lowered),
        "none": tables(np.full_like(form, INERT), {}, {}),
    }
    arrays = {f"{steps}/{name}": array for steps, made in by_steps.items() for name, array in made.items()}
    save(KERNELS / "character_forms.npz", **arrays)


if __name__ == "__main__":
    main()
