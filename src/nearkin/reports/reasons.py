"""Reasons why documents are kept or dropped, in words."""

from __future__ import annotations

from collections.abc import Iterator

from nearkin.errors import is_int
from nearkin.manifests.dedup import DedupManifest
from nearkin.nouns import agreeing, counted
from nearkin.paths import STDIN

REASONS_IN_WORDS = {
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


def textless_in_words(told: DedupManifest) -> dict[str, int]:
    """Count the documents of which no text was compared, in words for a list that also has kinds of exceptions.

    One of those kinds is "unreadable", too, and has other documents.
    """
    return {_WITHOUT_TEXT.get(reason, reason): n for reason, n in told.textless.items()}


_WITHOUT_TEXT = {"unreadable": "without readable text"}


def reason_in_words(told: DedupManifest, reason: str) -> str:
    """Explain a reason of a run; with another set, documents of the input are not compared with each other."""
    if told.is_against and reason == "unique":
        return "no match in the other set"
    if reason == "unique" and (n_groups := told.count("groups")):
        principals = agreeing(n_groups, "is the principal of a group", "are principals of groups")
        return f"{REASONS_IN_WORDS[reason]}; {n_groups:,} {principals}"
    if reason == "overlap" and is_int(n := told.parameters.get("min_shared")):
        return f"shares at least {counted(n, 'shingle')} with a document of the other set"
    if reason == "near-duplicate" and "min_shared" in told.parameters:
        return "does not occur with --min-shared"
    if reason == "overlap" and told.threshold is not None:
        return f"contains at least {100 * told.threshold:.10g}% of a document of the other set"
    if reason == "exact copy" and told.parameters.get("normalise") == "none":
        return "same text"
    return REASONS_IN_WORDS[reason]


_BY_DIFFERENCE = {
    "numbers": "in numbers or dates only",
    "mostly numbers": "mostly in numbers or dates",
    "passage added": "by one passage more",
    "passage replaced": "in one passage only",
}
_NAMED_SHARE = 0.1


def differences_text(told: DedupManifest) -> str:
    """Count the dropped documents by what differs from the kept one; "" if there is nothing to count.

    Examples
    --------
    >>> told = DedupManifest(counts={"dropped": 9, "dropped_numbers": 5, "dropped_passage_added": 1})
    >>> differences_text(told)
    'Dropped documents that differ from the kept one in numbers or dates only: 5 of 9; by one passage more: 1 of 9'
    """
    n_dropped = told.n_dropped_for_another
    counts = [f"{_BY_DIFFERENCE[name]}: {n:,} of {n_dropped:,}" for name, n in told.dropped_by_difference.items()]
    return f"Dropped documents that differ from the kept one {'; '.join(counts)}" if counts else ""


def apart_advice(told: DedupManifest) -> Iterator[tuple[str, bool]]:
    """Name the options that keep documents apart, if many differ only so from the kept one; whether it is a warning."""
    counts, n_dropped = told.dropped_by_difference, told.n_dropped_for_another
    n_numbers, n_passages = (
        sum(counts.get(name, 0) for name in names)
        for names in (("numbers", "mostly numbers"), ("passage added", "passage replaced"))
    )
    n_largest, n_documents = told.count("largest_group"), told.count("documents")
    is_large = 2 * n_largest > n_documents > 2
    if is_large:
        yield f"One group holds {n_largest:,} of {counted(n_documents, 'document')}", False
    is_often_numbers = n_numbers > _NAMED_SHARE * n_dropped
    if "keep_apart" not in told.parameters and (is_large or is_often_numbers):
        option = "--keep-apart numbers, or --preset records"
        yield f"To keep documents that differ in numbers, such as invoices: {option}", is_often_numbers
    if n_passages > _NAMED_SHARE * n_dropped:
        yield "To compare documents without a passage that they share, such as a licence: --ignore FILE", False


_IN_MEMORY, _RESULTS = "table", "results"


def no_kept_corpus_text(told: DedupManifest) -> str:
    """Say that no cleaned corpus was written, and which command writes it; nothing if it was written.

    Examples
    --------
    >>> told = DedupManifest(parameters={"threshold": 0.9, "group": "component"})
    >>> no_kept_corpus_text(told)
    'No cleaned corpus was written. For one, repeat the command with --write-kept and --overwrite.'
    >>> from dataclasses import replace
    >>> from nearkin.manifests.stored import InputFile
    >>> no_kept_corpus_text(replace(told, inputs=(InputFile(path="-"),)))[:66]
    'No cleaned corpus was written. For one, repeat nearkin dedup with '
    """
    if told.kept is not None:
        return ""
    said = "No cleaned corpus was written."
    if any(one.format == _RESULTS for one in told.inputs):  # their files have an unknown format
        return said
    if any(one.path == STDIN or one.format == _IN_MEMORY for one in told.inputs):  # these cannot be read again
        options = " ".join(
            f"--{name} {told.parameters[name]}" for name in ("threshold", "group") if name in told.parameters
        )
        return f"{said} For one, repeat nearkin dedup with {options} --write-kept and another --out."
    return f"{said} For one, repeat the command with --write-kept and --overwrite."
