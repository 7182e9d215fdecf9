"""Sentences of ``nearkin groups``: the groups of a collection, and their changes, also since a wave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from nearkin.collection.tolerance import LETTERS_ONLY, THRESHOLD, Tolerance
from nearkin.nouns import agreeing, counted, first_of, wave_text
from nearkin.reports.quantities import minute, recall_at_text
from nearkin.reports.sentences.sentence import Sentence, not_shown

if TYPE_CHECKING:
    from nearkin.collection.groups.changes import GroupChange
    from nearkin.collection.groups.current import CollectionGroups
    from nearkin.collection.groups.since import ChangeKind, GroupChangeSince, GroupsSince


_MAX_CHANGES = 20
_SMALL = 10


def groups_sentences(
    found: CollectionGroups, n_shown: int, *, is_direct: bool = False, has_choice: bool = False
) -> Iterator[Sentence]:
    """Count all groups and the shown ones, name the groups to look at, and describe the changes since the last call.

    With ``is_direct``, the members that match their principal are listed instead of the groups. With ``has_choice``, a
    principal was chosen in this call, which is reported before.
    """
    more = 0 if is_direct else len(found.groups) - n_shown
    yield Sentence(
        f" (texts {found.tolerance.in_words()})" + (f"; {not_shown(counted(more, 'group'))}" * (more > 0)),
        strong=f"{counted(len(found.groups), 'group')} with {counted(len(found.members), 'document')}",
    )
    if found.n_indirect:
        n, of = found.n_indirect, len(found.members)
        omitted = agreeing(n, "It is omitted", "They are omitted")
        advice = f"{omitted} here" if is_direct else "The column is_match of --out marks them; --direct omits them"
        yield Sentence(
            f"{counted(n, 'member')} of {of:,} ({n / of:.0%}) {agreeing(n, 'does', 'do')} not match the principal, and "
            f"{agreeing(n, 'is', 'are')} linked only through other members. {advice}",
            "warning",
        )
    chains = [one for one in found.groups if 2 * one.n_chained > one.n_documents > _SMALL]
    if chains:
        yield Sentence(
            f"{len(chains):,} group{'s' * (len(chains) != 1)} of more than {_SMALL} documents, the largest of "
            f"{chains[0].n_documents:,}, {agreeing(len(chains), 'is', 'are')} linked mainly through chains; their "
            f"members may have little in common. Try {_stricter(found)}.",
            "warning",
        )
    n_proposed = sum(one.proposed_principal is not None for one in found.groups)
    if n_proposed:
        yield Sentence(
            f"{counted(n_proposed, 'group')} {agreeing(n_proposed, 'has', 'have')} a longer document that could be the "
            "principal: see is_proposed_principal in --out. --make-principal DOC_ID changes the principal",
            "warning",
        )
    if found.n_uncounted:
        yield Sentence(
            f"{counted(found.n_uncounted, 'document')} {without_units(found.tolerance)}: in no group"
            + "; nearkin info COLLECTION --uncounted lists them" * (found.tolerance.method == "range"),
            "warning",
        )
    yield from search_sentences(found.tolerance, found.n_not_compared)
    n_letters_only = sum(found.members["is_letters_only"].to_pylist())
    if n_letters_only:
        yield Sentence(
            f"{counted(n_letters_only, 'member')} of {counted(len(letters_only_groups(found)), 'group')}: "
            f"{LETTERS_ONLY} (Jaccard below {THRESHOLD:g} with the principal)",
            "warning",
        )
    if not found.is_first:
        yield from change_sentences(found, min(n_shown, _MAX_CHANGES), has_choice=has_choice)


def letters_only_groups(found: CollectionGroups) -> set[int]:
    """Return the numbers of the groups with a member of like letters but other wording than the principal."""
    members = found.members.select(["group", "is_letters_only"]).to_pylist()
    return {one["group"] for one in members if one["is_letters_only"]}


def search_sentences(tolerance: Tolerance, n_not_compared: int) -> Iterator[Sentence]:
    """State the expected recall of the pairs that link groups, and count the pairs of texts that were not compared.

    Examples
    --------
    >>> [str(one) for one in search_sentences(Tolerance.of("letters", gamma=0.05), 0)]
    ['Exact search: every pair of texts within gamma 0.05 is found']
    >>> (words,) = search_sentences(Tolerance.of("words", threshold=0.7), 0)
    >>> words.text.partition(". ")[0]
    'Expected recall of the pairs: 99.9% at Jaccard 0.7, higher above'
    """
    recall = tolerance.recall
    if recall == 1:
        yield Sentence(f"Exact search: every pair of texts within gamma {tolerance.value:g} is found")
    elif recall is not None:
        beside = ", without those not compared" * (n_not_compared > 0)
        at_threshold = recall_at_text(recall, tolerance.value, at="Jaccard ")
        yield Sentence(
            f"Expected recall of the pairs: {at_threshold}{beside}. To measure the recall of this search: nearkin "
            f"audit COLLECTION {tolerance.in_options()}"
        )
    if n_not_compared:
        yield not_compared_sentence(n_not_compared)


def not_compared_sentence(n_pairs: int) -> Sentence:
    """Count the pairs of texts that were not compared."""
    were = agreeing(n_pairs, "was", "were")
    return Sentence(
        f"{counted(n_pairs, 'pair')} of texts with similar signatures {were} not compared, to save time: either more "
        "similar pairs of the same two groups did not match, or a text has very many similar ones. If an omitted pair "
        "matches, its two groups should be one.",
        "warning",
    )


def _stricter(found: CollectionGroups) -> str:
    return "a smaller --gamma" if found.tolerance.method == "range" else "a higher --threshold"


def without_units(tolerance: Tolerance) -> str:
    """Say what documents lack that are not compared."""
    return "with too few letters" if tolerance.method == "range" else "without words to compare"


def later_words(n_documents: int, n_decisions: int) -> str:
    """Count what stored groups do not follow yet; empty if there is nothing.

    Examples
    --------
    >>> later_words(92, 0)
    '92 documents added or changed since the groups were updated'
    >>> later_words(1, 2)
    '1 document added or changed, and 2 decisions made or undone, since the groups were updated'
    """
    told = [f"{counted(n_documents, 'document')} added or changed"] * (n_documents > 0)
    told += [f"{counted(n_decisions, 'decision')} made or undone"] * (n_decisions > 0)
    return ", and ".join(told) + "," * (len(told) > 1) + " since the groups were updated" if told else ""


def later_sentences(n_documents: int, n_decisions: int) -> Iterator[Sentence]:
    """Warn that stored groups do not follow some documents or decisions yet, if there are any."""
    if said := later_words(n_documents, n_decisions):
        yield Sentence(f"{said}.", "warning")


def relation_words(relation: str, *, jaccard: float, is_same_text: bool, tolerance: Tolerance) -> str:
    """Return a relation of two members as pages show it: how exact a copy is, and whether the two match at all.

    Examples
    --------
    >>> alike = Tolerance.of(threshold=0.35)
    >>> for relation, jaccard in (("exact copy", 1.0), ("revised", 0.4), ("revised", 0.0), ("longer version", 0.2)):
    ...     print(relation_words(relation, jaccard=jaccard, is_same_text=False, tolerance=alike))
    exact copy (once normalised)
    revised
    no match
    longer version
    """
    if relation == "exact copy":
        return f"exact copy ({'same text' if is_same_text else 'once normalised'})"
    threshold = min(THRESHOLD, tolerance.value) if tolerance.method == "minhash" else THRESHOLD
    return "no match" if relation == "revised" and jaccard < threshold else relation


def change_sentences(
    found: CollectionGroups, n_shown: int = _MAX_CHANGES, *, has_choice: bool = False
) -> Iterator[Sentence]:
    """Describe the changes since the groups were last updated, and list the first of them."""
    since = f" (new documents in {', '.join(map(wave_text, found.new_waves))})" if found.new_waves else ""
    if not found.changes:
        yield Sentence(f"No {'other ' * has_choice}group changed since the last call{since}")
        return
    n_new = sum(one.is_new for one in found.changes)
    n_dissolved = sum(one.is_dissolved for one in found.changes)
    gone = f", {n_dissolved:,} dissolved" * (n_dissolved > 0)
    n_changed = len(found.changes) - n_new - n_dissolved
    yield Sentence(f"Since the last call{since}: {counted(n_new, 'new group')}, {n_changed:,} changed{gone}")
    telling = sorted(
        found.changes, key=lambda one: (not (one.merged or one.split_from or one.principal_was), one.is_new)
    )
    for one in telling[:n_shown]:
        yield Sentence(f"  group {one.number}: {_in_words(one)}")
    if len(telling) > n_shown:
        yield Sentence(f"  … {counted(len(telling) - n_shown, 'more change')}; --json lists all")


def family_group_sentences(found: CollectionGroups) -> Iterator[Sentence]:
    """State the expected recall of the groups of a collection, and describe the changes since last time."""
    yield from search_sentences(found.tolerance, found.n_not_compared)
    if not found.is_first:
        yield from change_sentences(found)


def _in_words(change: GroupChange) -> str:
    if change.is_dissolved:
        said = ["dissolved; no two of its documents are in one group any more"]
        if changed := [one for one in change.gone_documents if one not in change.removed_documents]:
            said.append(f"text changed: {_first(changed)}")
        if change.removed_documents:
            said.append(f"removed: {_first(change.removed_documents)}")
        return "; ".join(said)
    said = []
    if change.is_new:
        said.append("new")
    if change.merged:
        how = "made of" if change.is_new else "merged with"
        said.append(f"{how} {', '.join(f'group {n}' for n in change.merged)}")
    if change.split_from:
        said.append(f"split from {', '.join(f'group {n}' for n in change.split_from)}")
    if new := [doc_id for doc_id in change.new_documents if doc_id not in change.known_documents]:
        said.append(f"{counted(len(new), 'new document')} ({_first(new)})")
    if known := change.known_documents:
        words = "document with a new version", "documents with new versions"
        said.append(f"{counted(len(known), *words)} ({_first(known)})")
    if change.moved_documents:
        said.append(f"{_first(change.moved_documents)} moved to it")
    if change.joined_documents:
        said.append(f"{_first(change.joined_documents)} joined")
    if change.new_versions:
        said.append(f"{agreeing(len(change.new_versions), 'new version')} of {_first(change.new_versions)}")
    if left := [doc_id for doc_id in change.left_documents if doc_id != change.principal_was]:
        said.append(f"{_first(left)} {agreeing(len(left), 'is', 'are')} no longer in any group")
    gone = [doc_id for doc_id in change.gone_documents if doc_id != change.principal_was]
    if elsewhere := [doc_id for doc_id in gone if doc_id not in change.removed_documents]:
        are, texts = agreeing(len(elsewhere), "is", "are"), agreeing(len(elsewhere), "its text", "their texts")
        said.append(f"{_first(elsewhere)} {are} no longer in it, because {texts} changed")
    if removed := [doc_id for doc_id in gone if doc_id in change.removed_documents]:
        said.append(f"removed: {_first(removed)}")
    if change.n_lost and not change.gone_documents:
        said.append(f"{counted(change.n_lost, 'text')} no longer in it")
    if change.principal_was is not None:
        is_in_none = change.principal_was in change.left_documents
        now = ", nor in another group" if is_in_none else ""
        said.append(f"its former principal {change.principal_was} is no longer in it{now}")
    if change.principal_again is not None:
        again = ", which was a principal before" if change.is_new else " again"
        said.append(f"its principal is {change.principal_again}{again}")
    elif change.principal_chosen is not None:
        said.append(f"its principal is now {change.principal_chosen}")
    return "; ".join(said)


def _first(doc_ids: Sequence[str]) -> str:
    return first_of(doc_ids, 3)


def not_compared_sentences(n_groups: int, max_compared: int, tolerance: Tolerance) -> Iterator[Sentence]:
    """Say why a page has no indirect members of some groups, and which command has them.

    Examples
    --------
    >>> from nearkin.collection.tolerance import Tolerance
    >>> print(*not_compared_sentences(1, 50_000, Tolerance.of(gamma=0.1)))
    Indirect members and proposed principals of 1 group are not shown: a page compares at most 50,000 documents with \
their principals. For all groups: nearkin groups COLLECTION --gamma 0.1
    """
    if n_groups:
        yield Sentence(
            f"Indirect members and proposed principals of {counted(n_groups, 'group')} are not shown: a page compares "
            f"at most {counted(max_compared, 'document')} with their principals. For all groups: nearkin groups "
            f"COLLECTION{tolerance.of_groups()}"
        )


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
