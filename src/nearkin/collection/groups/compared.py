"""Members of groups, compared with the principal of their group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from sqlalchemy import Connection, select

from nearkin.collection.decisions.principals import N_LETTERS, chosen_principals, places_of_chosen, shown_principals
from nearkin.collection.groups.grouping import Membership
from nearkin.collection.matching.matches import Matching, PairMeasures, Similarities, matching_of
from nearkin.collection.opened import OpenedCollection, Snapshot
from nearkin.collection.stored.group_state import GroupState
from nearkin.collection.tolerance import Tolerance, is_letters_only
from nearkin.errors import ParameterError
from nearkin.records import I64, Bool
from nearkin.store.bulk import in_slices
from nearkin.store.schema import contents, documents, loads, waves

MEMBERS_SCHEMA = pa.schema(
    [
        pa.field("group", pa.int64(), nullable=False),
        pa.field("doc_id", pa.large_string(), nullable=False),
        pa.field("version", pa.int32(), nullable=False),
        pa.field("wave", pa.large_string(), nullable=False),
        pa.field("n_characters", pa.int64(), nullable=False),
        pa.field("is_principal", pa.bool_(), nullable=False),
        pa.field("is_proposed_principal", pa.bool_(), nullable=False),
        pa.field("jaccard", pa.float64(), nullable=False),  # of the word 5-grams, with the principal
        pa.field("relative_distance", pa.float64(), nullable=False),  # of the letter counts
        pa.field("is_match", pa.bool_(), nullable=False),  # of the principal; otherwise linked through others
        pa.field("is_new", pa.bool_(), nullable=False),  # since the last call
        pa.field("is_letters_only", pa.bool_(), nullable=False),  # letters like the principal's, wording not
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Documents linked by matches.

    Parameters
    ----------
    number : int
        Permanent number; never given to another group.
    principal : str
        Document that represents the group. It stays the principal, in any version, as long as it is in the group; if a
        decision took it out and is undone, it is the principal again.
    proposed_principal : str or None
        Suggestion of a better principal: the document with the most letters and digits, in a tie the earliest. None if
        that is the principal, or if a person chose the principal.
    n_documents : int
    n_texts : int
        Number of distinct texts.
    n_chained : int
        Number of documents that do not match the principal; they are linked to it only through other documents.
    """

    number: int
    principal: str
    proposed_principal: str | None
    n_documents: int
    n_texts: int
    n_chained: int


class MemberRows:
    """Current documents with the contents of groups, as columns sorted by group, then by row.

    Attributes
    ----------
    row, group, content, n_letters, n_characters, version : int64 arrays, shape (n_documents,)
    doc_id, wave : list of str
    numbers, starts, ends : int64 arrays, shape (n_groups,)
        Number of each group, and the places of its first document and behind its last one.
    longest : int64 array, shape (n_groups,)
        Place of the document of each group with the most letters and digits; in a tie, the one stored first.
    """

    def __init__(self, connection: Connection, membership: Membership) -> None:
        columns = (
            documents.c.row, documents.c.content, N_LETTERS, contents.c.n_characters, documents.c.version,
            documents.c.doc_id, waves.c.name,
        )  # fmt: skip
        query = select(*columns).select_from(documents.join(contents).join(loads).join(waves))
        found = list[Any]()
        for some in in_slices(membership.contents.tolist()):
            found += connection.execute(query.where(documents.c.content.in_(some) & documents.c.is_current)).all()
        numbers: I64 = np.array([row[:5] for row in found], np.int64).reshape(-1, 5)
        of_group = membership.group_of(numbers[:, 1])
        order = np.lexsort((numbers[:, 0], of_group))
        self.group: I64 = of_group[order]
        self.row, self.content, self.n_letters, self.n_characters, self.version = numbers[order].T
        self.doc_id: list[str] = [found[i][5] for i in order.tolist()]
        self.wave: list[str] = [found[i][6] for i in order.tolist()]
        self.numbers, self.starts = np.unique(self.group, return_index=True)
        self.ends: I64 = np.append(self.starts[1:], len(self.group))
        self.longest: I64 = np.lexsort((-self.n_letters, self.group))[self.starts]


class ComparedMembers:
    """Members of groups with their similarity to the principal.

    Parameters
    ----------
    rows : MemberRows
    principals : int64 array, shape (n_groups,)
        Places of the principals.
    chosen : mapping of str to int
        Documents that people chose as principals.
    matching, measures
        See `nearkin.collection.matching.matches`.

    Attributes
    ----------
    proposed : int64 array, shape (n_groups,)
        Places of the proposed principals; that of the principal if no other is proposed.
    similarities : Similarities
    is_match : bool array, shape (n_documents,)
    """

    def __init__(
        self, rows: MemberRows, principals: I64, chosen: Mapping[str, int], matching: Matching, measures: PairMeasures
    ) -> None:
        self.rows, self.principals = rows, principals
        is_longer = rows.n_letters[rows.longest] > rows.n_letters[principals]
        is_chosen = np.isin(rows.numbers, list(places_of_chosen(rows.doc_id, rows.group, chosen)))
        self.proposed: I64 = np.where(is_longer & ~is_chosen, rows.longest, principals)  # nothing instead of a choice
        of_principals = rows.content[np.repeat(principals, rows.ends - rows.starts)]
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
        """Return a row for each member, with `MEMBERS_SCHEMA`: the principal of each group, then the most similar."""
        rows, found = self.rows, self.similarities
        is_principal, is_proposed = np.zeros((2, len(rows.row)), np.bool_)
        is_principal[self.principals] = True
        is_proposed[self.proposed] = True
        order = np.lexsort((rows.row, found.relative_distance, -found.jaccard, ~is_principal, rows.group))
        columns = [
            rows.group[order], [rows.doc_id[i] for i in order.tolist()], rows.version[order],
            [rows.wave[i] for i in order.tolist()], rows.n_characters[order],
            is_principal[order], (is_proposed & ~is_principal)[order],
            found.jaccard[order], found.relative_distance[order], self.is_match[order], is_new[order],
            [is_letters_only(jaccard, tolerance) for jaccard in found.jaccard[order].tolist()],
        ]  # fmt: skip
        arrays = [pa.array(column, kind.type) for column, kind in zip(columns, MEMBERS_SCHEMA, strict=True)]
        return pa.Table.from_arrays(arrays, schema=MEMBERS_SCHEMA)


def stored_compared(
    collection: OpenedCollection, seen: Snapshot, tolerance: Tolerance, numbers: Sequence[int] | None = None
) -> ComparedMembers:
    """Compare the members of some stored groups with their principals, by default of all groups."""
    connection, state = seen.connection, GroupState.known(seen.connection, str(tolerance))
    is_wanted = np.isin(state.member_groups, state.member_groups if numbers is None else numbers)
    rows = MemberRows(connection, Membership(state.member_contents[is_wanted], state.member_groups[is_wanted]))
    shown = shown_principals(connection, state, rows.numbers.tolist())
    by_row = np.argsort(rows.row)
    wanted = [shown[number].row for number in rows.numbers.tolist()]
    principals = by_row[np.searchsorted(rows.row, wanted, sorter=by_row)]
    matching, measures = matching_of(connection, collection.counting, seen.segments, tolerance)
    return ComparedMembers(rows, principals, chosen_principals(connection), matching, measures)


def stored_members(collection: OpenedCollection, tolerance: Tolerance) -> pa.Table:
    """Return the members of the stored groups, with `MEMBERS_SCHEMA`; no member is new.

    Raises
    ------
    ParameterError
        No groups are stored at this tolerance.
    """

    def ask(seen: Snapshot) -> pa.Table:
        if GroupState.known(seen.connection, str(tolerance)).number is None:
            raise ParameterError(f"The groups {tolerance.in_words()} are not computed yet.")
        found = stored_compared(collection, seen, tolerance)
        table = found.table(tolerance, np.zeros(len(found.rows.row), np.bool_))
        alone = found.rows.numbers[found.rows.ends - found.rows.starts < 2]  # the others were removed since
        return table.filter(pa.array(~np.isin(table["group"].to_numpy(), alone)))

    return collection.answered(ask)


MAX_COMPARED = 5_000
"""Maximum number of documents of a page that are compared with their principals, which takes a fifth of a second."""


def compared_groups(
    collection: OpenedCollection, tolerance: Tolerance, sizes: Sequence[tuple[int, int]]
) -> dict[int, Group]:
    """Return the stored groups of a page with their proposed principals and indirect members.

    Parameters
    ----------
    collection : OpenedCollection
    tolerance : Tolerance
    sizes : sequence of (int, int)
        Number and number of documents of each group; groups beyond `MAX_COMPARED` documents are omitted.
    """
    chosen, n_left = list[int](), MAX_COMPARED
    for number, n_documents in sizes:
        if n_documents <= n_left:
            chosen.append(number)
            n_left -= n_documents
    if not chosen:
        return {}
    found = collection.answered(lambda seen: stored_compared(collection, seen, tolerance, chosen))
    return {group.number: group for group in found.groups()}
