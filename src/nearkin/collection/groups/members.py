"""Members of groups, compared with the principal of their group."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from sqlalchemy import Connection, select

from nearkin.collection.decisions.deciding import members_of, tags_of
from nearkin.collection.decisions.log import GROUP_NOTE, values_of
from nearkin.collection.decisions.principals import N_LETTERS, chosen_principals, places_of_chosen, shown_principals
from nearkin.collection.groups.representatives import OneSidedPassages, passages_added, passages_lacked
from nearkin.collection.matching.matches import Matching, PairMeasures, Similarities, matching_of
from nearkin.collection.opened import OpenedCollection, Snapshot
from nearkin.collection.relations import relations_of
from nearkin.collection.results import StoredDocument, columns
from nearkin.collection.stored.documents import documents_by_row
from nearkin.collection.stored.group_state import GroupState, Membership
from nearkin.collection.stored.word_sets import in_lots
from nearkin.collection.tolerance import Tolerance, is_letters_only
from nearkin.errors import ParameterError
from nearkin.records import I64, Bool
from nearkin.stages.differences.relations import MemberComparison
from nearkin.store.bulk import in_slices
from nearkin.store.schema import contents, documents, loads, waves
from nearkin.tabular import AnswerRecord

MEMBERS_SCHEMA = pa.schema(
    columns(
        "group doc_id version wave n_characters is_principal is_proposed_principal jaccard relative_distance is_match "
        "is_new is_letters_only differs",
        nullable=False,
    )
)
"""Columns of members: the similarities are those to the principal, and ``differs`` is what differs from it; a member
that is no match is linked through others; ``is_new`` since the last call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Documents linked by matches.

    Parameters
    ----------
    number
        Permanent; never given to another group.
    principal
        Document that represents the group, in any version, as long as it is in the group; if a decision took it out and
        is undone, it is the principal again.
    proposed_principal
        Document with the most letters and digits, in a tie the earliest. None if that is the principal, or if a person
        chose the principal.
    n_chained
        Number of documents that do not match the principal; they are linked to it only through others.
    """

    number: int
    principal: str
    proposed_principal: str | None
    n_documents: int
    n_texts: int
    n_chained: int


class MemberRows:
    """Current documents of groups as columns, sorted by group, then by row."""

    def __init__(self, connection: Connection, membership: Membership) -> None:
        columns = (
            documents.c.row, documents.c.content, N_LETTERS, contents.c.n_characters, documents.c.version,
            documents.c.doc_id, waves.c.name,
        )  # fmt: skip
        query = select(*columns).select_from(documents.join(contents).join(loads).join(waves))
        rows = list[Any]()
        for block in in_slices(membership.contents.tolist()):
            rows += connection.execute(query.where(documents.c.content.in_(block) & documents.c.is_current)).all()
        numbers: I64 = np.array([row[:5] for row in rows], np.int64).reshape(-1, 5)
        of_group = membership.group_of(numbers[:, 1])
        order = np.lexsort((numbers[:, 0], of_group))
        self.group: I64 = of_group[order]
        self.row, self.content, self.n_letters, self.n_characters, self.version = numbers[order].T
        self.doc_id: list[str] = [rows[i][5] for i in order.tolist()]
        self.wave: list[str] = [rows[i][6] for i in order.tolist()]
        self.numbers, self.starts = np.unique(self.group, return_index=True)
        self.ends: I64 = np.append(self.starts[1:], len(self.group))
        self.longest: I64 = np.lexsort((-self.n_letters, self.group))[self.starts]


class ComparedMembers:
    """Members of groups with their similarity to the principal; what differs only if ``is_listed``."""

    def __init__(
        self,
        rows: MemberRows,
        principals: I64,
        chosen: Mapping[str, int],
        matching: Matching,
        measures: PairMeasures,
        *,
        is_listed: bool,
    ) -> None:
        self.rows, self.principals = rows, principals
        is_longer = rows.n_letters[rows.longest] > rows.n_letters[principals]
        is_chosen = np.isin(rows.numbers, list(places_of_chosen(rows.doc_id, rows.group, chosen)))
        self.proposed: I64 = np.where(is_longer & ~is_chosen, rows.longest, principals)  # nothing instead of a choice
        of_principals = rows.content[np.repeat(principals, rows.ends - rows.starts)]
        # before the similarities, which then need not read the texts again
        self.differs = measures.sets.differences(of_principals, rows.content) if is_listed else []
        self.similarities: Similarities = measures.of(of_principals, rows.content)
        self.is_match: Bool = matching.is_match(self.similarities)

    def groups(self) -> Iterator[Group]:
        """Yield the groups by number."""
        rows, bounds = self.rows, zip(self.rows.starts, self.rows.ends)
        places = zip(self.principals.tolist(), self.proposed.tolist())
        for number, (start, end), (principal, proposed) in zip(rows.numbers.tolist(), bounds, places):
            yield Group(
                number=number,
                principal=rows.doc_id[principal],
                proposed_principal=rows.doc_id[proposed] if proposed != principal else None,
                n_documents=int(end - start),
                n_texts=len(np.unique(rows.content[start:end])),
                n_chained=int((~self.is_match[start:end]).sum()),
            )

    def table(self, tolerance: Tolerance, is_new: Bool) -> pa.Table:
        """Return the members with `MEMBERS_SCHEMA`: the principal of each group, then the most similar."""
        rows, similarities = self.rows, self.similarities
        is_principal, is_proposed = np.zeros((2, len(rows.row)), np.bool_)
        is_principal[self.principals] = True
        is_proposed[self.proposed] = True
        order = np.lexsort((rows.row, similarities.relative_distance, -similarities.jaccard, ~is_principal, rows.group))
        columns = [
            rows.group[order], [rows.doc_id[i] for i in order.tolist()], rows.version[order],
            [rows.wave[i] for i in order.tolist()], rows.n_characters[order],
            is_principal[order], (is_proposed & ~is_principal)[order],
            similarities.jaccard[order], similarities.relative_distance[order], self.is_match[order], is_new[order],
            [is_letters_only(jaccard, tolerance) for jaccard in similarities.jaccard[order].tolist()],
            [self.differs[i] for i in order.tolist()],
        ]  # fmt: skip
        arrays = [pa.array(column, kind.type) for column, kind in zip(columns, MEMBERS_SCHEMA, strict=True)]
        return pa.Table.from_arrays(arrays, schema=MEMBERS_SCHEMA)


def stored_compared(
    collection: OpenedCollection,
    seen: Snapshot,
    tolerance: Tolerance,
    numbers: Sequence[int] | None = None,
    *,
    is_listed: bool = True,
) -> ComparedMembers:
    """Compare the members of some stored groups, by default of all, with their principals."""
    connection, state = seen.connection, GroupState.known(seen.connection, str(tolerance))
    membership = state.membership if numbers is None else state.membership.in_groups(numbers)
    rows = MemberRows(connection, membership)
    shown = shown_principals(connection, state, rows.numbers.tolist())
    by_row = np.argsort(rows.row)
    wanted = [shown[number].row for number in rows.numbers.tolist()]
    principals = by_row[np.searchsorted(rows.row, wanted, sorter=by_row)]
    matching, measures = matching_of(connection, collection.counting, seen.segments, tolerance)
    return ComparedMembers(rows, principals, chosen_principals(connection), matching, measures, is_listed=is_listed)


def stored_members(collection: OpenedCollection, tolerance: Tolerance) -> pa.Table:
    """Return the members of the stored groups, with `MEMBERS_SCHEMA`; no member is new."""

    def ask(seen: Snapshot) -> pa.Table:
        if GroupState.known(seen.connection, str(tolerance)).number is None:
            raise ParameterError(f"The groups {tolerance.in_words()} are not computed yet.")
        compared = stored_compared(collection, seen, tolerance)
        table = compared.table(tolerance, np.zeros(len(compared.rows.row), np.bool_))
        alone = compared.rows.numbers[compared.rows.ends - compared.rows.starts < 2]  # the others were removed since
        return table.filter(pa.array(~np.isin(table["group"].to_numpy(), alone)))

    return collection.answered(ask)


MAX_COMPARED = 5_000
"""Maximum number of documents of a page that are compared with their principals, which takes a fifth of a second."""


def compared_groups(
    collection: OpenedCollection, tolerance: Tolerance, sizes: Sequence[tuple[int, int]]
) -> dict[int, Group]:
    """Return a page of stored groups, given by number and size; those beyond `MAX_COMPARED` documents are omitted."""
    chosen, n_left = list[int](), MAX_COMPARED
    for number, n_documents in sizes:
        if n_documents <= n_left:
            chosen.append(number)
            n_left -= n_documents
    if not chosen:
        return {}
    compared = collection.answered(lambda seen: stored_compared(collection, seen, tolerance, chosen, is_listed=False))
    return {group.number: group for group in compared.groups()}


_CHARACTERS_A_SECOND = 400_000
"""Careful estimate of the characters of two texts that are aligned in a second."""
_A_LOT = 1 << 16
"""Number of characters of members that are compared at a time, if there is a time limit."""
_A_SIDE = 2_000
"""Number of characters of one-sided text that are kept of each side of a member."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMember(AnswerRecord):
    """A document of a group, compared with the principal.

    Parameters
    ----------
    is_match
        Whether it matches the principal; otherwise it is linked to it through others.
    is_letters_only
        Whether its letters are like the principal's, and its wording is not.
    """

    hidden = ("added", "lacked")
    computed = ("passages_added", "passages_lacked")

    document: StoredDocument
    jaccard: float
    relative_distance: float
    is_principal: bool
    is_match: bool
    is_same_text: bool
    is_letters_only: bool
    differs: str
    relation: str
    tags: Mapping[str, str]
    n_words_added: int | None = None
    n_words_lacked: int | None = None
    n_words_moved: int | None = None
    added: OneSidedPassages | None = None
    lacked: OneSidedPassages | None = None

    @property
    def passages_added(self) -> tuple[str, ...]:
        """Passages of ``added``."""
        return () if self.added is None else self.added.passages

    @property
    def passages_lacked(self) -> tuple[str, ...]:
        """Passages of ``lacked``."""
        return () if self.lacked is None else self.lacked.passages

    @property
    def has_relation(self) -> bool:
        """Whether its wording is compared with the principal's."""
        return not (self.is_principal or self.is_same_text or self.is_letters_only)

    @property
    def is_left(self) -> bool:
        """Whether its wording was not compared yet."""
        return self.has_relation and not self.relation


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMembers(AnswerRecord):
    """A page of the members of a stored group: the principal first, then the most similar.

    Parameters
    ----------
    n_shown, n_left
        Number of distinct texts, the shortest first, before the first one whose relation is missing; of those missing.
    """

    hidden = ("n_shown", "n_left")
    computed = ("principal=principal.document.doc_id",)

    number: int
    tolerance: Tolerance
    members: tuple[GroupMember, ...]
    n_documents: int
    note: str | None
    proposed_principal: str | None
    n_indirect: int
    n_shown: int = 0
    n_left: int = 0

    @property
    def principal(self) -> GroupMember:
        """The member that represents the group."""
        return self.members[0]


def group_members(
    collection: OpenedCollection,
    number: int,
    tolerance: Tolerance,
    *,
    limit: int = 200,
    within_s: float | None = None,
    n_shown: int | None = None,
) -> GroupMembers:
    """Compare the members of a stored group with its principal.

    Parameters
    ----------
    n_shown
        `GroupMembers.n_shown` of the call before, which this one continues: it computes at least one relation.
    """
    answer = collection.answered(lambda seen: _compared(collection, seen, number, tolerance, limit))
    lengths = {
        member.document.content: member.document.n_characters for member in answer.members if member.has_relation
    }
    principal = answer.principal.document.content
    by_length = sorted(lengths, key=lambda content: lengths[content])[n_shown or 0 :]
    pairs = [(principal, content) for content in by_length]
    ends = None if within_s is None else time.monotonic() + within_s
    related = {pair[1]: text.comparison for pair, text in relations_of(collection, pairs, max_new=0)}
    missing = [pair for pair in pairs if pair[1] not in related]
    sizes = ((pair, lengths[pair[1]]) for pair in missing)
    for i, lot in enumerate([missing] if ends is None else in_lots(sizes, most=_A_LOT)):
        n_characters = sum(answer.principal.document.n_characters + lengths[content] for _, content in lot)
        is_first = n_shown is not None and i == 0
        if ends is not None and not is_first and time.monotonic() + n_characters / _CHARACTERS_A_SECOND > ends:
            break
        related |= {pair[1]: text.comparison for pair, text in relations_of(collection, lot)}
    n_more = next((i for i, content in enumerate(by_length) if content not in related), len(by_length))
    left = set(by_length) - related.keys()
    return replace(
        answer,
        members=tuple(_with_relation(member, related.get(member.document.content)) for member in answer.members),
        n_shown=(n_shown or 0) + n_more,
        n_left=sum(member.document.content in left for member in answer.members),
    )


def with_tags_now(connection: Connection, answer: GroupMembers) -> GroupMembers:
    """Return the members with their tags and the note of the group as they are now."""
    tags = tags_of(connection, [member.document.doc_id for member in answer.members])
    members = tuple(replace(member, tags=tags.get(member.document.doc_id, {})) for member in answer.members)
    note = GROUP_NOTE, str(answer.tolerance), str(answer.number)
    return replace(answer, members=members, note=values_of(connection, [note]).get(note))


def _with_relation(member: GroupMember, comparison: MemberComparison | None) -> GroupMember:
    if comparison is None or not member.has_relation:
        return member
    added, lacked = (side(member.document.doc_id, comparison) for side in (passages_added, passages_lacked))
    measured = comparison.judgement.measured
    moved_there, moved_here = (
        (0, 0) if comparison.one_sided is None else [member.n_words_moved for member in comparison.one_sided]
    )
    return replace(
        member,
        relation=comparison.judgement.relation,
        n_words_added=measured.n_words_only_in_member - moved_here,
        n_words_lacked=measured.n_words_only_in_principal - moved_there,
        n_words_moved=moved_here,
        added=None if added is None else added.shortened(_A_SIDE),
        lacked=None if lacked is None else lacked.shortened(_A_SIDE),
    )


def _compared(
    collection: OpenedCollection, seen: Snapshot, number: int, tolerance: Tolerance, limit: int
) -> GroupMembers:
    connection = seen.connection
    members_of(connection, number, str(tolerance))  # refuses a group that is not there
    compared = stored_compared(collection, seen, tolerance, [number])
    (group,) = compared.groups()
    table = compared.table(tolerance, np.zeros(group.n_documents, np.bool_)).slice(0, limit)
    rows = table.to_pylist()
    versions = documents_by_row(connection, documents.c.doc_id, table["doc_id"].to_pylist()).values()
    stored = {version.doc_id: version for version in versions if version.is_current}
    content = stored[group.principal].content
    copies = {doc_id for doc_id, record in stored.items() if record.content == content and doc_id != group.principal}
    tags, note = tags_of(connection, list(stored)), (GROUP_NOTE, str(tolerance), str(number))
    return GroupMembers(
        number=number,
        tolerance=tolerance,
        members=tuple(
            GroupMember(
                document=stored[row["doc_id"]],
                is_same_text=row["doc_id"] in copies,
                relation="same text" if row["doc_id"] in copies else "",
                differs=row["differs"],
                tags=tags.get(row["doc_id"], {}),
                **{
                    name: row[name]
                    for name in ("jaccard", "relative_distance", "is_principal", "is_match", "is_letters_only")
                },
            )
            for row in rows
        ),
        n_documents=group.n_documents,
        note=values_of(connection, [note]).get(note),
        proposed_principal=group.proposed_principal,
        n_indirect=group.n_chained,
    )
