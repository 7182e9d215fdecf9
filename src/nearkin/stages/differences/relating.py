"""Comparison of a family member with its principal: the relation and the lines that differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from nearkin.stages.differences.aligning import Alignment, WordDifference
from nearkin.stages.differences.changes import find_changes
from nearkin.stages.differences.one_sided import OneSidedText, one_sided_texts
from nearkin.stages.differences.particulars import Original
from nearkin.stages.differences.relations import EXACT_COPY, Judgement, judge_relation
from nearkin.stages.differences.words import Word, Wording, count_words

N_SHOWN = 6
"""Number of differences that a page shows of each member."""
_CONTEXT = 90  # characters shown on either side of a difference
_LONGEST_SIDE = 600  # characters of one side of a difference
_LONGEST_LINE = 300


@dataclass(frozen=True, slots=True)
class Stretch:
    """Stretch of an original text, with single spaces; ``n_words_cut`` more words are omitted."""

    text: str
    n_words_cut: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceInContext:
    """Difference with the common text up to its neighbours, as in the principal, and the first lines, from 1."""

    before: str
    after: str
    is_after_cut: bool
    principal: Stretch
    member: Stretch
    line_principal: int
    line_member: int


@dataclass(frozen=True, slots=True)
class FirstLines:
    """First lines that differ, in the original text; "…" marks cuts of a long line."""

    principal: str
    member: str
    line_principal: int
    line_member: int


@dataclass(frozen=True, slots=True)
class MemberComparison:
    """Relation of a member to its principal, with the first differences, and all ``one_sided`` text if asked for."""

    judgement: Judgement
    is_whole: bool = True
    first: FirstLines | None = None
    shown: tuple[DifferenceInContext, ...] = ()
    one_sided: tuple[OneSidedText, OneSidedText] | None = None


COPY = MemberComparison(EXACT_COPY)


def compare(
    principal: Original,
    member: Original,
    *,
    n_shown: int,
    with_one_sided: bool = False,
) -> MemberComparison:
    """Compare two texts by words."""
    found = find_changes(principal, member)
    alignment = found.alignment
    judgement = judge_relation(principal, member, found)
    first = next(iter(alignment.differences), None)
    return MemberComparison(
        judgement,
        alignment.is_whole,
        None if first is None else _first_lines(principal, member, first),
        tuple(islice(_shown(principal, member, alignment), n_shown)),
        one_sided_texts(principal, member, found) if with_one_sided else None,
    )


def _first_lines(principal: Wording, member: Wording, one: WordDifference) -> FirstLines:
    line_a, line_b = principal.line_of(one.at_a), member.line_of(one.at_b)
    return FirstLines(_line(principal, line_a, one.at_a), _line(member, line_b, one.at_b), line_a, line_b)


def _line(wording: Wording, number: int, place: int) -> str:
    start, end = wording.span_of_lines(number - 1, number)
    low = max(start, min(place - _LONGEST_LINE // 3, end - _LONGEST_LINE))
    high = min(end, low + _LONGEST_LINE)
    opening, closing = "…" if wording.text[start:low].strip() else "", "…" if wording.text[high:end].strip() else ""
    return f"{opening}{wording.text[low:high].strip()}{closing}"


def _shown(principal: Wording, member: Wording, alignment: Alignment) -> Iterator[DifferenceInContext]:
    ends = [0, *(_end(one.a, one.at_a) for one in alignment.differences)]
    starts = [*(_start(one.a, one.at_a) for one in alignment.differences), len(principal.text)]
    for i, one in enumerate(alignment.differences):
        yield _show(principal, member, one, ends[i], starts[i + 1])


def _show(principal: Wording, member: Wording, one: WordDifference, low: int, high: int) -> DifferenceInContext:
    text, start, end = principal.text, _start(one.a, one.at_a), _end(one.a, one.at_a)
    before = text[max(low, start - _CONTEXT) : start]
    if start - _CONTEXT > low:
        before = "… " + before.partition(" ")[2]
    after = text[end : min(high, end + _CONTEXT)]
    is_after_cut = end + _CONTEXT < high
    if is_after_cut:
        after = after.rpartition(" ")[0]
    return DifferenceInContext(
        before=_spaced(before),
        after=_spaced(after),
        is_after_cut=is_after_cut,
        principal=_stretch(text, one.a),
        member=_stretch(member.text, one.b),
        line_principal=principal.line_of(one.at_a),
        line_member=member.line_of(one.at_b),
    )


def _start(words: tuple[Word, ...], at: int) -> int:
    return words[0].start if words else at + (at > 0)


def _end(words: tuple[Word, ...], at: int) -> int:
    return words[-1].end if words else at + (at > 0)


def _stretch(text: str, words: tuple[Word, ...]) -> Stretch:
    if not words:
        return Stretch("")
    start, end = words[0].start, words[-1].end
    if end - start <= _LONGEST_SIDE:
        return Stretch(_spaced(text[start:end]))
    too_far = next(word for word in words if word.end > start + _LONGEST_SIDE)
    cut = too_far.start if too_far.start > start else start + _LONGEST_SIDE  # a word may be longer
    return Stretch(_spaced(text[start:cut]), max(1, count_words(text[cut:end])))


def _spaced(text: str) -> str:
    inner = " ".join(text.split())
    return f"{' ' if text[:1].isspace() and inner else ''}{inner}{' ' if text[-1:].isspace() and inner else ''}"
