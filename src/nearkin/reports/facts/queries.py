"""Facts about answers of a collection: similar documents, checks, groups, conflicts, versions and comparisons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from nearkin.collection.tolerance import THRESHOLD, Tolerance
from nearkin.nouns import first_of, wave_text
from nearkin.planning.part_recall import PART_WORDS
from nearkin.reports.facts.fact import BY_DIFFERENCE, Fact, counts_text, missing_facts, nonzero, not_shown, warning
from nearkin.reports.quantities import minute, recall_at_text, share_percent_text

if TYPE_CHECKING:
    from nearkin.collection.check_in.results import Checked, StreamSummary
    from nearkin.collection.conflicts.by_group import Conflict, Conflicts
    from nearkin.collection.groups.changes import ChangeKind, GroupChange, GroupsSince
    from nearkin.collection.groups.current import CollectionGroups
    from nearkin.collection.results import SimilarDocuments
    from nearkin.planning.part_recall import PartRecall

_N_NAMED = 5
_MAX_CHANGES = 20
_SMALL = 10
LETTERS_ALIKE = "similar letters, other wording"
NOT_COMPARED = "too many candidates; the most similar ones were compared: a higher threshold gives fewer"


def time_ms(elapsed_s: float) -> Fact:
    """Give the time of a query."""
    return Fact("time", f"{1000 * elapsed_s:,.0f} ms", tone="quiet")


def similar_facts(similar: SimilarDocuments) -> Iterator[Fact]:
    """Describe the search for similar documents and the limits of its answer, without their number."""
    tolerance = similar.tolerance
    if tolerance.measure == "index":
        yield from _index_facts(similar)
    elif not similar.is_answered:
        try_another = ": try the measure jaccard" if tolerance.measure == "letters" else ""
        lacks = "too few letters" if tolerance.measure == "letters" else "no words"
        yield Fact("only identical texts", note=f"{lacks} to compare{try_another}", tone="warning")
    elif tolerance.recall is not None and tolerance.recall < 1:
        yield Fact("expected recall", recall_at_text(tolerance.recall, tolerance.value, at="Jaccard "))
    if similar.expected_recall_of_parts is not None:
        yield from part_recall_facts(similar.expected_recall_of_parts, tolerance.value)
    if tolerance.measure == "containment" and similar.is_answered:
        yield Fact(
            "short parts may be missed", note="to measure how many: nearkin audit COLLECTION --measure containment"
        )
    if any(document.edit_similarity is None for document in similar.documents):
        yield Fact("edit –", note="not computed: the texts are too long and too different", tone="quiet")
    yield from warning(
        "passages in very many documents", similar.n_hot_keys, "only partly searched; similar documents may be missing"
    )
    yield from warning("texts not compared", similar.n_not_compared, NOT_COMPARED)
    yield from warning(
        LETTERS_ALIKE, sum(document.is_letters_only for document in similar.documents), f"Jaccard below {THRESHOLD:g}"
    )


def _index_facts(similar: SimilarDocuments) -> Iterator[Fact]:
    if similar.is_answered:
        weak = "one number is weak evidence: look at the other columns"
        yield Fact("similarity index", f"{similar.similarity_index}", weak)
    elif similar.similarity_index == 0:
        yield Fact("only identical texts", note="index 0 has no neighbours: try --measure letters", tone="warning")
    else:
        how = "too few words for an index: try --measure letters, or a new collection with --index 43B:k=4"
        yield Fact("only identical texts", note=how, tone="warning")


def part_recall_facts(recall: PartRecall, containment: float) -> Iterator[Fact]:
    r"""State the expected recall of both directions, the second one at the length of its parts."""
    if recall.containing_texts == recall.parts == 0:
        how = f"nearkin dedup FILE --against COLLECTION --measure containment --threshold {containment:g} --drop either"
        yield Fact(
            "parts may be missed",
            note=f"none of the word 5-grams is in the sample; to find them: {how}",
            tone="warning",
        )
        return
    around, parts = share_percent_text(recall.containing_texts, 1), share_percent_text(recall.parts, 1)
    of_words = f"of {recall.n_words:,} words; lower for shorter or repetitive parts"
    yield Fact("expected recall of texts around this one", around, f"at containment {containment:g}, higher above")
    yield Fact("expected recall of parts of this one", parts, of_words)


def exact_text(relation: str, *, is_same_text: bool) -> str:
    """Return a relation; of an exact copy with how exact it is: the same text, or the same only once normalised."""
    how = f" ({'same text' if is_same_text else 'once normalised'})"
    return relation + how * relation.startswith("exact")


def verdict_fact(checked: Checked, name: str) -> Fact:
    """Give the relation of the checked document to the most similar stored document, and the number of matches."""
    if not checked.documents:
        return Fact(name, checked.verdict, "no match")
    most_similar = checked.documents[0]
    verdict = exact_text(checked.verdict, is_same_text=most_similar.is_same_text)
    return Fact(name, f"{verdict}: {most_similar.document}", f"of {checked.n_found:,} matches")


def check_facts(
    checked: Checked, *, is_storing: bool, is_read_only: bool = False, is_empty: bool = False
) -> Iterator[Fact]:
    """Describe the limits of the answer, for a text that may be empty, and the stored document."""
    yield from not_shown(checked.n_found - len(checked.documents), "raise --limit")
    yield from missing_facts("the text", checked.missing)
    if checked.not_checked:
        inside = f"check each by itself: {first_of(checked.not_checked, _N_NAMED)}"
        yield Fact("not checked, inside it", len(checked.not_checked), inside, "warning")
    yield from _limits(checked, is_empty=is_empty)
    yield time_ms(checked.elapsed_s)
    version = "" if (checked.version or 1) == 1 else f"version {checked.version}; its versions: nearkin history"
    if checked.stored_as is not None:
        yield Fact("already stored as" if checked.is_resent else "stored as", checked.stored_as, version)
    elif checked.is_purged:
        yield Fact("not stored", note="erased by nearkin purge: cannot be stored again", tone="warning")
    elif is_storing:
        yield (
            Fact("already stored", note="under the same id")
            if checked.is_resent
            else Fact("not stored", note="--only-new")
        )
    else:
        yield Fact("not stored", note="" if is_read_only else "to store it: --store", tone="quiet")


def check_recall_facts(checked: Checked) -> Iterator[Fact]:
    """State the expected recall of near-duplicates and of parts, unless a copy or a near-duplicate was found."""
    if checked.expected_recall is None or checked.verdict not in ("new", "contained", "contains"):
        return
    recall = recall_at_text(checked.expected_recall, checked.options.threshold, at="Jaccard ")
    yield Fact("expected recall of near-duplicates", recall)
    if checked.expected_recall_of_parts is not None and checked.options.containment is not None:
        yield from part_recall_facts(checked.expected_recall_of_parts, checked.options.containment)


def _limits(checked: Checked, *, is_empty: bool) -> Iterator[Fact]:
    if not checked.is_answered:
        listed = "an empty text matches no other" if is_empty else "only identical texts are listed"
        yield Fact("too few words to compare", note=listed, tone="warning")
    elif checked.options.measure == "index":
        yield Fact("similarity index", "most matches are missed", "to find more, omit --measure index")
    else:
        yield from check_recall_facts(checked)
    hot = checked.n_hot_keys if checked.verdict != "exact" else 0
    left = checked.n_candidates - checked.n_compared
    yield from warning(
        "passages in very many documents", hot, "only partly searched; a similar document may be missing"
    )
    yield from warning(
        "candidates not compared", left, f"of {checked.n_candidates:,}; the most promising were compared"
    )


def stream_facts(summary: StreamSummary, *, is_kept: bool) -> Iterator[Fact]:
    """Summarise a stream; count the kept documents only if ``is_kept``."""
    verdicts = summary.verdicts
    yield Fact(
        "documents", summary.n_documents, f"{1000 * summary.elapsed_s / max(1, summary.n_documents):.1f} ms each"
    )
    yield Fact("new", verdicts["new"])
    yield Fact("exact copies", verdicts["exact"] - summary.n_already_stored)
    recall = ""
    if summary.expected_recall is not None:
        recall = f"; expected recall {recall_at_text(summary.expected_recall, summary.threshold)}"
    yield Fact("near-duplicates", verdicts["near"], f"Jaccard ≥ {summary.threshold:g}{recall}")
    if summary.containment is None:
        yield Fact("parts", note="not looked for (--containment off)", tone="quiet")
    else:
        means = summary.parts.means
        around, inside = (
            "" if mean is None else f"; mean expected recall {share_percent_text(mean, 1)}"
            for mean in (means["containing_texts"], means["parts"])
        )
        at_length = f" for parts of {PART_WORDS} words" if inside else ""
        least = f"containment ≥ {summary.containment:g}"
        yield Fact("parts of stored documents", verdicts["contained"], least + around)
        yield Fact("with stored documents inside", verdicts["contains"], least + inside + at_length)
    yield Fact("already stored", summary.n_already_stored - summary.n_repeated, "with the same id and text")
    yield Fact("repeated lines", summary.n_repeated)
    yield Fact("stored", summary.n_stored)
    if is_kept:
        yield Fact("kept", summary.n_kept)
    yield from warning("erased before", summary.n_purged, "by nearkin purge: cannot be stored again")
    yield from warning(
        "only partly searched", summary.n_hot, "passages in very many documents: n_hot_keys in the answers"
    )
    yield from warning("not checked", summary.n_problems, "see the answers with an error")


def groups_facts(groups: CollectionGroups, n_shown: int) -> Iterator[Fact]:
    """Count the groups, name those to look at, and describe the changes since the last call."""
    yield Fact("groups", len(groups.groups), f"texts {groups.tolerance.in_words()}")
    yield Fact("documents in groups", len(groups.members))
    yield from not_shown(len(groups.groups) - n_shown)
    yield from tolerance_facts(groups.tolerance, groups.n_not_compared)
    if not groups.is_first:
        yield from change_facts(groups, min(n_shown, _MAX_CHANGES))
    counts, n_others = Counter(groups.members["differs"].to_pylist()), len(groups.members) - len(groups.groups)
    for name, label in BY_DIFFERENCE.items():
        yield from nonzero(
            label, counts[name], f"of {n_others:,} members beside the principals; column differs of --out"
        )
    chains = [group for group in groups.groups if 2 * group.n_chained > group.n_documents > _SMALL]
    stricter = "a smaller --gamma" if groups.tolerance.measure == "letters" else "a higher --threshold"
    yield from warning("members linked only through others", groups.n_indirect, "column is_match of --out")
    yield from warning(
        "groups linked mainly through chains", len(chains), f"of more than {_SMALL} documents; try {stricter}"
    )
    yield from warning(
        "groups with a longer document",
        sum(group.proposed_principal is not None for group in groups.groups),
        ("is_proposed_principal in --out; to make it the principal: nearkin decide --principal DOC_ID"),
    )
    yield from warning("documents in no group", groups.n_uncounted, without_units(groups.tolerance))
    yield from warning(
        LETTERS_ALIKE,
        sum(groups.members["is_letters_only"].to_pylist()),
        f"members with Jaccard below {THRESHOLD:g} with the principal",
    )


def letters_only_groups(groups: CollectionGroups) -> set[int]:
    """Return the numbers of the groups with a member of like letters but other wording than the principal."""
    members = groups.members.select(["group", "is_letters_only"]).to_pylist()
    return {member["group"] for member in members if member["is_letters_only"]}


def tolerance_facts(tolerance: Tolerance, n_not_compared: int) -> Iterator[Fact]:
    """State the expected recall of the pairs that link groups, and count the pairs of texts that were not compared."""
    if tolerance.recall == 1:
        exact = f"exact search: every pair of texts within gamma {tolerance.value:g}"
        yield Fact("expected recall of pairs", "100%", exact)
    elif tolerance.recall is not None:
        at = recall_at_text(tolerance.recall, tolerance.value, at="Jaccard ")
        yield Fact("expected recall of pairs", at, f"to measure it: nearkin audit COLLECTION {tolerance.in_options()}")
    yield from warning("pairs of texts not compared", n_not_compared, PAIRS_NOT_COMPARED)


PAIRS_NOT_COMPARED = "to save time: more similar pairs of the same groups did not match, or a text has very many"


def without_units(tolerance: Tolerance) -> str:
    """Say what documents lack that are not compared."""
    return "too few letters" if tolerance.measure == "letters" else "no words to compare"


def later_facts(n_documents: int, n_decisions: int) -> Iterator[Fact]:
    """Warn that stored groups do not follow some documents or decisions yet, if there are any."""
    yield from warning("documents changed since the groups were updated", n_documents, "update the groups")
    yield from warning("decisions since the groups were updated", n_decisions, "update the groups")


def relation_words(relation: str, *, jaccard: float, is_same_text: bool, tolerance: Tolerance) -> str:
    """Return a relation of two members as pages show it: how exact a copy is, and whether the two match at all."""
    threshold = min(THRESHOLD, tolerance.value) if tolerance.measure == "jaccard" else THRESHOLD
    is_match = relation != "revised" or jaccard >= threshold
    return exact_text(relation, is_same_text=is_same_text) if is_match else "no match"


def change_facts(groups: CollectionGroups, n_shown: int = _MAX_CHANGES) -> Iterator[Fact]:
    """Count the changes since the groups were last updated, and list the first of them."""
    since = (
        f"since the last call; new waves: {', '.join(groups.new_waves)}" if groups.new_waves else "since the last call"
    )
    yield Fact("groups with changes", len(groups.changes), "; ".join(filter(None, (_counts(groups.changes), since))))
    telling = sorted(
        groups.changes, key=lambda change: (not (change.merged or change.split_from or change.left), change.is_new)
    )
    yield from (Fact(f"group {change.number}", change_words(change)) for change in telling[:n_shown])
    yield from not_shown(len(telling) - n_shown, "changes: --json")


def _counts(changes: Sequence[GroupChange]) -> str:
    n_new, n_dissolved = sum(change.is_new for change in changes), sum(change.is_dissolved for change in changes)
    return counts_text({"new": n_new, "changed": len(changes) - n_new - n_dissolved, "dissolved": n_dissolved})


def family_group_facts(groups: CollectionGroups) -> Iterator[Fact]:
    """State the expected recall of the groups of a collection, and describe the changes since last time."""
    yield from tolerance_facts(groups.tolerance, groups.n_not_compared)
    if not groups.is_first:
        yield from change_facts(groups)


_TO_LOOK_AT: Mapping[ChangeKind, str] = {
    "new": "new",
    "joined": "joined a group",
    "moved": "moved to another group",
    "left": "left a group",
    "removed": "removed",
}
"""Documents with each kind of change."""


def groups_since_facts(since: GroupsSince, n_shown: int) -> Iterator[Fact]:
    """Count the changed groups and the documents to look at, and name the compared groupings."""
    then, now = minute(since.grouped_then), minute(since.grouped_now)
    if then == now:  # the seconds tell them apart
        then, now = (time.replace("T", " ")[:19] for time in (since.grouped_then, since.grouped_now))
    yield Fact("groups with changes", len(since.changes), _counts(since.changes))
    yield from not_shown(len(since.changes) - n_shown)
    n = Counter(since.documents["change"].to_pylist())
    kinds = counts_text({words: n[kind] for kind, words in _TO_LOOK_AT.items()})
    yield Fact("documents to look at", n.total(), kinds)
    yield Fact(
        f"groups after {wave_text(since.wave)}", since.n_groups_were, f"{then} UTC; {since.tolerance.in_words()}"
    )
    yield Fact("groups now", since.n_groups, f"{now} UTC")
    yield from later_facts(since.n_not_grouped, since.n_decisions)


def change_words(change: GroupChange) -> str:
    """Describe the changes of a group."""
    parts = ["new group"] * change.is_new + ["dissolved"] * change.is_dissolved
    if change.merged:
        parts.append(f"{'made of' if change.is_new else 'merged with'} {_groups(change.merged)}")
    if change.split_from:
        parts.append(f"{'split' if change.is_new else 'members'} from {_groups(change.split_from)}")
    for words, doc_ids in (
        ("new", change.new),
        ("joined", change.joined),
        ("moved to it", change.moved),
        ("left", change.left),
        ("removed", change.removed),
    ):
        if doc_ids:
            parts.append(f"{words}: {first_of(doc_ids[:3], 3, len(doc_ids))}")
    if change.has_new_principal:
        parts.append(f"principal was {change.principal_was}, is {change.principal}")
    return "; ".join(parts)


def reason_words(row: Mapping[str, object], new_groups: Container[object]) -> str:
    """Give the reason why a document should be looked at: what happened to it, and its groups then and now."""
    groups = " → ".join(f"group {n}" for n in (row["group_was"], row["group"]) if n is not None)
    is_new, is_one, was_one = row["group"] in new_groups, row["is_principal"], row["was_principal"]
    marks = {"a new group": is_new, "was its principal": was_one and not is_one}
    marks["now its principal"] = is_one and not was_one and not is_new
    kind = "new version" if row["change"] == "new" and row.get("version", 1) != 1 else str(row["change"])
    return "; ".join([f"{kind}: {groups}", *(mark for mark, holds in marks.items() if holds)])


def _groups(numbers: Sequence[int]) -> str:
    return ", ".join(f"group {n}" for n in numbers)


BY_DECISION = "in one group by decision"
"""Remark on a conflict of documents that do not match."""


def without_passage(conflict: Conflict) -> str:
    """Explain why a conflict has no passage in which the texts differ."""
    if conflict.a == conflict.b:
        return "one document with two labels"
    return "the texts are identical" + " except for white space" * (conflict.edit_similarity != 1.0)


def conflicts_facts(
    conflicts: Conflicts,
    *,
    n_shown: int,
    label_column: str,
    id_column: str,
    n_without_label: int,
    is_bare: bool = False,
) -> Iterator[Fact]:
    """Count the conflicts, and name the source of the labels and the missing documents; tags have no column of ids."""
    yield Fact("conflicts", conflicts.n_found, f"texts {conflicts.tolerance.in_words()}")
    yield Fact("groups with conflicts", conflicts.n_groups)
    yield from not_shown(min(len(conflicts.conflicts), conflicts.n_found) - n_shown)
    bare = f"; without it: not {label_column}" * is_bare
    from_columns = f"ids from {id_column}" if id_column else f"a tag{bare}"
    yield Fact("labelled documents", conflicts.n_labelled, f"labels from {label_column}, {from_columns}")
    yield from warning("conflicts not listed", max(0, conflicts.n_found - len(conflicts.conflicts)), "--out writes all")
    yield from unlabelled_facts(conflicts, tag=None if id_column else label_column, n_without_label=n_without_label)


def unlabelled_facts(conflicts: Conflicts, *, tag: str | None = None, n_without_label: int = 0) -> Iterator[Fact]:
    """Say whether the groups are stored, name the labels without a document, and count what was not compared."""
    if conflicts.conflicts and not conflicts.are_groups_stored:
        why = "out of date" if conflicts.are_groups_outdated else "not stored"
        yield Fact(
            "groups", why, f"to store them: nearkin groups COLLECTION {conflicts.tolerance.in_options()}", "quiet"
        )
    unlabelled = 0 if tag is None else conflicts.n_unlabelled
    yield from warning(
        f"without the tag {tag}",
        unlabelled,
        f"in groups with it: {first_of(conflicts.unlabelled, _N_NAMED, unlabelled)}",
    )
    yield from warning("labelled ids not in the collection", len(conflicts.unknown), first_of(conflicts.unknown, 3))
    yield from warning("rows without a label", n_without_label, "skipped")
    yield from warning("pairs of texts not compared", conflicts.n_not_compared, PAIRS_NOT_COMPARED)
    yield from warning("compared only with identical texts", conflicts.n_uncounted, without_units(conflicts.tolerance))
