"""Sentences of ``nearkin groups --since``: the changes of each group since a wave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from nearkin.nouns import agreeing, counted, first_of, wave_text
from nearkin.reports.sentences.browsing import minute
from nearkin.reports.sentences.sentence import Sentence, not_shown

if TYPE_CHECKING:
    from nearkin.collection.groups.since import ChangeKind, GroupChangeSince, GroupsSince

_N_NAMED = 3
_TO_LOOK_AT: Mapping[ChangeKind, str] = {
    "new": "new",
    "joined": "that joined a group",
    "new version": "with a new version",
    "moved": "that moved to another group",
    "left": "that left a group",
    "removed": "removed",
    "principal": "with another role",
}
"""Documents with each kind of change; a document whose text changed can join a group, too."""


def groups_since_sentences(found: GroupsSince, n_shown: int) -> Iterator[Sentence]:
    """Count the changed groups and those that are shown, and name the compared groupings."""
    n_new = sum(one.is_new for one in found.changes)
    n_dissolved = sum(one.is_dissolved for one in found.changes)
    more = len(found.changes) - n_shown
    then, now = minute(found.grouped_then), minute(found.grouped_now)
    if then == now:  # the seconds tell them apart
        then, now = (one.replace("T", " ")[:19] for one in (found.grouped_then, found.grouped_now))
    yield Sentence(
        f" since {wave_text(found.wave)} (texts {found.tolerance.in_words()}): {n_new:,} new, "
        f"{len(found.changes) - n_new - n_dissolved:,} changed, {n_dissolved:,} dissolved"
        + f"; {not_shown(f'{more:,} more')}"
        * (more > 0),
        strong=f"{counted(len(found.changes), 'group')} with changes",
    )
    yield Sentence(
        f"{counted(found.n_groups_were, 'group')} after {wave_text(found.wave)} ({then} UTC), {found.n_groups:,} now "
        f"({now} UTC)",
        "quiet",
    )
    if n := found.n_later_loads:
        yield Sentence(
            f"{counted(n, 'load')} of this wave came after these groups; {agreeing(n, 'its', 'their')} documents "
            "are listed as changes.",
        )
    late = [
        counted(found.n_not_grouped - found.n_new_versions, "new document"),
        counted(found.n_new_versions, "new version"),
        f"{counted(found.n_removed, 'member')} removed",
        f"{counted(found.n_decisions, 'decision')} made or undone",
    ]
    counts = found.n_not_grouped - found.n_new_versions, found.n_new_versions, found.n_removed, found.n_decisions
    if any(counts):
        told = ", ".join(words for n, words in zip(counts, late, strict=True) if n)
        yield Sentence(
            f"Not included, because the groups were not updated since: {told}. To include "
            f"{agreeing(sum(counts), 'it', 'them')}: nearkin groups COLLECTION{found.tolerance.of_groups()}",
            "warning",
        )


def to_look_at_words(found: GroupsSince) -> str:
    """Count the documents with a change by kind: ``3 documents to look at: 1 new, 2 that joined a group``."""
    known = {doc_id for one in found.changes for doc_id in one.known_documents}
    rows = zip(found.documents["doc_id"].to_pylist(), found.documents["change"].to_pylist(), strict=True)
    n = Counter("joined" if change == "new" and doc_id in known else change for doc_id, change in rows)
    kinds = ", ".join(f"{n[kind]:,} {words}" for kind, words in _TO_LOOK_AT.items() if n[kind])
    return f"{counted(n.total(), 'document')} to look at{': ' * bool(kinds)}{kinds}"


def change_words(change: GroupChangeSince) -> str:
    """Describe the changes of a group."""
    said = list[str]()
    is_renumbered = change.is_new and len(change.merged) == 1 and not change.split_from
    if change.is_new:
        said.append("new number" if is_renumbered else "new group")
    if change.is_dissolved:
        said.append("dissolved")
    if change.merged:
        how = "was" if is_renumbered else "made of" if change.is_new else "merged with"
        said.append(f"{how} {_groups(change.merged)}")
    if change.split_from:
        said.append(f"{'split' if change.is_new else 'members'} from {_groups(change.split_from)}")
    for doc_ids, words in (
        ([one for one in change.new_documents if one not in change.known_documents], "added"),
        (change.known_documents, "joined after its text changed"),
        (change.joined_documents, "joined"),
        (change.moved_documents, "moved to it"),
        (change.new_versions, "new version"),
        (change.changed_documents, "left after its text changed"),
        ([one for one in change.left_documents if one not in change.changed_documents], "no longer in it"),
        (change.moved_away, "moved to another group"),
        (change.removed_documents, "removed"),
    ):
        if doc_ids:
            said.append(_named(doc_ids, words))
    if change.has_new_principal:
        said.append(f"principal was {change.principal_was}")
    return "; ".join(said) or "members moved to another group"


def reason_words(
    row: Mapping[str, object], new_groups: Container[object], changed_documents: Container[object] = ()
) -> str:
    """Give the reason why a document should be looked at.

    Parameters
    ----------
    row : mapping
        Row of `GroupsSince.documents`.
    new_groups : container of int
        Numbers of the groups that are new.
    changed_documents : container of str
        New documents of groups that were stored with another text before, and documents that left with another text.

    Examples
    --------
    >>> row = {"change": "moved", "group_was": 2, "group": 3, "was_principal": True, "is_principal": False}
    >>> reason_words(row, [3])
    'moved from group 2, whose principal it was, to the new group 3'
    >>> reason_words(row | {"change": "left", "group": None, "doc_id": "a"}, [], {"a"})
    'its text changed: no longer in group 2, whose principal it was'
    """
    now = f"{'the new group' if row['group'] in new_groups else 'group'} {row['group']}"
    was = f"group {row['group_was']}" + ", whose principal it was" * bool(row["was_principal"])
    if row["change"] == "principal":
        return f"now the principal of {now}" if row["is_principal"] else f"no longer the principal of {now}"
    if row["change"] == "new" and row.get("doc_id") in changed_documents:
        return f"its text changed: was in no group, is now in {now}" + _if_principal(row, new_groups)
    if row["change"] == "left" and row.get("doc_id") in changed_documents:
        return f"its text changed: no longer in {was}"
    words = {
        "new": f"new document in {now}",
        "joined": f"was in no group, is now in {now}",
        "new version": f"new version in {now}",
        "moved": f"moved from {was}{',' * bool(row['was_principal'])} to {now}",
        "left": f"no longer in {was}",
        "removed": f"removed from the collection and from {was}",
    }[str(row["change"])]
    return words + _if_principal(row, new_groups)


def _if_principal(row: Mapping[str, object], new_groups: Container[object]) -> str:
    """Add that a document is the new principal of a group that existed before."""
    is_new_principal = row["is_principal"] and not row["was_principal"] and row["group"] not in new_groups
    return "; now its principal" * bool(is_new_principal)


def _groups(numbers: Sequence[int]) -> str:
    return ", ".join(f"group {n}" for n in numbers)


def _named(doc_ids: Sequence[str], words: str) -> str:
    return f"{words}: {first_of(doc_ids[:_N_NAMED], _N_NAMED, len(doc_ids))}"
