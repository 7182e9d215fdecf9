"""Comparison of a family member with its principal: the relation and the lines that differ."""

from __future__ import annotations

from dataclasses import dataclass

from nearkin.stages.differences.aligning import WordDifference
from nearkin.stages.differences.changes import find_changes
from nearkin.stages.differences.comparing import first_hunks
from nearkin.stages.differences.comparison import Hunk
from nearkin.stages.differences.one_sided import OneSidedText, one_sided_texts
from nearkin.stages.differences.particulars import Original
from nearkin.stages.differences.relations import EXACT_COPY, Judgement, judge_relation
from nearkin.stages.differences.words import Wording

N_SHOWN = 6
"""Number of differences that a page shows of each member."""
_LONGEST_LINE = 300


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
    shown: tuple[Hunk, ...] = ()
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
    with_words = [one for one in found.changes if one.n_words_a or one.n_words_b]
    return MemberComparison(
        judgement,
        alignment.is_whole,
        None if first is None else _first_lines(principal, member, first),
        first_hunks(principal, member, with_words or found.changes, n_shown),
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
