"""Documents to review instead of all: the principal of each group, with the text that other members add."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from sqlalchemy import Connection

from nearkin.collection.decisions.log import StoredState
from nearkin.collection.decisions.principals import shown_principals
from nearkin.collection.opened import OpenedCollection
from nearkin.collection.relations import Pair, RelatedText, n_not_stored, n_stored, relations_of
from nearkin.collection.stored.contents import texts_of
from nearkin.collection.stored.documents import DocumentRow, current_rows
from nearkin.collection.stored.group_state import GroupState
from nearkin.collection.tolerance import Tolerance
from nearkin.nouns import counted
from nearkin.runs.progress import Progress, Silent
from nearkin.stages.differences.one_sided import Excerpt, excerpt, first_passages, joined
from nearkin.stages.differences.relations import MemberComparison
from nearkin.stages.differences.words import count_words
from nearkin.store.kept import KeptValues
from nearkin.store.schema import documents
from nearkin.store.store import Store
from nearkin.tabular import AnswerRecord

_AN_EXCERPT = 400
"""Maximum number of characters of an excerpt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OneSidedPassages(AnswerRecord):
    """Passages that only a member of a group, or only its principal, has.

    Parameters
    ----------
    negations_at : tuple of (int, int)
        Number of each passage with a negation, from 0, and the place of its first one.
    """

    doc_id: str
    n_words: int
    passages: tuple[str, ...]
    negations: tuple[str, ...] = ()
    n_words_left_out: int = 0
    is_whole: bool = True
    negations_at: tuple[tuple[int, int], ...] = ()
    n_words_moved: int = 0

    def amount(self) -> str:
        """Return the number of words, and the negations among them, unless the passages are just these."""
        words = counted(self.n_words, "word")
        if not self.negations or {passage.lower() for passage in self.passages} == set(self.negations):
            return words
        quoted = ", ".join(f'"{negation}"' for negation in self.negations)
        return f"{words}, {'among them' if self.n_words > len(self.negations) else 'in'} {quoted}"

    def excerpt(self, most: int = _AN_EXCERPT) -> Excerpt:
        """Return the first passages, those with a negation before the others."""
        return excerpt(self.passages, self.negations_at, self.n_words, most)

    def shortened(self, most: int) -> OneSidedPassages:
        """Return about the first ``most`` characters of the passages, those with a negation first."""
        if sum(map(len, self.passages)) <= most:
            return self
        first = first_passages(self.passages, self.negations_at, most)
        n_left_out = max(0, self.n_words - sum(map(count_words, first.passages)))
        return replace(self, passages=first.passages, negations_at=first.negations_at, n_words_left_out=n_left_out)

    def in_words(self, verb: str) -> str:
        """Return them as one line of text: the member "adds" them, or "lacks" them."""
        moved = f"has {counted(self.n_words_moved, 'word')} in another place" if self.n_words_moved else ""
        line = f"{self.doc_id} {moved or verb}"
        if self.n_words:
            line += f", and {verb}" if moved else ""
            line += f" {self.amount()}: {joined(self.passages)}"
        if self.n_words_left_out:
            line += f" … and {counted(self.n_words_left_out, 'more word')} that this file leaves out"
        return line if self.is_whole else f"{line} (the texts are too long to be compared to the end)"


def passages_added(doc_id: str, comparison: MemberComparison) -> OneSidedPassages | None:
    """Return what a member has and the principal lacks, or has in another place, if any."""
    n_words = comparison.judgement.measured.n_words_only_in_member
    passages = _passages(doc_id, n_words, comparison, 1)
    return passages if passages is None or passages.n_words or passages.n_words_moved else None


def passages_lacked(doc_id: str, comparison: MemberComparison) -> OneSidedPassages | None:
    """Return what the principal has and a member lacks, if any."""
    n_words = comparison.judgement.measured.n_words_only_in_principal
    passages = _passages(doc_id, n_words, comparison, 0)
    return replace(passages, n_words_moved=0) if passages is not None and passages.n_words else None


def _passages(doc_id: str, n_words: int, comparison: MemberComparison, side: int) -> OneSidedPassages | None:
    if not n_words or comparison.one_sided is None:
        return None
    passages = comparison.one_sided[side]
    return OneSidedPassages(
        doc_id=doc_id,
        n_words=n_words - passages.n_words_moved,
        passages=passages.passages,
        negations=passages.negations,
        n_words_left_out=passages.n_words_left_out,
        is_whole=comparison.is_whole,
        negations_at=passages.negations_at,
        n_words_moved=passages.n_words_moved,
    )


_NOT_COMPARED = KeptValues[int]()
"""Counts by tolerance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Representative(AnswerRecord):
    """Principal of a group."""

    group: int
    doc_id: str
    n_documents: int
    additions: tuple[OneSidedPassages, ...]
    omissions: tuple[OneSidedPassages, ...] = ()
    n_not_compared: int = 0


def representatives(
    collection: OpenedCollection,
    tolerance: Tolerance,
    numbers: Sequence[int],
    *,
    max_new: int | None = None,
    progress: Progress | None = None,
) -> Iterator[Representative]:
    """Yield the principals of some stored groups, each with the text that other members add.

    Comparisons are stored when first made, at most ``max_new`` in this call.
    """
    progress = progress or Silent()
    with collection.store.reading() as connection:
        members = _members(connection, tolerance, numbers)
    pairs = _pairs(members)
    n_pairs = Counter(own_content for own_content, _ in pairs)
    progress.start("compare", len(pairs), "pairs")
    by_principal = groupby(relations_of(collection, pairs, max_new=max_new), key=lambda entry: entry[0][0])
    upcoming = next(by_principal, None)
    for number, here in members.items():
        own_content, compared = here[0].content, list[tuple[int, RelatedText]]()
        if upcoming is not None and upcoming[0] == own_content:
            for (_, content), related in upcoming[1]:
                progress.advance(1)
                compared.append((content, related))
            upcoming = next(by_principal, None)
        yield _representative(collection, number, here, compared, n_pairs[own_content] - len(compared))
    progress.finish()


def _representative(
    collection: OpenedCollection,
    number: int,
    here: Sequence[DocumentRow],
    compared: Sequence[tuple[int, RelatedText]],
    n_not_compared: int,
) -> Representative:
    first_of = {member.content: member.doc_id for member in reversed(here)}
    added, lacked = (
        {
            content: member_passages
            for content, related in compared
            if (member_passages := one_side(first_of[content], related.comparison)) is not None
        }
        for one_side in (passages_added, passages_lacked)
    )
    return Representative(
        group=number,
        doc_id=here[0].doc_id,
        n_documents=len(here),
        additions=_in_order(_distinct(collection.store, added)),
        omissions=_in_order(_distinct(collection.store, lacked)),
        n_not_compared=n_not_compared,
    )


def _in_order(sides: Sequence[OneSidedPassages]) -> tuple[OneSidedPassages, ...]:
    return tuple(sorted(sides, key=lambda side: (not side.negations, -side.n_words, side.doc_id)))


def _distinct(store: Store, by_content: Mapping[int, OneSidedPassages]) -> list[OneSidedPassages]:
    """Return the passages of some contents, without those that differ from an earlier one only in white space."""
    alike = dict[tuple[int, tuple[str, ...]], list[int]]()
    for content, side in by_content.items():
        alike.setdefault((side.n_words, side.passages), []).append(content)
    distinct = list[OneSidedPassages]()
    for contents in alike.values():
        if len(contents) == 1:  # what adds or lacks something else has another text
            distinct.append(by_content[contents[0]])
            continue
        with store.reading() as connection:
            texts = texts_of(connection, contents)
        first = dict[str, int]()
        for content in contents:
            first.setdefault(" ".join(texts[content].split()), content)
        distinct += [by_content[content] for content in first.values()]
    return distinct


def n_texts_not_compared(connection: Connection, store: Store, tolerance: Tolerance) -> int:
    """Count the texts of all stored groups whose comparison is not stored; counted again only after a change."""
    state = GroupState.known(connection, str(tolerance))
    if state.number is None:
        return 0

    def counted_now() -> int:
        members = _members(connection, tolerance, list(state.principals))
        return n_not_stored(connection, store, _pairs({n: here for n, here in members.items() if len(here) > 1}))

    made_from = state, StoredState.now(connection), n_stored(connection, store)
    return _NOT_COMPARED.get(connection.engine, str(tolerance), made_from, counted_now)


def _pairs(members: Mapping[int, Sequence[DocumentRow]]) -> list[Pair]:
    return [
        (here[0].content, content)
        for here in members.values()
        for content in dict.fromkeys(member.content for member in here if member.content != here[0].content)
    ]


def _members(connection: Connection, tolerance: Tolerance, numbers: Sequence[int]) -> dict[int, list[DocumentRow]]:
    state = GroupState.known(connection, str(tolerance))
    group_of = state.membership.in_groups(numbers).by_content()
    members = dict[int, list[DocumentRow]]()
    for member in current_rows(connection, documents.c.content, group_of):
        members.setdefault(group_of[member.content], []).append(member)
    principals = shown_principals(connection, state, numbers)
    return {
        number: sorted(members[number], key=lambda member: member.row != principals[number].row)
        for number in numbers
        if number in members
    }
