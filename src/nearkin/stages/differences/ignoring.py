"""Differences that do not count: in capitals, in punctuation, in numbers."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable
from typing import Literal, get_args

from nearkin.errors import ParameterError, is_among
from nearkin.kernels.characters import case_folding
from nearkin.stages.differences.changes import Change, Changes

Ignored = Literal["case", "punctuation", "numbers"]
IGNORED: tuple[Ignored, ...] = get_args(Ignored)
_NUMBER = re.compile(r"\d(?:[\d.,:/]*\d)?")
_BREAKS = re.compile(r"\r\n?|\n")


def check_ignored(
    ignore: Iterable[str],
) -> tuple[Ignored, ...]:
    """Return the kinds of difference that do not count, in a fixed order; ParameterError for an unknown one."""
    if not isinstance(ignore, Iterable):
        raise ParameterError.of("ignore", f"a list of some of {', '.join(IGNORED)}", ignore)
    ignore = ignore if isinstance(ignore, str) else tuple(ignore)
    unknown = [ignore] if isinstance(ignore, str) else [kind for kind in ignore if not is_among(kind, IGNORED)]
    if unknown:
        raise ParameterError.of("ignore", f"a list of some of {', '.join(IGNORED)}", unknown[0])
    return tuple(kind for kind in IGNORED if kind in ignore)


def without_ignored(text_a: str, text_b: str, changes: Changes, ignored: Collection[Ignored]) -> tuple[str, int]:
    r"""Return B with A's wording wherever they differ only in an ignored way, and the number of these places.

    Examples
    --------
    >>> from nearkin.stages.differences.changes import find_changes
    >>> from nearkin.stages.differences.words import Wording
    >>> a, b = "Rent: 100 crowns, due now", "rent 250\ncrowns due soon"
    >>> without_ignored(a, b, find_changes(Wording(a), Wording(b)), {"case", "punctuation", "numbers"})
    ('Rent: 100\ncrowns, due soon', 2)
    """
    parts, at, n = [], 0, 0
    for change in changes.changes:
        if not _is_ignored(text_a, text_b, change, ignored):
            continue
        of_a, of_b = text_a[change.start_a : change.end_a], text_b[change.start_b : change.end_b]
        parts += [text_b[at : change.start_b], _BREAKS.sub(" ", of_a), *_BREAKS.findall(of_b)]
        at, n = change.end_b, n + 1
    return "".join([*parts, text_b[at:]]), n


def _is_ignored(text_a: str, text_b: str, change: Change, ignored: Collection[Ignored]) -> bool:
    of_a = what_counts(text_a, change.start_a, change.end_a, ignored)
    return of_a == what_counts(text_b, change.start_b, change.end_b, ignored)


def what_counts(text: str, start: int, end: int, ignored: Collection[Ignored]) -> str:
    """Return the characters of a part of a text that count; also signs of numbers: 1.5 is not 15, -500 not 500.

    Examples
    --------
    >>> what_counts("Rent (due): 1,5 %", 0, 17, ["case", "punctuation"])
    'rentdue1,5%'
    >>> what_counts("-500", 0, 1, ["punctuation"])
    '-'
    """
    part = text[start:end]
    if "punctuation" in ignored and not part.isalnum():
        from nearkin.stages.differences.kinds import number_signs  # most comparisons ignore nothing

        kept = number_signs(text, start, end)
        part = "".join(kept.get(i, "" if unicodedata.category(c)[0] in "PS" else c) for i, c in enumerate(part, start))
    if "numbers" in ignored:
        part = _NUMBER.sub("0", part)
    if "case" in ignored:
        part = unicodedata.normalize("NFC", part).translate(case_folding())  # as in normalised texts
    return unicodedata.normalize("NFC", "".join(part.split()))
