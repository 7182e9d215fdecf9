"""Facts about finished runs: dedup, regroup, families, threads, pairs, signatures and audits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from nearkin.errors import is_int
from nearkin.manifests.dedup import DedupManifest, FamilyCounts, difference_counted_as
from nearkin.manifests.stored import ExtractionCounts
from nearkin.reports.facts.fact import (
    BY_DIFFERENCE,
    Fact,
    Table,
    counts_text,
    damage_facts,
    nonzero,
    time_facts,
    warning,
)
from nearkin.reports.quantities import about_text, criterion_text, parameter_text, percent_text, share_percent_text

if TYPE_CHECKING:
    from nearkin.manifests.dedup import MemoryUse
    from nearkin.manifests.stored import Manifest, PassagesManifest, SigningRecord, ThreadsManifest
    from nearkin.runs.progress import StageCost

_ALWAYS_UTF8 = ("parquet", "arrow", "collection", "results", "table")
"""Formats to which --encoding does not apply."""
_LOW_RECALL = 0.95
"""Estimated recall below which a summary warns."""
WRITE_KEPT = "repeat the command with --write-kept and --overwrite"


_REASONS = {
    "unique": "matches no other kept document",
    "too short": "shorter than one shingle, no match",
    "exact copy": "same text once normalised",
    "near-duplicate": "verified similarity at or above the threshold",
    "overlap": "contains a document of the other set, or shares shingles with it",
    "empty": "no text; never counted as a duplicate",
    "numbers only": "digits and no letters; never counted as a duplicate",
    "ignored only": "only passages of --ignore; never counted as a duplicate",
    "unreadable": "could not be read",
}


def reason_in_words(run: DedupManifest, reason: str) -> str:
    """Explain a reason of a run; with another set, documents of the input are not compared with each other."""
    if run.is_against and reason == "unique":
        return "no match in the other set"
    if reason == "overlap" and is_int(n := run.parameters.get("min_shared")):
        return f"shares shingles with a document of the other set, at least {n:,}"
    if reason == "overlap" and run.threshold is not None:
        return f"contains at least {100 * run.threshold:.10g}% of a document of the other set"
    return _REASONS[reason]


def outcome_of(reason: str) -> str:
    """Return the outcome for documents with a reason."""
    if reason == "unreadable":
        return "neither"
    return "kept" if reason in ("unique", "too short") else "dropped"


def reasons_table(run: DedupManifest) -> Table:
    """Tabulate the documents by reason."""
    n_all = max(1, run.count("documents"))
    rows = [
        (f"{n:,}", percent_text(n, n_all), reason, outcome_of(reason), reason_in_words(run, reason))
        for reason, n in run.by_reason.items()
    ]
    n_in_families = run.count("kept") - sum(n for reason, n in run.by_reason.items() if outcome_of(reason) == "kept")
    if n_in_families > 0:
        row = f"{n_in_families:,}", percent_text(n_in_families, n_all), "of a kept mail"
        rows.append((*row, "kept", "of the copies and near-duplicates above: a mail and its attachments stay together"))
    return Table(("documents", "share", "reason", "outcome", "meaning"), rows, 2)


def dedup_facts(run: DedupManifest) -> Iterator[Fact]:
    """Count documents, groups and pairs of a run, with its recall, and then what needs attention."""
    yield Fact("documents", run.count("documents"))
    yield Fact("kept", run.count("kept"))
    without_match = counts_text(run.dropped_without_match)
    yield Fact("dropped", run.count("dropped"), f"without a match: {without_match}" if without_match else "")
    yield from nonzero("unreadable", run.count("unreadable"), "neither kept nor dropped")
    if run.is_against:
        others = run.against_counts or {}
        yield Fact("other set", others.get("documents", 0), f"{others.get('match', 0):,} with a match: against.parquet")
    else:
        yield Fact("groups", run.count("groups"))
    yield Fact("exact copies", run.count("pairs_of_exact_copies"))
    yield Fact("verified pairs", run.count("pairs"), criterion_text(run.parameters))
    yield from nonzero(
        "bridges refused", run.count("bridges_refused"), "verified pairs whose documents are in different groups"
    )
    yield from difference_facts(run)
    yield from nonzero(
        "share one passage and little else",
        run.count("sharing_one_passage"),
        f"of {run.count('near_duplicates_compared'):,} near-duplicates; to list and to ignore it: nearkin passages",
        "warning",
    )
    for kind, label in _KINDS.items():
        yield from nonzero(
            label,
            run.count(f"sampled_{kind}"),
            f"of {run.count('sampled'):,} sampled texts; for such texts: --preset {kind}",
            "warning",
        )
    if run.plan:
        yield from recall_facts(run)
    yield from input_facts(run)
    others = run.against_counts or {}
    drop = run.parameters.get("drop", "contained")
    is_of_no_use = run.is_against and not others.get("match") and "min_shared" not in run.parameters
    n_of_no_use = (run.count("pairs") - run.count("pairs_kept_apart")) * is_of_no_use
    yield from warning(
        "dropped without a copy",
        run.textless.get("ignored only"),
        ("only passages of --ignore; to compare them, remove those passages from its file"),
    )
    yield from warning(
        "too short in the other set",
        run.n_short_others,
        ("can only match whole documents; a shorter --shingle or a lower --min-shared finds them in longer ones"),
    )
    yield from warning("unreadable in the other set", others.get("unreadable"), "problems.parquet")
    yield from warning(
        "pairs that drop nothing",
        n_of_no_use,
        (f"--drop is {drop}; for the other direction: --drop {'containing' if drop == 'contained' else 'contained'}"),
    )


_NAMED_SHARE = 0.1
_LARGE_GROUP = 50
"""Documents of a group that are rather records of one form than versions of one document."""
_KINDS = {"code": "look like source code", "ocr": "look like OCR"}


def difference_facts(run: DedupManifest) -> Iterator[Fact]:
    """Count the dropped documents by what differs from the kept one, and name options that keep such documents."""
    yield from nonzero(
        "pairs kept apart", run.count("pairs_kept_apart"), f"--keep-apart {run.parameters.get('keep_apart')}"
    )
    counts, n_dropped = run.dropped_by_difference, run.n_dropped_for_another
    n_largest, n_documents = run.count("largest_group"), run.count("documents")
    is_ignored = ";numbers" in str(run.parameters.get("normalise"))
    can_apart = "keep_apart" not in run.parameters and not is_ignored
    if is_large := 2 * n_largest > n_documents > 2:
        note = "to keep records apart: --preset records" if can_apart else ""
        yield Fact("documents of the largest group", n_largest, note)
    for name, n in counts.items():
        option = "numbers,names" if name == "fields" else "numbers"
        apart = f"; to keep them: --keep-apart {option}, or --preset records" * can_apart
        apart += "; to keep them: omit --ignore-numbers" * is_ignored
        is_of_records = name == "numbers" or (name in ("passage replaced", "fields") and can_apart)
        is_often = bool(apart) and is_of_records and n > _NAMED_SHARE * n_dropped
        is_named = is_often or (name == "numbers" and can_apart and is_large)
        note = f"of {n_dropped:,} dropped for another{apart * is_named}"
        yield Fact(BY_DIFFERENCE[name], n, note, "warning" if is_often else "plain")
    n_other = run.count(difference_counted_as("other"))
    if n_largest > _LARGE_GROUP and n_other > _NAMED_SHARE * n_dropped:
        note = f"of {n_dropped:,} dropped for another; a group has {n_largest:,} documents"
        yield Fact("differ in other words", n_other, note, "warning")
    elif "keep_apart" in run.parameters:  # records: what is dropped all the same may be another one
        yield from warning("differ in other words", n_other, f"of {n_dropped:,} dropped for another")


def input_facts(run: DedupManifest) -> Iterator[Fact]:
    """Warn of damaged files, documents without a text, and ids that are not unique."""
    yield from damage_facts(run.damaged_files or ())
    if (exceptions := run.exception_counts) is not None:
        yield from extraction_facts(exceptions, n_of_others=run.n_textless_others)
    has_text_files = any(source.format not in _ALWAYS_UTF8 for source in (*run.inputs, *run.against))
    yield from warning(
        "not valid UTF-8",
        (run.problems.get("wrong encoding", 0) * has_text_files),
        "older Western text: --encoding cp1252",
    )
    yield from warning(
        "repeated ids", run.problems.get("id repeated"), "problems.parquet; join tables by row, not by id"
    )
    yield from warning("without an id", run.n_readable_without_id, "join tables by row")


def extraction_facts(counts: ExtractionCounts, *, n_of_others: int = 0) -> Iterator[Fact]:
    """Count the exceptions by kind, ``n_of_others`` of them in the other set; without any, the extracted documents."""
    if not counts.exceptions:
        yield Fact("extracted from files", counts.documents, "all completely")
    else:
        kinds = counts_text(counts.exceptions) + f"; {n_of_others:,} in the other set" * (n_of_others > 0)
        yield Fact("exceptions", sum(counts.exceptions.values()), f"{kinds}: exceptions.csv", "warning")
    yield from warning("texts by OCR", counts.by_ocr, "words may be wrong: column extractor")


def recall_facts(run: DedupManifest) -> Iterator[Fact]:
    """Estimate the recall and the missed pairs of a run over files, beside the predicted recall."""
    if n_skipped := run.count("pairs_not_compared"):
        note = "of texts that share a key with very many others; the number of missed pairs is not known"
        yield Fact("pairs not compared, at most", n_skipped, note, "warning")
        return
    if (recall := run.estimated_recall) is not None:
        is_low = recall < _LOW_RECALL and (run.estimated_missed_pairs or 0) >= 1
        how = "a higher --recall finds more" if is_low else "to measure it: nearkin audit"
        yield Fact("estimated recall", share_percent_text(recall), how, "warning" if is_low else "plain")
    if run.estimated_missed_pairs is not None:
        least = 0.05 if recall is not None and recall < 1 else 0  # the manifest rounds to 0
        expected = about_text(run.estimated_missed_pairs or least)
        is_unknown = recall is None and not run.estimated_missed_pairs
        yield Fact("expected missed pairs", "–" if is_unknown else expected, "no verified pair" if is_unknown else "")
    if (at_threshold := run.plan_numbers.get("recall_at_threshold")) is not None:
        at = "pairs with one shared shingle"
        if "min_shared" not in run.parameters:
            at = f"pairs at similarity {parameter_text(run.searched_threshold or 0.0)}"
        yield Fact("predicted recall", share_percent_text(at_threshold), at)


def run_time(run: Manifest, n_documents: int) -> Iterator[Fact]:
    """Give the time of all stages of a run."""
    return time_facts(sum(stage.elapsed_s for stage in run.stages), n_documents)


def cost_facts(stages: Sequence[StageCost], n_documents: int, memory: MemoryUse | None = None) -> Iterator[Fact]:
    """Give the time and the peak memory of all stages, with the limit if it was exceeded."""
    yield from time_facts(sum(stage.elapsed_s for stage in stages), n_documents)
    peak = max((stage.peak_memory_bytes for stage in stages), default=0)
    beside = ""
    if memory is not None and memory.peak_bytes > memory.limit_bytes:
        limit, before = (n / 2**20 for n in (memory.limit_bytes, memory.before_bytes))
        beside = f"--memory {limit:,.0f} MiB, and {before:,.0f} MiB of Python and its libraries"
    yield Fact("peak memory", f"{peak / 2**20:,.0f} MiB", beside)


def regroup_facts(
    run: DedupManifest, *, run_threshold: float | None, n_now_kept: int, n_now_dropped: int
) -> Iterator[Fact]:
    """Count the documents with another outcome than in the regrouped run, whose threshold was ``run_threshold``."""
    at = "" if run_threshold is None else f"at {parameter_text(run_threshold)}"
    yield Fact("now kept, dropped before", n_now_kept, at)
    yield Fact("now dropped, kept before", n_now_dropped, at)
    if run.kept is None:
        yield Fact("cleaned corpus", "not written", WRITE_KEPT)


def relations_table(run: DedupManifest) -> Table:
    """Tabulate the members of form groups by their relation to the principal."""
    counts = run.families or FamilyCounts()
    n_members = max(1, counts.documents - counts.families)
    rows = [(f"{n:,}", percent_text(n, n_members), relation) for relation, n in counts.relations.items()]
    return Table(("members", "share", "relation to the principal"), rows, 2)


def families_facts(run: DedupManifest) -> Iterator[Fact]:
    """Count the documents in form groups, and those in none."""
    counts = run.families or FamilyCounts()
    yield Fact("documents", run.count("documents"))
    yield Fact("form groups", counts.families)
    yield Fact("in a form group", counts.documents)
    yield Fact("without a match", counts.alone, criterion_text(run.parameters))
    for reason, n in run.textless.items():
        yield Fact(reason if reason != "unreadable" else "without readable text", n)
    if "recall_at_threshold" in run.plan_numbers:  # of files; of a collection, see `family_group_facts`
        yield from recall_facts(run)
    yield from input_facts(run)


def reason_meanings(*, is_of_new_text: bool) -> dict[str, str]:
    """Return for each reason why a mail is inclusive what it means; ``is_of_new_text``: only its own words count."""
    return {
        "message": f"no later mail of the thread holds all of its {'own words' if is_of_new_text else 'text'}",
        "attachment": f"{'its own words occur' if is_of_new_text else 'the text occurs'} in a later mail, "
        "an attachment does not",
        "not read": "the text is unreadable or incomplete",
    }


def results_table(run: ThreadsManifest) -> Table:
    """Tabulate the mails by result."""
    counts, is_of_new_text = run.counts, bool(run.parameters.get("new_text_only"))
    meanings = reason_meanings(is_of_new_text=is_of_new_text)
    rows = [(n, f"inclusive: {reason}", meanings[reason]) for reason, n in counts.by_reason.items()]
    whole = "all its own words are" if is_of_new_text else "all of it is"
    rows.append((counts.included, "not inclusive", f"{whole} in a later mail, word for word"))
    rows.append((counts.duplicate_spares, "duplicate spare", "same Message-ID, date, subject, text and attachments"))
    shown = [
        (f"{n:,}", percent_text(n, counts.mails), result, meaning)
        for n, result, meaning in rows
        if n or result != "inclusive: not read"
    ]
    return Table(("mails", "share", "result", "meaning"), shown, 2)


_LINKS = {
    "headers": "placed by their own headers",
    "another mail": "placed by a later mail's headers",
    "subject": "placed by subject, date and addresses",
}


def threads_facts(run: ThreadsManifest) -> Iterator[Fact]:
    """Count threads and missing mails, and warn of what was not read."""
    counts = run.counts
    yield Fact("mails", counts.mails)
    yield Fact("threads", counts.threads, f"{counts.threads_of_several:,} with several mails")
    yield Fact("missing mails", counts.missing, "others refer to them")
    for link, label in _LINKS.items():
        yield from nonzero(label, counts.by_link.get(link, 0))
    yield from nonzero("answers under another subject", counts.other_subject, "is_other_subject in threads.parquet")
    for label, n in (("without Message-ID", counts.without_message_id), ("without a date", counts.without_date)):
        yield from nonzero(label, n)
    yield from damage_facts(run.damaged_files or ())
    if run.extraction is not None:
        yield from extraction_facts(run.extraction)
    yield from warning("quote text that is in no inclusive mail", counts.quoting_more, "quotes_more in threads.parquet")
    yield from warning("skipped", counts.others, "neither mails nor inside one")
    yield from warning("unreadable", counts.unreadable if counts.others else 0, "of all documents: exceptions.csv")


def least_of_a_passage(run: PassagesManifest) -> str:
    """Return the least number of words, or lines, of a passage."""
    unit = "lines" if "min_lines" in run.parameters else "words"
    return f"{run.parameters[f'min_{unit}']:,} {unit}"


def passages_facts(run: PassagesManifest) -> Iterator[Fact]:
    """Count passages, their characters and what was done with them, and warn of what was not read."""
    counts = run.counts
    others = f"and {counts.others:,} of the other set" if run.against is not None else ""
    yield Fact("documents", counts.documents, others)
    if counts.items_found is not None:
        yield Fact("found of the other set", counts.items_found, "in whole or in part: contamination.parquet")
    yield Fact("passages", counts.passages, f"of at least {least_of_a_passage(run)}, in several places")
    yield Fact("inside one document only", counts.inside_one_document)
    yield Fact("documents with passages", counts.with_passages)
    yield Fact("longest", f"{counts.longest_words:,} {least_of_a_passage(run).partition(' ')[2]}")
    yield Fact("most frequent", f"in {counts.most_documents:,} documents")
    for label, n in (
        ("characters in passages", counts.repeated_characters),
        ("in an earlier document", counts.copied_characters),
        ("repeated inside their document", counts.own_characters),
    ):
        yield Fact(label, percent_text(n, counts.characters), f"{n:,} of {counts.characters:,}")
    yield from nonzero("boilerplate", counts.boilerplate, "proposed in boilerplate.txt, for dedup --ignore")
    if counts.cut_characters is not None:
        yield Fact("characters cut", counts.cut_characters, "cut.parquet has them")
        yield Fact("documents emptied", counts.emptied or 0, "no word is left; is_emptied in documents.parquet")
    if counts.dropped is not None:
        yield Fact("documents dropped", counts.dropped, "over the share of --drop-over")
    yield from nonzero("shorter than a passage", counts.too_short, "lower --min-words to compare them", "quiet")
    yield from damage_facts(run.damaged_files or ())
    if run.extraction is not None:
        yield from extraction_facts(run.extraction)
    yield from warning("unreadable", counts.unreadable, "column problem of documents.parquet")


def sign_facts(run: SigningRecord) -> Iterator[Fact]:
    """Count the signatures, and the documents without one."""
    yield Fact("documents", run.documents)
    yield Fact("signed", run.signed, f"{run.parameters['bits']} bits")
    yield Fact("distinct signatures", run.distinct_signatures)
    yield from nonzero("without text", run.without_features, "never a neighbour")
    yield from warning("unreadable", run.unreadable, "column problem")
    yield from damage_facts(run.damaged_files)
