"""Write src/nearkin/kernels/character_classes.npz and character_forms.npz from this Python's Unicode database.

The classes decide what a word is and the forms what normalisation makes of a character, hence every shingle and every
stored signature: the files are pinned, and this script is run again only with a decision to break them. Python 3.11
carries Unicode 14.0.
"""

from __future__ import annotations

import itertools
import sys
import unicodedata
from pathlib import Path

import numpy as np

from nearkin.stages.number_words import TICKS

SEPARATOR, WORD, ALONE, MARK, SPACE, FORMAT = range(6)
WITHOUT_SPACES = (
    "CJK UNIFIED IDEOGRAPH", "CJK COMPATIBILITY IDEOGRAPH", "HIRAGANA", "KATAKANA", "HALFWIDTH KATAKANA", "BOPOMOFO",
    "THAI ", "LAO ", "KHMER ", "MYANMAR ", "TAI ", "NEW TAI LUE", "TIBETAN ", "JAVANESE ", "BALINESE ", "YI SYLLABLE",
    "TANGUT ", "NUSHU ",
)  # fmt: skip
WHITE_SPACE_CONTROLS = {0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x85}
CONJOINING_JAMO = {*range(0x1161, 0x1176), *range(0x11A8, 0x11C3)}
SURROGATES = range(0xD800, 0xE000)
SOFT_HYPHEN = 0xAD
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
    if character in TICKS or (category.startswith("L") and unicodedata.name(character, "").startswith(WITHOUT_SPACES)):
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


def case_forms() -> dict[str, str]:
    """Full case folding, where it takes no more bytes; else the lower-case letter, or none (the Greek iota below).

    All four forms of the Turkish i become one, because capitals do not tell which of the two small letters they are.
    A letter that the folding decomposes stays as it is.
    """
    becomes = {"İ": "i", "ı": "i", "ⱥ": "Ⱥ", "ⱦ": "Ⱦ"}  # the small letters are a byte longer
    for character in assigned():
        composed = unicodedata.normalize("NFC", character.casefold())
        if character in "ⱥⱦȺȾ" or character.casefold() == character or composed == character:
            continue
        if fits(composed, character):
            becomes.setdefault(character, composed)
        elif len(character.lower()) == 1 and fits(character.lower(), character):
            becomes.setdefault(character, character.lower())
    del becomes["\u0345"]  # a mark
    return {one: text for one, text in becomes.items() if text != one}


def arabic_forms() -> dict[str, str]:
    """Forms of alef, yeh and kaf, vowel marks, the tatweel, and both rows of digits; hamza is a letter."""
    runs_of_marks = (
        "\u0610-\u061a \u064b-\u0652 \u0656-\u065f \u0670 \u06d6-\u06dc \u06df-\u06e4 \u06e7-\u06e8 \u06ea-\u06ed"
    )
    marks = "".join(chr(c) for run in runs_of_marks.split() for c in range(ord(run[0]), ord(run[-1]) + 1))
    letters = {"ا": "آأإٱٲٳٵ", "ي": "ىی", "ك": "کڪ"} | {"": marks + "ـ"}
    digits = {chr(row + i): str(i) for row in (0x660, 0x6F0) for i in range(10)}
    return {one: letter for letter, others in letters.items() for one in others} | digits


def accent_forms() -> dict[str, str]:
    """Letters of Latin, Greek and Cyrillic without the marks of U+0300 to U+036F, and those with a stroke."""
    becomes = dict(zip("ØøŁłĐđĦħŦŧ", "OoLlDdHhTt", strict=True))
    for character in assigned():
        parts = unicodedata.normalize("NFD", character)
        left = "".join(one for one in parts if not 0x300 <= ord(one) < 0x370)
        if left != parts:
            becomes[character] = unicodedata.normalize("NFC", "".join(becomes.get(one, one) for one in left))
    return {one: text for one, text in becomes.items() if fits(text, one)}


def assigned() -> list[str]:
    """Every assigned character."""
    every = (chr(c) for c in range(N_CODE_POINTS) if c not in SURROGATES)
    return [one for one in every if unicodedata.category(one) != "Cn"]


def fits(text: str, character: str) -> bool:
    """Whether the replacement takes no more bytes."""
    return len(text.encode()) <= len(character.encode())


def chained(changes: list[dict[str, str]]) -> dict[int, str]:
    """What several changes, one after the other, make of each character that they change."""
    becomes = {}
    for character in set().union(*changes):
        text = character
        for change in changes:
            text = "".join(change.get(one, one) for one in text)
        if text != character:
            becomes[ord(character)] = text
    return becomes


def tables(form: np.ndarray, composed: dict[int, str], changed: dict[int, str]) -> dict[str, np.ndarray]:
    """The tables of `nearkin.kernels.characters.Forms` after NFKC, or without it, and after other changes."""
    becomes = dict(composed)
    becomes |= {c: text for c, text in changed.items() if c not in composed and (form[c] == INERT or not text)}
    becomes = {c: "".join(changed.get(ord(one), one) for one in text) for c, text in becomes.items()}
    form = form.copy()
    form[[c for c in changed if c not in becomes]] = NEEDS_LIBRARY
    fitting = {c: t.encode() for c, t in sorted(becomes.items()) if fits(t, chr(c)) and c >= 128}
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
    composed[SOFT_HYPHEN] = ""
    unchanged = np.full_like(form, INERT)
    further = {"case": case_forms(), "arabic": arabic_forms(), "accents": accent_forms()}
    by_steps = {}
    for chosen in itertools.product([True, False], repeat=1 + len(further)):
        with_nfkc, *others = chosen
        names = [name for name, is_on in zip(further, others, strict=True) if is_on]
        changed = chained([further[name] for name in names]) if names else {}
        steps = "+".join(["nfkc"] * with_nfkc + names) or "none"
        by_steps[steps] = tables(form if with_nfkc else unchanged, composed if with_nfkc else {}, changed)
    arrays = {f"{steps}/{name}": array for steps, made in by_steps.items() for name, array in made.items()}
    save(KERNELS / "character_forms.npz", **arrays)


if __name__ == "__main__":
    main()
