"""Documents to review instead of all: the principal of each group, with what its other members add."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from sqlalchemy import Connection, select

from nearkin.collection.opened import OpenedCollection
from nearkin.collection.stored.group_state import GroupState
from nearkin.collection.stored_relations import relations_of
from nearkin.collection.tolerance import Tolerance
from nearkin.nouns import counted
from nearkin.stages.differences.relating import MemberComparison
from nearkin.store.bulk import named
from nearkin.store.schema import documents


@dataclass(frozen=True, slots=True)
class Addition:
    """Words that a member of a group has and its principal has not.

    Parameters
    ----------
    doc_id : str
    n_words : int
        Number of words that only the member has.
    passages : tuple of str
        The first of them, as they are in the text.
    """

    doc_id: str
    n_words: int
    passages: tuple[str, ...]

    def in_words(self) -> str:
        """Say it in a line.

        Examples
        --------
        >>> Addition("lease, signed", 2, ("Ada", "Kern")).in_words()
        'lease, signed adds 2 words: Ada … Kern'
        """
        return f"{self.doc_id} adds {counted(self.n_words, 'word')}: {' … '.join(self.passages)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Representative:
    """Principal of a group.

    Parameters
    ----------
    group : int
    doc_id : str
    n_documents : int
        Number of current documents of the group.
    additions : tuple of Addition
        Of members that add words, most words first. Members with the same text, or with less of it, are not among them.
    """

    group: int
    doc_id: str
    n_documents: int
    additions: tuple[Addition, ...]

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON types."""
        return asdict(self)


def passages_added(comparison: MemberComparison) -> tuple[str, ...]:
    """Return the first passages that a member has and the principal has not."""
    return tuple(one.member.text for one in comparison.shown if one.member.text.strip())


def representatives(collection: OpenedCollection, tolerance: Tolerance, numbers: Sequence[int]) -> list[Representative]:
    """Return the principals of some stored groups, in this order, each with what the other members add.

    Comparisons of texts are stored when they are first made.

    Raises
    ------
    CollectionBusyError
        Another process is writing.
    CollectionError
        The groups or a text were changed in the store.
    """
    with collection.store.reading() as connection:
        state = GroupState.known(connection, str(tolerance))
        wanted, contents = set(numbers), dict[int, list[int]]()
        for content, number in zip(state.member_contents.tolist(), state.member_groups.tolist(), strict=True):
            if number in wanted:
                contents.setdefault(number, []).append(content)
        ids = _ids(connection, [content for of_group in contents.values() for content in of_group])
        rows = [state.principals[number] for number in numbers if number in contents]
        principals = _principals(connection, rows)
    pairs, found = list[tuple[int, int]](), list[tuple[int, str, int]]()
    for number in numbers:
        here = [content for content in contents.get(number, ()) if content in ids]
        if not here:
            continue
        doc_id, own = principals[state.principals[number]]
        if own not in here:  # the principal was removed, or is another version now
            own = here[0]
            doc_id = ids[own][0]
        found.append((number, doc_id, own))
        pairs += [(own, content) for content in here if content != own]
    related = {pair: one.comparison for pair, one in relations_of(collection, pairs)}
    additions = dict[int, list[Addition]]()
    for (own, content), one in related.items():
        if n_words := one.judgement.measured.n_words_only_in_member:
            of_one = additions.setdefault(own, [])
            of_one.append(Addition(ids[content][0], n_words, passages_added(one)))
    return [
        Representative(
            group=number,
            doc_id=doc_id,
            n_documents=sum(len(ids.get(content, ())) for content in contents[number]),
            additions=tuple(sorted(additions.get(own, ()), key=lambda one: (-one.n_words, one.doc_id))),
        )
        for number, doc_id, own in found
    ]


def _ids(connection: Connection, contents: Sequence[int]) -> Mapping[int, list[str]]:
    """Return the ids of the current documents with some texts, by text, in the order in which they were added."""
    found = dict[int, list[str]]()
    for some in named(contents):
        query = select(documents.c.content, documents.c.doc_id).where(
            documents.c.content.in_(some) & documents.c.is_current
        )
        for content, doc_id in connection.execute(query.order_by(documents.c.row)):
            found.setdefault(content, []).append(doc_id)
    return found


def _principals(connection: Connection, rows: Sequence[int]) -> dict[int, tuple[str, int]]:
    found = dict[int, tuple[str, int]]()
    for some in named(rows):
        query = select(documents.c.row, documents.c.doc_id, documents.c.content).where(documents.c.row.in_(some))
        found |= {row: (doc_id, content) for row, doc_id, content in connection.execute(query)}
    return found
