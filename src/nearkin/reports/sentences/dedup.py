"""Sentences of ``nearkin dedup`` and ``nearkin regroup``: kept and dropped documents, and missed pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from nearkin.manifests.dedup import DedupManifest, ExtractionCounts, MemoryUse
from nearkin.nouns import agreeing, counted
from nearkin.reports.quantities import criterion_text, missed_pairs_text, parameter_text, share_percent_text
from nearkin.reports.reasons import REASONS_IN_WORDS, apart_advice, differences_text, reason_in_words
from nearkin.reports.sentences.exceptions import damage_sentences, exception_counts
from nearkin.reports.sentences.sentence import Sentence
from nearkin.runs.progress import StageCost
from nearkin.stages.features.shingles import MAX_BYTES_PER_CHARACTER

_ALWAYS_UTF8 = ("parquet", "arrow", "collection", "results", "table")
"""Formats to which --encoding does not apply."""


def reason_rows(told: DedupManifest) -> Iterator[tuple[str, str, str, str]]:
    """Rows of the table of reasons: number of documents, share, reason, meaning."""
    counts, n_documents = told.by_reason, max(1, told.count("documents"))
    for reason in REASONS_IN_WORDS:
        if reason in counts:
            yield f"{counts[reason]:,}", f"{counts[reason] / n_documents:.1%}", reason, reason_in_words(told, reason)


def dedup_sentences(told: DedupManifest, *, has_kept: bool, has_compiled: bool = False) -> Iterator[Sentence]:
    """Count documents, groups and pairs, and add remarks about the input and the search.

    Parameters
    ----------
    told : DedupManifest
    has_kept : bool
        Whether the cleaned corpus was written.
    has_compiled : bool
        Whether the run compiled kernels.
    """
    yield Sentence("", strong=_kept_and_dropped(told))
    yield from input_sentences(told, has_kept=has_kept)
    if n_ignored := told.textless.get("ignored only", 0):
        texts = agreeing(n_ignored, "its text has", "their texts have")
        yield Sentence(
            f"{counted(n_ignored, 'document')} {agreeing(n_ignored, 'is', 'are')} dropped although no copy is kept, "
            f"because {texts} only passages of --ignore. To compare {agreeing(n_ignored, 'it', 'them')}, remove such "
            "passages from the file.",
            "warning",
        )
    copies = counted(told.count("pairs_of_exact_copies"), "exact copy", "exact copies")
    found = f"{copies} and {counted(told.count('pairs'), 'verified pair')}"
    criterion = f"{'with' if 'min_shared' in told.parameters else 'at'} {criterion_text(told.parameters)}"
    if told.is_against:
        yield Sentence(f"{found} across the two sets, {criterion}")
        yield Sentence("Documents of INPUT were not compared with each other")
    else:
        yield Sentence(f"{counted(told.count('groups'), 'group')}; {found} {criterion}")
        if n_bridges := told.count("bridges_refused"):
            of_pairs = f"{n_bridges:,} of {counted(told.count('pairs'), 'verified pair')}"
            yield Sentence(
                f"{of_pairs} {agreeing(n_bridges, 'is a bridge', 'are bridges')}: the two documents are not in the "
                "same group, because every member must match its group's principal. At least one document of "
                f"{agreeing(n_bridges, 'this', 'each')} pair was dropped."
            )
    if n_apart := told.count("pairs_kept_apart"):
        yield Sentence(f"Pairs kept apart by --keep-apart {told.parameters['keep_apart']}: {n_apart:,}")
    if differences := differences_text(told):
        yield Sentence(differences)
    yield from (Sentence(text, "warning" if is_warning else "plain") for text, is_warning in apart_advice(told))
    if told.against_counts is not None:
        yield from _on_others(told, told.against_counts)
        yield from _on_pairs_that_drop_nothing(told, told.against_counts["match"])
    if told.plan:
        yield from _on_search(told, has_compiled=has_compiled)


def _kept_and_dropped(told: DedupManifest) -> str:
    """Count the documents by outcome, so that the numbers add up, and those that were dropped without a match."""
    without_match = told.dropped_without_match
    counts = [f"{n:,}{' of them' * (i == 0)} {reason}" for i, (reason, n) in enumerate(without_match.items())]
    dropped = f"{told.count('dropped'):,} dropped" + (f" ({', '.join(counts)})" if counts else "")
    unread = told.count("unreadable")
    neither = f", {unread:,} unreadable (neither kept nor dropped)" if unread else ""
    return f"{counted(told.count('documents'), 'document')}: {told.count('kept'):,} kept, {dropped}{neither}"


def input_sentences(told: DedupManifest, *, has_kept: bool = False) -> Iterator[Sentence]:
    """List remarks about the input: damaged files, documents without a text, ids that are not unique."""
    who = "The results and the kept corpus have" if has_kept else "The results have"
    yield from damage_sentences(told.damaged_files or (), who)
    if (exceptions := told.exception_counts) is not None:
        yield extraction_sentence(exceptions, n_of_others=told.n_textless_others)
        if n := exceptions.by_ocr:
            yield ocr_sentence(n)
    has_text_files = any(one.format not in _ALWAYS_UTF8 for one in (*told.inputs, *told.against))
    if (n_not_utf8 := told.problems.get("wrong encoding", 0)) and has_text_files:
        documents = f"{counted(n_not_utf8, 'document')} {agreeing(n_not_utf8, 'is', 'are')} not valid UTF-8"
        yield Sentence(f"{documents}: if this is older Western text, repeat with --encoding cp1252", "warning")
    n_repeated, n_without = told.problems.get("id repeated", 0), told.n_readable_without_id
    if n_repeated or n_without:
        sets = (" of INPUT or the other set", " in INPUT") if told.is_against else ("", "")
        yield Sentence(
            f"Documents{sets[0]} that repeat an id: {n_repeated:,}{' (see problems.parquet)' * bool(n_repeated)}; "
            f"without an id{sets[1]}: {n_without:,}",
            "warning",
        )
        yield Sentence("Join tables by row number (row, group_row, row_a, …), not by id", "warning")


def extraction_sentence(told: ExtractionCounts, *, n_of_others: int = 0) -> Sentence:
    """Count the exceptions and name the file that lists them; without any, count the documents that were extracted.

    Parameters
    ----------
    told : ExtractionCounts
    n_of_others : int
        Number of documents without text in the other set.

    Examples
    --------
    >>> extraction_sentence(ExtractionCounts(documents=9, unread=2, exceptions={"damaged": 2})).text
    'exceptions.csv lists 2 documents without text: 2 damaged'
    >>> extraction_sentence(ExtractionCounts(documents=9)).text
    '9 documents extracted from files, all of them completely'
    """
    if not told.exceptions:
        return Sentence(f"{counted(told.documents, 'document')} extracted from files, all of them completely")
    kinds = ", ".join(f"{n:,} {kind}" for kind, n in told.exceptions.items())
    n_without = told.unread + told.others
    of_others = f" ({n_of_others:,} of them in the other set)" if n_of_others else ""
    if not told.in_part:
        listed = f"{counted(n_without, 'document')} without text{of_others}"
        return Sentence(f"exceptions.csv lists {listed}: {kinds}", "warning")
    of_others = f"; {n_of_others:,} of those without text are in the other set" if n_of_others else ""
    return Sentence(f"{exception_counts(n_without, told.in_part)}: {kinds}{of_others}; see exceptions.csv", "warning")


def ocr_sentence(n_texts: int) -> Sentence:
    """Count the texts that were recognised in images."""
    return Sentence(f"{counted(n_texts, 'text')} by OCR, in which words may be wrong: column extractor", "warning")


def _on_others(told: DedupManifest, counts: Mapping[str, int]) -> Iterator[Sentence]:
    """Count the documents of the other set with a match, and those that are too short to be found in longer ones."""
    parameters = told.parameters
    documents = counted(counts["documents"], "document")
    yield Sentence(f"Other set: {documents}, {counts['match']:,} with a match in INPUT; see against.parquet")
    if n_short := told.n_short_others:
        least = parameters.get("min_shared") or 1
        shingles = "one shingle" if least == 1 else f"{least} shingles"
        how = (
            "a shorter --shingle"
            if least == 1
            else "a lower --min-shared (without a shingle, also a shorter --shingle)"
        )
        yield Sentence(
            f"{counted(n_short, 'document')} of the other set {agreeing(n_short, 'is', 'are')} shorter than "
            f"{shingles} ({parameters['shingle']}) and can only match a whole document of INPUT. To find "
            f"{agreeing(n_short, 'it', 'them')} inside longer documents, use {how}.",
            "warning",
        )
    if n_unreadable := counts["unreadable"]:
        documents = counted(n_unreadable, "unreadable document")
        yield Sentence(f"Other set: {documents}; see problems.parquet", "warning")


def _on_pairs_that_drop_nothing(told: DedupManifest, n_matches: int) -> Iterator[Sentence]:
    """Explain verified pairs by containment that drop no document: they match in the other direction only."""
    n_pairs, drop = told.count("pairs"), told.parameters.get("drop", "contained")
    if n_matches or not n_pairs or "min_shared" in told.parameters:
        return
    other, does = ("containing", "contains") if drop == "contained" else ("contained", "is contained in")
    pairs = f"{counted(n_pairs, 'verified pair')} {agreeing(n_pairs, 'drops', 'drop')}"
    yield Sentence(
        f"{pairs} no document: a document of INPUT {does} one of the other set, and --drop is {drop}. To drop such "
        f"documents: --drop {other}",
        "warning",
    )


def missed_pairs_sentence(told: DedupManifest) -> Sentence:
    """Estimate the missed pairs of a run over files, beside the predicted recall."""
    if n_skipped := told.count("pairs_not_compared"):
        return Sentence(
            f"The number of missed pairs is not known: up to {counted(n_skipped, 'pair')} of texts that share a key "
            "with very many others were not compared; each such text was compared with the first of them only.",
            "warning",
        )
    at = "with exactly one shared shingle" if "min_shared" in told.parameters else "exactly at the threshold"
    searched = None if told.searched_threshold == told.threshold else parameter_text(told.searched_threshold or 0.0)
    if searched is not None:
        at = f"exactly at {searched}, the threshold of the search"
    at_threshold = share_percent_text(told.plan_numbers["recall_at_threshold"])
    estimated = told.estimated_recall  # as nearkin audit writes it
    missed = missed_pairs_text(told.estimated_missed_pairs or 0.0, estimated)  # as in the report
    if estimated is not None:
        at_search = f", {at_threshold} of pairs {at}."
        if searched is not None:
            here = parameter_text(told.threshold or 0.0)
            at_search = f" at or above {here}. The search was made for {searched}, where it finds {at_threshold}."
        return Sentence(
            f"Estimated recall: {share_percent_text(estimated)} of all pairs{at_search} Expected number of missed "
            f"pairs: {missed}. To measure the recall, run nearkin audit."
        )
    found = f"Expected number of missed pairs: {missed}"
    if not told.estimated_missed_pairs:
        found = "No pair was verified, so the number of missed pairs was not estimated"
    return Sentence(f"{found}; predicted recall of pairs {at}: {at_threshold}")


def _on_search(told: DedupManifest, *, has_compiled: bool) -> Iterator[Sentence]:
    """Estimate the missed pairs, and give the cost of the run."""
    yield missed_pairs_sentence(told)
    speed = speed_text(total_s(told.stages), told.count("documents"), has_compiled=has_compiled)
    yield Sentence(f"{speed}, {memory_text(told.stages)}{_beyond_the_limit(told.memory)}")


def _beyond_the_limit(memory: MemoryUse | None) -> str:
    """Explain why a run took more memory than ``--memory``, if it did.

    Examples
    --------
    >>> _beyond_the_limit(MemoryUse(256 << 20, 150 << 20, 390 << 20, longest_document_characters=9))
    ' (--memory 256 MiB, and 150 MiB of Python and its libraries)'
    """
    if memory is None or memory.peak_bytes <= memory.limit_bytes:
        return ""
    limit, before = memory.limit_bytes, memory.before_bytes
    told = f"--memory {limit / 2**20:,.0f} MiB, and {before / 2**20:,.0f} MiB of Python and its libraries"
    if memory.peak_bytes <= limit + before:
        return f" ({told})"
    longest = memory.longest_document_characters
    if longest * MAX_BYTES_PER_CHARACTER > limit:
        return f" ({told}; the longest document, of {counted(longest, 'character')}, is compared whole)"
    return f" ({told}; compiled code, mapped files and the memory of each thread are not included)"


def total_s(stages: Sequence[StageCost]) -> float:
    """Return the seconds of all stages together."""
    return sum(stage.elapsed_s for stage in stages)


def speed_text(elapsed_s: float, n_documents: int, *, has_compiled: bool = False) -> str:
    """Write a time, and the documents per second unless kernels were compiled: then the rate is not that of later runs.

    Examples
    --------
    >>> speed_text(2.0, 2468)
    '2.0 s, 1,234 documents per second'
    >>> speed_text(20.0, 2468, has_compiled=True)
    '20.0 s, including the one-time compilation of kernels'
    """
    if has_compiled:
        return f"{elapsed_s:.1f} s, including the one-time compilation of kernels"
    rate = n_documents / elapsed_s if elapsed_s else 0
    return f"{elapsed_s:.1f} s, {counted(round(rate), 'document')} per second"


def memory_text(stages: Sequence[StageCost]) -> str:
    """Write the peak memory of all stages.

    Examples
    --------
    >>> memory_text([StageCost("read", 0.5, 3 << 20), StageCost("group", 0.5, 2 << 20)])
    'at most 3 MiB of memory'
    """
    peak = max((stage.peak_memory_bytes for stage in stages), default=0)
    return f"at most {peak / 2**20:,.0f} MiB of memory"
