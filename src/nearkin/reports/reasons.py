"""Reasons why documents are kept or dropped, in words."""

from __future__ import annotations

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
