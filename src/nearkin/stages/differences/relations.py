"""Relation of a family member to its principal: the first rule that holds decides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from nearkin.stages.differences.aligning import WordDifference
from nearkin.stages.differences.changes import Changes, find_changes
from nearkin.stages.differences.comparing import first_hunks
from nearkin.stages.differences.comparison import Hunk
from nearkin.stages.differences.one_sided import OneSidedText, one_sided_texts
from nearkin.stages.differences.particulars import ROLES, Original, Side, common_language, look_at
from nearkin.stages.differences.words import Word, Wording

Relation = Literal[
    "exact copy",
    "signature or date filled in",
    "other numbers or dates",
    "same form, other parties",
    "longer version",
    "shorter version or excerpt",
    "revised",
]
RELATIONS: tuple[Relation, ...] = get_args(Relation)
OTHER_PARTIES: Relation = "same form, other parties"

MAX_FILLED_IN = 25
"""Maximum number of words that fill one blank."""
MAX_OF_A_FORM = 20
"""Maximum number of words of a difference between two copies of a form, unless nearly all are particulars."""
MIN_SHARED = 0.7
"""Minimum share of the longer text's words that two copies of a form have in common."""
MIN_PARTICULARS = 0.75
"""Minimum share of names, numbers and dates among the words that differ between two copies of a form."""
MAX_TURNING = 5
"""Maximum number of words of a difference that changes a sentence; longer ones are omitted passages."""


_CONTAINED = (
    "{0} has no words of its own, except words such as of and the. "
    f"No difference of up to {MAX_TURNING} words has a word that changes a sentence (not, may, shall, only, unless)."
)
RULES: dict[str, str] = {
    "exact copy": (
        "The same text after normalisation of Unicode, case and white space, or one with the same words and signs "
        "except for the length of fill-in blanks (____) and of lines drawn with hyphens or equals signs."
    ),
    "signature or date filled in": (
        f"At every difference, one of: (1) one document has up to {MAX_FILLED_IN} words where the other has a blank "
        "(underscores, dots, brackets), and none that changes a sentence (not, may, shall, only, unless); "
        '(2) one document has a date, or a signature ("/s/", Signed, "Name:", "By" and a name in a line), where the '
        "other has nothing."
    ),
    "other numbers or dates": (
        "Every word that differs is a number, a currency, or belongs to a date; not all are moved."
    ),
    "same form, other parties": (
        f"All of: (1) apart from filled-in blanks, at most {1 - MIN_SHARED:.0%} of the longer document's words differ; "
        f"(2) at least {MIN_PARTICULARS:.0%} of the words that differ are names with their titles, numbers or dates; "
        "(3) other words are replaced, not inserted or omitted; (4) none of them changes a sentence (not, may, shall, "
        f"only, unless); (5) no difference is longer than {MAX_OF_A_FORM} words unless nine tenths of it are names, "
        "numbers or dates; (6) at least one name replaces another; (7) no role or defined term is exchanged for "
        "another that both documents have, such as buyer for seller."
    ),
    "longer version": _CONTAINED.format("The principal"),
    "shorter version or excerpt": _CONTAINED.format("This document"),
    "revised": "No other rule applies: read the differences.",
}
"""Rules, one sentence each; the first that holds decides."""
RULES_NUMBER = 0x3C62E182
"""Number of the rules in stored relations; change it if a rule or an alignment changes, not if only words do."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Number of differences, their words, and the names, numbers or dates among these."""

    n_differences: int = 0
    n_words_only_in_principal: int = 0
    n_words_only_in_member: int = 0
    n_particulars: int = 0


@dataclass(frozen=True, slots=True)
class Judgement:
    """Relation, with its measurements, and the text that fills in blanks of the other, if that is it."""

    relation: Relation
    filled_in: str
    measured: Measured


EXACT_COPY = Judgement("exact copy", "", Measured())


def judge_relation(
    principal: Original,
    member: Original,
    changes: Changes,
) -> Judgement:
    """Return the first rule that holds for two texts, by their differences."""
    language = common_language(principal.language, member.language)
    texts = principal, member
    sides = [
        (look_at(difference.a, principal, texts), look_at(difference.b, member, texts))
        for difference in changes.alignment.differences
    ]
    measured = Measured(
        len(sides),
        sum(change.n_words_a for change in changes.changes),
        sum(change.n_words_b for change in changes.changes),
        sum(a.n_particulars + b.n_particulars for a, b in sides),
    )
    if changes.is_whole:
        telling = [(a, b) for a, b in sides if a.n_words or b.n_words or a.is_signing or b.is_signing]
        if not sides or (not telling and all(a.n_blanks or b.n_blanks for a, b in sides)):
            return Judgement("exact copy", "", measured)
        if language and telling and all(_is_filled_in(a, b) or _is_filled_in(b, a) for a, b in telling):
            return Judgement("signature or date filled in", _filled_in(telling), measured)
        differences = changes.alignment.differences
        is_moved = _counted(difference.a for difference in differences) == _counted(
            difference.b for difference in differences
        )
        if not is_moved and all(a.n_other == b.n_other == a.n_names == b.n_names == 0 for a, b in telling):
            return Judgement("other numbers or dates", "", measured)
        counts = sum(a.n_words for a, _ in sides), sum(b.n_words for _, b in sides)
        if (
            min(principal.n_words, member.n_words)
            and 0 in counts
            and any(counts)
            and not any(a.n_blanks or b.n_blanks or _turns(a, b) for a, b in sides)
        ):
            return Judgement("longer version" if not counts[0] else "shorter version or excerpt", "", measured)
        if language and _is_same_form(telling, principal, member):
            return Judgement(OTHER_PARTIES, "", measured)
    return Judgement("revised", "", measured)


def _counted(differences: Iterable[Sequence[Word]]) -> Counter[str]:
    return Counter(word.core for words in differences for word in words if word.is_word)


def _is_filled_in(full: Side, blank: Side) -> bool:
    if not blank.is_open or not full.n_words or full.n_words + full.n_joining > MAX_FILLED_IN:
        return False
    return (blank.n_blanks > 0 and not full.n_turning) or (full.is_signing and full.n_other <= full.n_signing)


def _filled_in(sides: Sequence[tuple[Side, Side]]) -> str:
    has_principal = any(_is_filled_in(a, b) for a, b in sides)
    has_member = any(_is_filled_in(b, a) for a, b in sides)
    return "both" if has_principal and has_member else "principal" if has_principal else "member"


def _is_same_form(sides: Sequence[tuple[Side, Side]], principal: Original, member: Original) -> bool:
    counted = [pair for pair in sides if not (_is_filled_in(*pair) or _is_filled_in(*pair[::-1]))]
    n_words = sum(a.n_words + b.n_words for a, b in counted)
    n_other = sum(_n_other(a) + _n_other(b) for a, b in counted)
    longest = sum(max(a.n_words + a.n_joining, b.n_words + b.n_joining) for a, b in counted)
    return (
        n_other <= (1 - MIN_PARTICULARS) * n_words
        and not any(_is_exchanged(a, b, principal, member) for a, b in counted)
        and all(_is_short(a) and _is_short(b) and _is_replaced(a, b) for a, b in counted)
        and any(a.n_names and b.n_names for a, b in counted)
        and longest <= (1 - MIN_SHARED) * max(principal.n_words, member.n_words)
    )


def _is_exchanged(a: Side, b: Side, principal: Original, member: Original) -> bool:
    """Whether a role or a term is exchanged for another of both texts, such as buyer for seller."""
    named = ROLES | principal.spelling.terms | member.spelling.terms
    both = named & principal.vocabulary & member.vocabulary
    return bool(a.other & both) and bool(b.other & both)


def _n_other(side: Side) -> int:
    return side.n_other - side.n_pronouns - (side.n_signing if side.n_names else 0)


def _is_replaced(a: Side, b: Side) -> bool:
    is_other = [side.n_particulars == 0 and side.n_other > side.n_signing + side.n_pronouns for side in (a, b)]
    is_put_in = (is_other[0] and not b.n_words) or (is_other[1] and not a.n_words)
    return not is_put_in and not a.n_turning and not b.n_turning


def _turns(a: Side, b: Side) -> bool:
    n_words = max(a.n_words + a.n_joining, b.n_words + b.n_joining)
    return n_words <= MAX_TURNING and bool(a.n_turning or b.n_turning)


def _is_short(side: Side) -> bool:
    return side.n_words + side.n_joining <= MAX_OF_A_FORM or _n_other(side) <= 0.1 * side.n_words


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
    changes = find_changes(principal, member)
    alignment = changes.alignment
    judgement = judge_relation(principal, member, changes)
    first = next(iter(alignment.differences), None)
    with_words = [change for change in changes.changes if change.n_words_a or change.n_words_b]
    return MemberComparison(
        judgement,
        alignment.is_whole,
        None if first is None else _first_lines(principal, member, first),
        first_hunks(principal, member, with_words or changes.changes, n_shown),
        one_sided_texts(principal, member, changes) if with_one_sided else None,
    )


def _first_lines(principal: Wording, member: Wording, difference: WordDifference) -> FirstLines:
    line_a, line_b = principal.line_of(difference.at_a), member.line_of(difference.at_b)
    return FirstLines(_line(principal, line_a, difference.at_a), _line(member, line_b, difference.at_b), line_a, line_b)


def _line(wording: Wording, number: int, place: int) -> str:
    start, end = wording.span_of_lines(number - 1, number)
    low = max(start, min(place - _LONGEST_LINE // 3, end - _LONGEST_LINE))
    high = min(end, low + _LONGEST_LINE)
    opening, closing = "…" if wording.text[start:low].strip() else "", "…" if wording.text[high:end].strip() else ""
    return f"{opening}{wording.text[low:high].strip()}{closing}"
