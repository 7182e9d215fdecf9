"""Sentences of a deduplication's report: results, guarantees, and meanings of words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from nearkin.kernels.chances import found_by_bands
from nearkin.manifests.dedup import DedupManifest
from nearkin.nouns import agreeing, counted
from nearkin.options.dedup import DECIDING, DedupOptions
from nearkin.reports.quantities import (
    criterion_of,
    estimate_text,
    measure_of,
    missed_pairs_text,
    parameter_text,
    percent_text,
    share_percent_text,
)
from nearkin.reports.reasons import apart_advice, differences_text, reason_in_words
from nearkin.stages.documents.ignoring import Ignored
from nearkin.stages.documents.normalisation import STEPS

_LOW_RECALL = 0.95
"""Estimated recall below which a report warns at its top."""


_OF_GROUPS = ("group", "keep")
"""Parameters without effect on a run against another set, which has no groups."""


@dataclass(frozen=True, slots=True)
class Note:
    """Title with a short text; ``is_warning`` if the reader must not miss it."""

    title: str
    text: str
    is_warning: bool = False


@dataclass(frozen=True, slots=True)
class ReasonRow:
    """Row of the table of documents by reason."""

    reason: str
    n: int
    share: str
    outcome: str
    meaning: str


@dataclass(frozen=True, slots=True)
class ParameterRow:
    """Parameter, its value as a user would write it, and its effect."""

    name: str
    value: str
    meaning: str


def headline(facts: DedupManifest) -> str:
    """Summarize the run in one sentence."""
    n_read, n_dropped, n_unreadable = (facts.count(name) for name in ("documents", "dropped", "unreadable"))
    if not n_read:
        return "No documents were read."
    documents = counted(n_read, "document")
    if facts.against:
        documents += f" against {counted(sum(file.n_documents or 0 for file in facts.against), 'other')}"
    unread = f"; {n_unreadable:,} unreadable" if n_unreadable else ""
    if not n_dropped:
        kept = f"{facts.count('kept'):,} kept, none dropped" if n_unreadable else "all kept"
        matches = "document with" if "min_shared" in facts.parameters else "near-duplicates at"
        return f"{documents}; {kept}: no exact copies and no {matches} {criterion_of(facts)}{unread}."
    parts = []
    if n_copies := facts.count("exact_copy"):
        parts.append(counted(n_copies, "exact copy", "exact copies"))
    if n_near := facts.count("near_duplicate"):
        parts.append(f"{counted(n_near, 'near-duplicate')} at {criterion_of(facts)}")
    if n_overlap := facts.count("overlap"):
        parts.append(f"{n_overlap:,} that overlap with a document of the other set ({criterion_of(facts)})")
    parts += [f"{n:,} {reason}" for reason, n in facts.dropped_without_match.items()]
    return f"{documents}; {facts.count('kept'):,} kept; {n_dropped:,} dropped: {', '.join(parts)}{unread}."


def promises(facts: DedupManifest) -> Iterator[Note]:
    """Notes on what the results guarantee."""
    if n_damaged := facts.problems.get("truncated", 0):
        yield Note(
            f"{counted(n_damaged, 'input file')} {'is' if n_damaged == 1 else 'are'} incomplete",
            "The file is truncated or damaged. Only the documents before the damage were used:"
            " the rest is missing from these results and from a kept corpus. The remarks below name each file.",
            is_warning=True,
        )
    if n_unreadable := facts.count("unreadable"):
        yield Note(
            f"{counted(n_unreadable, 'document')} {agreeing(n_unreadable, 'is', 'are')} unreadable",
            f"{'It was' if n_unreadable == 1 else 'They were'} not compared, and"
            f" {'is' if n_unreadable == 1 else 'are'} neither kept nor dropped. The remarks below name"
            f" {'it, and say' if n_unreadable == 1 else 'them, and say'} why.",
            is_warning=True,
        )
    yield from _much_missed(facts)
    if differences := differences_text(facts):
        advice = list(apart_advice(facts))
        column = "The column differs of documents.parquet tells what differs in each"
        text = ". ".join([column, *(text for text, _ in advice)])
        yield Note(differences, f"{text}.", is_warning=any(is_warning for _, is_warning in advice))
    groups = "" if facts.is_against else "; groups are built from verified pairs and exact copies alone"
    yield Note(
        "Reported pairs are verified",
        f"{_reported(facts)} Exact copies have the same SHA-256 of their normalised text. Any other pair is reported"
        f" only after its {measure_of(facts)} similarity has been computed exactly, from all shingles of both"
        f" documents. No document is dropped because of an estimated similarity{groups}.",
    )
    if facts.is_against:
        yield Note(
            "Documents of the input are not compared with each other",
            f"Each was compared with the other set only. {_how_to_go_on(facts)}",
        )
    if _missed_none(facts):
        yield Note("No pair was missed", "Every shingle was looked up.")
    else:
        yield Note("What may have been missed is estimated", " ".join(_missed(facts)))
    if n_short := facts.n_short_others:
        yield Note(
            f"{counted(n_short, 'document')} of the other set {agreeing(n_short, 'is', 'are')} too short to be found"
            " inside a longer document",
            "Such a document has fewer shingles than a match needs. Only a document with the same text can match it, "
            f"not one that contains it. {_how_to_find_short_ones(facts)}",
            is_warning=True,
        )
    if n_skipped := facts.count("pairs_not_compared"):
        yield Note(
            "Not everything was compared",
            "Where very many documents share a key of the search, each is compared with the first of them only:"
            f" up to {counted(n_skipped, 'candidate pair')} {'was' if n_skipped == 1 else 'were'} not compared."
            " Near-duplicates among them may be missing here.",
            is_warning=True,
        )
    yield Note(
        "Near-duplicate is not same meaning",
        "Similarity counts shared wording. A changed date, amount or name may leave two documents almost identical in"
        " wording and different in effect: read the differences before you decide about one document because of "
        "another.",
    )


def _much_missed(facts: DedupManifest) -> Iterator[Note]:
    """Warn if the search has probably missed a large share of the pairs."""
    recall, n_missed = facts.estimated_recall, facts.estimated_missed_pairs
    if recall is None or n_missed is None or facts.count("pairs_not_compared"):
        return
    if recall >= _LOW_RECALL or n_missed < 1:
        return
    n_pairs = n_missed / (1 - recall)  # of distinct texts
    yield Note(
        f"About {estimate_text(n_missed)} of {estimate_text(n_pairs)} pairs are missing",
        f"The estimated recall is {share_percent_text(recall)}: the other matching pairs of different texts"
        " were probably not found, and documents that should be dropped may be kept. Run nearkin dedup with a higher"
        " --recall to find more.",
        is_warning=True,
    )


def _how_to_go_on(facts: DedupManifest) -> str:
    """Say how to drop duplicates among the kept documents; results of a run give no input for --write-kept."""
    if facts.kept:
        return "To drop the duplicates among the kept documents, run nearkin dedup on the files in the folder kept."
    found = "To find the duplicates among the kept documents, run nearkin dedup on these results."
    if any(one.format == "results" for one in facts.inputs):
        return found
    return (
        f"{found} To write a corpus without them, first repeat this run with --write-kept, then run nearkin dedup on"
        " the files in its folder kept."
    )


def guarantees_in_words(facts: DedupManifest) -> str:
    """Summarize the guarantees."""
    missed = "no pair was missed" if _missed_none(facts) else "the pairs that may have been missed are estimated"
    return f"Every reported pair is verified, and {missed}"


def _how_to_find_short_ones(facts: DedupManifest) -> str:
    if (facts.parameters.get("min_shared") or 1) == 1:
        return "A shorter shingle finds it."
    return "A lower --min-shared finds it; if it has no shingle, only together with a shorter shingle."


def _missed_none(facts: DedupManifest) -> bool:
    """Whether every shingle became a key of the search, and each of its pairs was compared."""
    return facts.plan_numbers.get("rate") == 1 and not facts.count("pairs_not_compared")


def _reported(facts: DedupManifest) -> str:
    """Count the reported pairs in a sentence."""
    n_pairs, n_copies = facts.count("pairs"), facts.count("pairs_of_exact_copies")
    if not n_pairs and not n_copies:
        return "No pair is reported."
    if not n_copies:
        return f"{counted(n_pairs, 'pair')} reported."
    return f"{counted(n_pairs, 'pair')} of different texts and {counted(n_copies, 'pair')} of exact copies reported."


def _estimated(n_missed: float, recall: float | None) -> str:
    if recall is None and not n_missed:
        return "No pair was verified, so the number of missed pairs was not estimated."
    of_recall = "" if recall is None else f" (estimated recall {share_percent_text(recall)})"
    return (
        "A model predicts from the similarities of the verified pairs how many were missed: the expected number is "
        f"{missed_pairs_text(n_missed, recall)}{of_recall}. To measure the recall, run nearkin audit."
    )


def _missed(facts: DedupManifest) -> Iterator[str]:
    """Sentences about missed pairs."""
    at_threshold = facts.plan_numbers.get("recall_at_threshold")
    if at_threshold is None and facts.estimated_missed_pairs is None:
        if facts.command == "regroup":
            yield "The groups were made from the pairs of an earlier run; the report of that run estimates the pairs"
            yield "that it missed."
        else:
            yield "The manifest holds no prediction of the search, so the number of missed pairs is not known."
        return
    if n_skipped := facts.count("pairs_not_compared"):
        verb = "was" if n_skipped == 1 else "were"
        yield f"How many were missed is not known: up to {counted(n_skipped, 'pair')} {verb} not compared."
    if at_threshold is not None and facts.searched_threshold is not None:
        if n_skipped:
            yield "The following prediction is for the other pairs only."
        yield from _predicted(facts, facts.searched_threshold, at_threshold)
    if not n_skipped and facts.estimated_missed_pairs is not None:
        yield _estimated(facts.estimated_missed_pairs, facts.estimated_recall)
    if (exact_below := facts.plan_numbers.get("exact_below", 0)) > 1:
        unless = ", except the pairs that were not compared" if facts.count("pairs_not_compared") else ""
        few = counted(round(exact_below), "shingle")
        yield f"Documents with fewer than {few} were searched exhaustively{unless}."


def _predicted(facts: DedupManifest, searched: float, at_threshold: float) -> Iterator[str]:
    """Sentences about the prediction at the threshold of the search and, if it differs, at that of the groups."""
    if facts.threshold is not None and searched != facts.threshold:
        yield f"The groups were made from the pairs of a run with threshold {parameter_text(searched)}."
    yield (
        f"A pair at exactly the threshold of {parameter_text(searched)} is found with a predicted"
        f" probability of at least {share_percent_text(at_threshold)}; a more similar pair with a higher one."
    )
    if facts.threshold is not None and searched != facts.threshold and {"bands", "rows"} <= facts.plan_numbers.keys():
        here = found_by_bands(facts.threshold, int(facts.plan_numbers["bands"]), int(facts.plan_numbers["rows"]))
        yield f"At {parameter_text(facts.threshold)} the probability is {share_percent_text(float(here))}."


def no_pairs_text(facts: DedupManifest) -> str:
    """Say that no pair matches, by the criterion of the run."""
    if "min_shared" in facts.parameters:
        return f"No pair of documents has {criterion_of(facts)}."
    return "No pair of documents reached the threshold."


def advice_on_samples(facts: DedupManifest) -> str:
    """Say what to do about the first sample pairs, the least similar ones."""
    if "min_shared" in facts.parameters:
        return "Look at the first pairs: if they share too little, choose a longer --shingle or a higher --min-shared."
    return (
        "Look at the first pairs: if they are duplicates to you, the threshold is high enough; if not, choose a higher"
        " --threshold."
    )


def groups_told(facts: DedupManifest, n_groups: int) -> str:
    """Count the groups, and name what joined them; bridges join nothing."""
    n_bridges, n_copies = facts.count("bridges_refused"), facts.count("exact_copy")
    n_pairs = facts.count("pairs") - n_bridges
    made_of = [counted(n_copies, "exact copy", "exact copies")] * (n_copies > 0)
    made_of += [f"{counted(n_pairs, 'verified pair')} of different texts"] * (n_pairs > 0)
    joined = f", made of {' and '.join(made_of)}" if made_of else ""
    said = f"{counted(n_groups, 'group')} of two documents or more{joined}."
    if not n_bridges:
        return said
    are = agreeing(n_bridges, "pair is a bridge", "pairs are bridges")
    return (
        f"{said} {n_bridges:,} more {are}: the two documents are not in the same group, and at least one of them was"
        " dropped."
    )


def reason_rows(facts: DedupManifest) -> Iterator[ReasonRow]:
    """Tabulate the documents by reason."""
    for reason, n in facts.by_reason.items():
        yield ReasonRow(
            reason,
            n,
            percent_text(n, facts.count("documents")),
            outcome_of(facts, reason),
            reason_in_words(facts, reason),
        )


def outcome_of(facts: DedupManifest, reason: str) -> str:
    """Return the outcome for documents with a reason."""
    if reason == "unreadable":
        return "neither"
    return "kept" if reason in ("unique", "too short") else "dropped"


def parameter_rows(facts: DedupManifest) -> Iterator[ParameterRow]:
    """Tabulate the parameters: first, in words, those that decide the result, then the others of the manifest."""
    for name in DECIDING:
        if name in facts.parameters and not (facts.is_against and name in _OF_GROUPS):
            yield ParameterRow(name, _spelt(facts.parameters[name]), DedupOptions.declared()[name].help)
    if {"bands", "rows"} <= facts.plan_numbers.keys():
        bands, rows = facts.plan_numbers["bands"], facts.plan_numbers["rows"]
        meaning = (
            f"{_chosen_from(facts)}: the sketch of a document has {counted(round(bands * rows), 'value')}, in "
            f"{counted(round(bands), 'band')}; two documents are compared if all values of one band are equal"
        )
        yield ParameterRow("bands × rows", f"{bands:,.0f} × {rows:,.0f}", meaning)
    if rate := facts.plan_numbers.get("rate"):
        meaning = f"the share of shingles that become keys of the search, {_chosen_from(facts)}"
        yield ParameterRow("sampling", f"{rate:.4g}", meaning)
    for name in sorted(facts.parameters.keys() - set(DECIDING)):
        if facts.parameters[name] is not None:
            yield ParameterRow(name, _spelt(facts.parameters[name]), "")


def _chosen_from(facts: DedupManifest) -> str:
    """Name what the plan was based on."""
    if "min_shared" in facts.parameters:
        return "chosen from the recall for pairs with exactly one shared shingle"
    of_run = (
        f" of {parameter_text(facts.found_at_threshold)} of the run" if facts.found_at_threshold is not None else ""
    )
    return f"chosen from the recall and the threshold{of_run}"


def normalisation_steps(facts: DedupManifest) -> tuple[str, ...]:
    """Ignored differences, in words, in the order of normalisation."""
    steps, _, ignored = str(facts.parameters.get("normalise", "")).partition(";")
    names = [name.strip() for name in steps.split(",")]
    return (*(STEPS.get(name, name) for name in names if name not in {"", "none"}), *_ignored_in_words(ignored))


def _ignored_in_words(ignored: str) -> Iterator[str]:
    """Name the passages and numbers that did not count."""
    found = Ignored.restored(f";{ignored}") if ignored else Ignored()
    if found.numbers:
        yield "digits do not count"
    if found.passages:
        yield f"{counted(len(found.passages), 'passage')} of --ignore do not count"


def _spelt(value: object) -> str:
    """Write a parameter's value as a user would."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


def glossary(facts: DedupManifest) -> tuple[Note, ...]:
    """Explain the words of the report; a run against another set has no groups, and not every search has bands."""
    omitted = {"Principal", "Bridge refused"} if facts.is_against else set()
    if "bands" not in facts.plan_numbers:
        omitted.add("Sketch and band")
    return tuple(note for note in GLOSSARY if note.title not in omitted)


GLOSSARY = (
    Note(
        "Shingle",
        "A run of neighbouring words or characters. A document is compared as the set of its shingles.",
    ),
    Note(
        "Jaccard similarity",
        "Shared shingles divided by all distinct shingles of both documents: 1 for the same set, 0 for nothing shared.",
    ),
    Note(
        "Containment",
        "The share of one document's shingles that the other holds. A mail that is quoted whole in a longer mail has"
        " containment 1, whatever the Jaccard similarity of the two.",
    ),
    Note(
        "Sketch and band",
        "A sketch is a short list of values computed from the shingles of a document by MinHash: the more shingles two"
        " documents share, the more values of their sketches are equal. A band is a run of neighbouring values of the"
        " sketch; its length is the number of rows.",
    ),
    Note(
        "Principal",
        "The document that represents its group, and the one that is kept. Principals are chosen in the order of"
        " --keep.",
    ),
    Note(
        "Bridge refused",
        "A verified pair of documents that are not in one group. Merging their groups would have put documents "
        "together that are not similar. At least one document of the pair is dropped. A bridge between two groups is "
        "counted at both.",
    ),
    Note(
        "Near-duplicate",
        "Much the same wording, not the same meaning. On character 4-grams, “what's the flight time from Berlin to"
        " Helsinki?” has Jaccard similarity 0.71 with “what's the flight time from Berlin to Oulu?”, which asks"
        " something else, and 0.31 with “how long does it take to fly from Berlin to Helsinki?”, which asks the same.",
    ),
)
