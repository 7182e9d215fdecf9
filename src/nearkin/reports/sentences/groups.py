"""Sentences of ``nearkin groups``: the groups of a collection, and their changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from nearkin.collection.matching.letters_only import LETTERS_ONLY
from nearkin.collection.tolerance import THRESHOLD, Tolerance
from nearkin.nouns import agreeing, counted, first_of, wave_text
from nearkin.reports.quantities import recall_at_text
from nearkin.reports.sentences.sentence import Sentence, not_shown

if TYPE_CHECKING:
    from nearkin.collection.groups.changes import GroupChange
    from nearkin.collection.groups.current import CollectionGroups

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
