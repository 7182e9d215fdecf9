"""Options of a deduplication as users read them: in the help of ``nearkin dedup``, and in the report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nearkin.reports.quantities import grams_text, measure_of
from nearkin.stages.verification.measures import MEASURES

if TYPE_CHECKING:
    from nearkin.manifests.dedup import DedupManifest

_SEARCHED = "What is a near-duplicate"
_KEPT = "What is kept"


@dataclass(frozen=True, slots=True, kw_only=True)
class DedupOption:
    """One option in words.

    Parameters
    ----------
    help : str
        Help text of the option, without its default.
    help_of_results : str
        Sentence that follows in the help of commands with kept documents and reasons.
    default : str
        Default that the help shows; "" for none.
    takes : type
        Type of its value on the command line; an option of type bool takes no value.
    metavar : str, optional
        Name of the value in the help.
    panel : str
        Part of the help.
    meaning : str, mapping or callable
        What the report says of the parameter: a text, a text for each value, or a function of the run and the value.
    """

    help: str
    help_of_results: str = ""
    default: str = ""
    takes: type = str
    metavar: str | None = None
    panel: str = _SEARCHED
    meaning: str | Mapping[str, str] | Callable[[DedupManifest, str], str] = ""

    def meaning_of(self, facts: DedupManifest, value: str) -> str:
        """Explain the parameter with its value; "" if there is nothing to say."""
        if isinstance(self.meaning, str):
            return self.meaning
        return self.meaning.get(value, "") if isinstance(self.meaning, Mapping) else self.meaning(facts, value)


def _of_shingle(facts: DedupManifest, value: str) -> str:
    units, _, length = value.partition(":")
    unit = units.removesuffix("s").replace("char", "character")
    run = f"every {unit}" if length == "1" else f"every run of {length} neighbouring {unit}s"
    words = "; a word is a run of letters and digits, and punctuation does not count" if unit == "word" else ""
    return (
        f"{grams_text(value)}: {run} is a shingle; a shingle counts once per document, however often it occurs{words}"
    )


def _of_measure(facts: DedupManifest, value: str) -> str:
    drop = facts.parameters.get("drop", "contained")
    if value != "containment" or not facts.is_against or drop == "either":
        return MEASURES[value].meaning if value in MEASURES else ""
    of_other = "the share of the shingles of a document of the other set that occur in a document of the input"
    if "min_shared" in facts.parameters:
        return of_other
    of_input = "the share of the shingles of a document of the input that occur in a document of the other set"
    return (
        f"{of_other if drop == 'containing' else of_input}: this decides what is dropped; pairs that reach the "
        "threshold only in the other direction are listed and drop nothing"
    )


def _of_recall(facts: DedupManifest, value: str) -> str:
    if "min_shared" in facts.parameters and facts.plan_numbers.get("rate") == 1:
        return "every shingle was looked up, so no pair was missed, whatever this value"
    pair = "with exactly one shared shingle" if "min_shared" in facts.parameters else "at the threshold"
    return f"the requested probability of finding a pair {pair}"


def _meaning_of_keep(facts: DedupManifest, value: str) -> str:
    """Explain the order in which principals are chosen."""
    rule, _, column = value.partition(":")
    first, even_if = {
        "longest": ("the longest text first (white space counts only to break a tie)", "is longer"),
        "shortest": ("the shortest text first (white space counts only to break a tie)", "is shorter"),
        "first": ("the order of reading", "comes earlier"),
        "max": (f"the highest {column} first", f"has a higher {column}"),
        "min": (f"the lowest {column} first", f"has a lower {column}"),
    }.get(rule, ("", ""))
    if not first or facts.is_against:
        return ""
    if facts.parameters.get("group") == "component":
        return f"the first document of a group is kept, in this order: {first}"
    return (
        f"the order in which principals are chosen: {first}; a document that matches several principals joins the most "
        f"similar one, even if another of them {even_if}"
    )


OPTIONS = {
    "threshold": DedupOption(
        help="Minimum similarity of a near-duplicate, above 0 and up to 1.",
        default="0.7",
        takes=float,
        meaning=lambda facts, _: (
            f"the minimum {measure_of(facts)} similarity at which two documents are near-duplicates"
        ),
    ),
    "measure": DedupOption(
        help=" ".join(f"{one.name}: {one.summary}." for one in MEASURES.values()),
        default="jaccard",
        meaning=_of_measure,
    ),
    "recall": DedupOption(
        help="Probability of finding a pair at the threshold; bands and rows are chosen to reach it.",
        default="0.99",
        takes=float,
        meaning=_of_recall,
    ),
    "shingle": DedupOption(
        help="What is compared: every run of N neighbouring words (words:N) or characters (chars:N), called a shingle. "
        "A word is a run of letters and digits; punctuation does not count.",
        default="words:5",
        meaning=_of_shingle,
    ),
    "normalise": DedupOption(
        help="Differences to ignore: nfkc (Unicode compatibility forms), case, space (white space), joined by commas, "
        "or none.",
        default="nfkc,case,space",
        meaning="differences that were ignored; see above",
    ),
    "ignore": DedupOption(
        help="File of passages that do not count, such as disclaimers: one per line, or several lines between <<< and "
        ">>>; re:PATTERN for an RE2 pattern. Lines that begin with # are comments.",
        help_of_results="Kept documents are unchanged.",
        takes=Path,
        metavar="FILE",
    ),
    "ignore_numbers": DedupOption(
        help="Ignore digits.",
        help_of_results="A text with digits but no letters gets the reason numbers only.",
        takes=bool,
    ),
    "min_shared": DedupOption(
        help="With --against: minimum number of shingles shared with a document of the other set, instead of "
        "--threshold. --shingle words:13 --min-shared 1 drops documents that share a 13-gram.",
        takes=int,
        meaning="the minimum number of shingles shared with a document of the other set; such documents are dropped",
    ),
    "seed": DedupOption(
        help="Random seed of the sketches; a different seed misses different pairs.",
        default="0",
        takes=int,
        meaning="random seed of the sketches; the same seed gives the same result",
    ),
    "group": DedupOption(
        help="principal: every member is similar to its principal. component: everything a chain of pairs connects.",
        default="principal",
        panel=_KEPT,
        meaning={
            "principal": "every member has at least the threshold's similarity to its group's principal; a verified "
            "pair of documents in different groups does not merge the groups, and is counted as a bridge refused",
            "component": "documents joined by any chain of verified pairs; two members may be less similar than the "
            "threshold, so each group states its lowest similarity",
        },
    ),
    "keep": DedupOption(
        help="Which document of a group is kept (its principal): the longest or shortest, first (on the command "
        "line), max:COLUMN or min:COLUMN (numbers, dates or times). White space and passages "
        "of --ignore add nothing to a length, except to break a tie. If documents still tie, the first by path and "
        "line is kept.",
        default="longest",
        panel=_KEPT,
        meaning=_meaning_of_keep,
    ),
    "drop": DedupOption(
        help="With --against: drop by containment. contained: drop documents that are contained in a document of the "
        "other set. containing: drop those that contain one. either: drop both. Default "
        "with --measure containment: contained. With --measure jaccard and without --drop, near-duplicates are "
        "dropped.",
        panel=_KEPT,
        meaning={
            "contained": "documents that are contained in a document of the other set are dropped",
            "containing": "documents that contain a document of the other set are dropped",
            "either": "documents that are contained in a document of the other set, or contain one, are dropped",
        },
    ),
}
"""The options, in their order in the help and in the report; those without a meaning are no parameters of a run."""
