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
    from nearkin.collection.groups.changes import ChangeKind, GroupChange, GroupsSince
    from nearkin.collection.groups.current import CollectionGroups


_MAX_CHANGES = 20
_SMALL = 10


def groups_sentences(found: CollectionGroups, n_shown: int, *, is_direct: bool = False) -> Iterator[Sentence]:
    """Count all groups and the shown ones, name the groups to look at, and describe the changes since the last call.

    With ``is_direct``, the members that match their principal are listed instead of the groups.
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
            + "; nearkin info COLLECTION --uncounted lists them" * (found.tolerance.measure == "letters"),
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
        yield from change_sentences(found, min(n_shown, _MAX_CHANGES))


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
    >>> (words,) = search_sentences(Tolerance.of("jaccard", threshold=0.7), 0)
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
    return "a smaller --gamma" if found.tolerance.measure == "letters" else "a higher --threshold"


def without_units(tolerance: Tolerance) -> str:
    """Say what documents lack that are not compared."""
    return "with too few letters" if tolerance.measure == "letters" else "without words to compare"


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
    threshold = min(THRESHOLD, tolerance.value) if tolerance.measure == "jaccard" else THRESHOLD
    return "no match" if relation == "revised" and jaccard < threshold else relation


def change_sentences(found: CollectionGroups, n_shown: int = _MAX_CHANGES) -> Iterator[Sentence]:
    """Describe the changes since the groups were last updated, and list the first of them."""
    since = f" (new documents in {', '.join(map(wave_text, found.new_waves))})" if found.new_waves else ""
    if not found.changes:
        yield Sentence(f"No group changed since the last call{since}")
        return
    yield Sentence(f"Since the last call{since}: {_counts(found.changes)}")
    telling = sorted(found.changes, key=lambda one: (not (one.merged or one.split_from or one.left), one.is_new))
    for one in telling[:n_shown]:
        yield Sentence(f"  group {one.number}: {change_words(one)}")
    if len(telling) > n_shown:
        yield Sentence(f"  … {counted(len(telling) - n_shown, 'more change')}; --json lists all")


def _counts(changes: Sequence[GroupChange]) -> str:
    """Count the new, changed and dissolved groups."""
    n_new, n_dissolved = sum(one.is_new for one in changes), sum(one.is_dissolved for one in changes)
    gone = f", {n_dissolved:,} dissolved" * (n_dissolved > 0)
    return f"{counted(n_new, 'new group')}, {len(changes) - n_new - n_dissolved:,} changed{gone}"


def family_group_sentences(found: CollectionGroups) -> Iterator[Sentence]:
    """State the expected recall of the groups of a collection, and describe the changes since last time."""
    yield from search_sentences(found.tolerance, found.n_not_compared)
    if not found.is_first:
        yield from change_sentences(found)


def not_compared_sentences(n_groups: int, max_compared: int, tolerance: Tolerance) -> Iterator[Sentence]:
    """Say why a page has no indirect members of some groups, and which command has them.

    Examples
    --------
    >>> from nearkin.collection.tolerance import Tolerance
    >>> print(*not_compared_sentences(1, 5_000, Tolerance.of(gamma=0.1)))
    Indirect members and proposed principals of 1 group are not shown: a page compares at most 5,000 documents with \
their principals. For all groups: nearkin groups COLLECTION --measure letters --gamma 0.1
    """
    if n_groups:
        yield Sentence(
            f"Indirect members and proposed principals of {counted(n_groups, 'group')} are not shown: a page compares "
            f"at most {counted(max_compared, 'document')} with their principals. For all groups: nearkin groups "
            f"COLLECTION {tolerance.in_options()}"
        )


_N_NAMED = 3
_TO_LOOK_AT: Mapping[ChangeKind, str] = {
    "new": "new",
    "joined": "that joined a group",
    "moved": "that moved to another group",
    "left": "that left a group",
    "removed": "removed",
}
"""Documents with each kind of change."""


def groups_since_sentences(found: GroupsSince, n_shown: int) -> Iterator[Sentence]:
    """Count the changed groups and those that are shown, and name the compared groupings."""
    more = len(found.changes) - n_shown
    then, now = minute(found.grouped_then), minute(found.grouped_now)
    if then == now:  # the seconds tell them apart
        then, now = (one.replace("T", " ")[:19] for one in (found.grouped_then, found.grouped_now))
    yield Sentence(
        f" since {wave_text(found.wave)} (texts {found.tolerance.in_words()}): {_counts(found.changes)}"
        + f"; {not_shown(f'{more:,} more')}" * (more > 0),
        strong=f"{counted(len(found.changes), 'group')} with changes",
    )
    yield Sentence(
        f"{counted(found.n_groups_were, 'group')} after {wave_text(found.wave)} ({then} UTC), {found.n_groups:,} now "
        f"({now} UTC)",
        "quiet",
    )
    yield from later_sentences(found.n_not_grouped, found.n_decisions)


def to_look_at_words(found: GroupsSince) -> str:
    """Count the documents with a change by kind: ``3 documents to look at: 1 new, 2 that joined a group``."""
    n = Counter(found.documents["change"].to_pylist())
    kinds = ", ".join(f"{n[kind]:,} {words}" for kind, words in _TO_LOOK_AT.items() if n[kind])
    return f"{counted(n.total(), 'document')} to look at{': ' * bool(kinds)}{kinds}"


def change_words(change: GroupChange) -> str:
    """Describe the changes of a group."""
    said = ["new group"] * change.is_new + ["dissolved"] * change.is_dissolved
    if change.merged:
        said.append(f"{'made of' if change.is_new else 'merged with'} {_groups(change.merged)}")
    if change.split_from:
        said.append(f"{'split' if change.is_new else 'members'} from {_groups(change.split_from)}")
    for words, doc_ids in (
        ("new", change.new),
        ("joined", change.joined),
        ("moved to it", change.moved),
        ("left", change.left),
        ("removed", change.removed),
    ):
        if doc_ids:
            said.append(f"{words}: {first_of(doc_ids[:_N_NAMED], _N_NAMED, len(doc_ids))}")
    if change.has_new_principal:
        said.append(f"principal was {change.principal_was}, is {change.principal}")
    return "; ".join(said)


def reason_words(row: Mapping[str, object], new_groups: Container[object]) -> str:
    """Give the reason why a document should be looked at.

    Parameters
    ----------
    row : mapping
        Row of `GroupsSince.documents`.
    new_groups : container of int
        Numbers of the groups that are new.

    Examples
    --------
    >>> row = {"change": "moved", "group_was": 2, "group": 3, "was_principal": True, "is_principal": False}
    >>> reason_words(row, [3])
    'moved from group 2, whose principal it was, to the new group 3'
    """
    now = f"{'the new group' if row['group'] in new_groups else 'group'} {row['group']}"
    was = f"group {row['group_was']}" + ", whose principal it was" * bool(row["was_principal"])
    if row["change"] == "left":
        return f"no longer in {was}"
    if row["change"] == "removed":
        return f"removed from the collection and from {was}"
    words = {
        "new": f"new {'version' if row.get('version', 1) != 1 else 'document'} in {now}",
        "joined": f"was in no group, is now in {now}",
        "moved": f"moved from {was}{',' * bool(row['was_principal'])} to {now}",
    }[str(row["change"])]
    is_new_principal = row["is_principal"] and not row["was_principal"] and row["group"] not in new_groups
    return words + "; now its principal" * bool(is_new_principal)


def _groups(numbers: Sequence[int]) -> str:
    return ", ".join(f"group {n}" for n in numbers)
