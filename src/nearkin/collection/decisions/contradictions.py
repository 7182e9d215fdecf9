"""Contradictions among decisions on groups, found when a decision is made and when groups are computed."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection

from nearkin.collection.decisions.log import NEVER_GROUP, SAME_GROUP, SettingChange, current_decisions
from nearkin.collection.stored.documents import current_rows
from nearkin.errors import ParameterError
from nearkin.store.schema import changes as changes_table
from nearkin.store.schema import documents

_OF_GROUPS = (NEVER_GROUP, SAME_GROUP)
DocumentPair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class PairDecisions:
    """Decisions on pairs of documents.

    Parameters
    ----------
    same, never
        The pairs, each with the number of its activity; None: it is being decided.
    leaving
        The document that leaves, for those pairs of ``never`` of which one was split off.
    """

    same: Mapping[DocumentPair, int | None]
    never: Mapping[DocumentPair, int | None]
    content_of: Mapping[str, int]
    leaving: Mapping[DocumentPair, str] = field(default_factory=dict)

    @classmethod
    def read(cls, connection: Connection, changes: Iterable[SettingChange] = ()) -> PairDecisions:
        """Read the current decisions, with some changes applied."""
        kinds: dict[str, dict[DocumentPair, int | None]] = {kind: {} for kind in _OF_GROUPS}
        leaving = dict[DocumentPair, str]()
        for (kind, *pair), value, activity in current_decisions(connection, changes_table.c.kind.in_(_OF_GROUPS)):
            kinds[kind][pair[0], pair[1]] = activity
            if kind == NEVER_GROUP and value in pair:
                leaving[pair[0], pair[1]] = value
        for row in changes:
            if row.kind in kinds and row.now is None:
                kinds[row.kind].pop((row.subject, row.other), None)
            elif row.kind in kinds:
                kinds[row.kind][row.subject, row.other] = None
        doc_ids = sorted({doc_id for pairs in kinds.values() for pair in pairs for doc_id in pair})
        content_of = {row.doc_id: row.content for row in current_rows(connection, documents.c.doc_id, doc_ids)}
        return cls(kinds[SAME_GROUP], kinds[NEVER_GROUP], content_of, leaving)

    def refuse_contradictions(self, *, added_only: bool = False) -> None:
        """Refuse decisions that contradict each other.

        Parameters
        ----------
        added_only
            Accept contradictions that hold without the decisions that are being made.
        """
        links = [(a, b, f"{SAME_GROUP} {a!r} {b!r} {_numbered(number)}") for (a, b), number in self.same.items()]
        alike = self._alike()
        apart = list(self.never)
        if added_only:
            earlier = [pair for pair, number in self.same.items() if number is not None]
            lead = _united([*earlier, *alike])
            apart = [(a, b) for a, b in apart if self.never[a, b] is None or lead(a) != lead(b)]
        lead = _united([*self.same, *alike])
        for a, b in apart:
            if lead(a) == lead(b):
                links += [(doc_id, other, f"{doc_id!r} and {other!r} have the same text") for doc_id, other in alike]
                raise ParameterError(self._contradiction(a, b, _path(links, a, b)))

    def _contradiction(self, a: str, b: str, reasons: Sequence[str]) -> str:
        """Describe a contradiction, and how to undo a decision if one of them is stored."""
        number, joined = self.never[a, b], "; ".join(reasons)
        decided = f"{NEVER_GROUP} {a!r} {b!r} {_numbered(number)}"
        if number is None and not any(reason.startswith(SAME_GROUP) for reason in reasons):
            return f"{decided}, but {joined}: documents with the same text are always in one group"
        return f"Decisions contradict one another: {decided}, but {joined}. Undo one of them."

    def _alike(self) -> list[DocumentPair]:
        first = dict[int, str]()
        both = [(first.setdefault(content, doc_id), doc_id) for doc_id, content in self.content_of.items()]
        return [(earlier, other) for earlier, other in both if earlier != other]


def refuse_contradicting(connection: Connection, changes: Sequence[SettingChange]) -> None:
    """Refuse changes that add a decision on two documents which contradicts others."""
    if any(change.kind in _OF_GROUPS and change.now is not None for change in changes):
        PairDecisions.read(connection, changes).refuse_contradictions(added_only=True)


def _united(pairs: Iterable[DocumentPair]) -> Callable[[str], str]:
    """Return a function that maps all documents that pairs link, directly or through others, to one representative."""
    leads = dict[str, str]()

    def lead(doc_id: str) -> str:
        while (above := leads.get(doc_id, doc_id)) != doc_id:
            leads[doc_id] = leads.get(above, above)  # a shorter way for the next one
            doc_id = above
        return doc_id

    for a, b in pairs:
        leads[lead(a)] = lead(b)
    return lead


def _numbered(number: int | None) -> str:
    return "(this decision)" if number is None else f"(activity {number})"


def _path(links: Iterable[tuple[str, str, str]], a: str, b: str) -> list[str]:
    """Return the shortest chain of reasons why two linked documents belong together."""
    near = dict[str, list[tuple[str, str]]]()
    for doc_id, other, reason in links:
        near.setdefault(doc_id, []).append((other, reason))
        near.setdefault(other, []).append((doc_id, reason))
    came_from, waiting = {a: (a, "")}, deque([a])
    while b not in came_from:
        here = waiting.popleft()
        for there, reason in near[here]:
            if there not in came_from:
                came_from[there] = here, reason
                waiting.append(there)
    reasons = list[str]()
    while b != a:
        b, reason = came_from[b]
        reasons.append(reason)
    return reasons[::-1]
