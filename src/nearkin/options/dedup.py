"""Options of a deduplication."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from nearkin.errors import ParameterError
from nearkin.options.declared import Option, Options, Same, option
from nearkin.options.reading import ReadingOptions
from nearkin.options.running import OVERLAY, RESUME, ResourceOptions, ResultOptions, RunOptions
from nearkin.stages.verification.difference_names import APART, DIFFERENCES, KeepApart
from nearkin.stages.verification.measures import MEASURE_NAMES, MEASURES, Measure, MeasureName

if TYPE_CHECKING:
    from nearkin.records import Bool, Matches
    from nearkin.stages.documents.normalisation import Normalisation
    from nearkin.stages.features.shingles import Shingling
    from nearkin.stages.grouping import Keep, Rule

Drop = Literal["contained", "containing", "either"]
ANY_SHARE = 1e-6
"""Threshold that belongs to ``min_shared``: one shingle in a million."""
_ALL_OF_THEM = 0.999_999
_searched = partial(option, panel="What is a near-duplicate")
_kept = partial(option, panel="What is kept")
_input = partial(option, panel="Input", needs="against", metavar="COLUMN")
_output = partial(option, panel="Output", needs="out")

Preset = Literal["fineweb", "stack", "ediscovery", "contracts", "records", "code", "ocr"]
PRESETS: dict[str, dict[str, str | float]] = {
    "fineweb": {"threshold": 0.75, "shingle": "words:5", "group": "component", "keep": "first"},
    "stack": {"threshold": 0.7, "shingle": "words:5", "group": "component", "keep": "first", "normalise": "none"},
    "ediscovery": {"threshold": 0.7, "shingle": "words:3", "group": "principal", "keep": "longest"},
    "contracts": {"threshold": 0.6, "shingle": "words:3", "group": "principal", "keep": "longest"},
    "records": {
        "threshold": 0.6,
        "shingle": "words:2",
        "keep_apart": "numbers,names",
        "normalise": "hyphens,nfkc,case,arabic,space",
    },
    "code": {"threshold": 0.7, "shingle": "code:5", "normalise": "none"},
    "ocr": {"threshold": 0.38, "shingle": "chars:6"},
}
"""Starting points, chosen in docs/decisions/0001; options given beside a preset override it."""


def shingling(given: Any) -> Shingling:
    """Return shingles from ``words:N``, ``chars:N`` or ``code:N``."""
    from nearkin.stages.features.shingles import Shingling, parse_shingling

    return given if isinstance(given, Shingling) else parse_shingling(given)


def normalisation(given: Any) -> Normalisation:
    """Return differences to ignore from steps such as ``hyphens,case,space``."""
    from nearkin.stages.documents.normalisation import Normalisation

    return given if isinstance(given, Normalisation) else Normalisation.parse(given)


def _keep(given: Any) -> Keep:
    from nearkin.stages.grouping import Keep

    if not isinstance(given, Keep | str):
        raise ParameterError.of("keep", "longest, shortest, first, max:COLUMN or min:COLUMN", given)
    return given if isinstance(given, Keep) else Keep.parse(given)


def _measure(given: Any) -> Measure:
    if isinstance(given, Measure):
        return given
    if not isinstance(given, str) or given not in MEASURES:
        raise ParameterError.of("measure", MEASURE_NAMES, given)
    return MEASURES[given]


class PlannedSearch(Options):
    """Options that decide how a corpus is searched."""

    threshold: Same[float] = _searched(
        0.7, above=0, maximum=1, help="Minimum similarity of a near-duplicate, above 0 and up to 1."
    )
    measure: Option[Measure, Measure | MeasureName] = _searched(
        "jaccard", parse=_measure, help=" ".join(f"{one.name}: {one.summary}." for one in MEASURES.values())
    )
    recall: Same[float] = _searched(
        0.99, above=0, below=1,
        help="Probability of finding a pair at the threshold; bands and rows are chosen to reach it.",
    )  # fmt: skip
    shingle: Option[Shingling, Shingling | str] = _searched(
        "words:5", parse=shingling,
        help="What is compared, called shingles: every run of N neighbouring words (words:N), characters (chars:N) or "
        "tokens of source code (code:N).",
    )  # fmt: skip


class IgnoringOptions(Options):
    """Passages that do not count; they become a part of the normalisation, if a job has one."""

    ignore: Same[Path | str | Sequence[str] | None] = _searched(
        metavar="FILE", kind=Path,
        help="File of passages that do not count: one per line, or several lines between <<< and >>>; re:PATTERN "
        "(RE2); # begins a comment.",
    )  # fmt: skip
    ignore_numbers: Same[bool] = _searched(False, help="Ignore digits.")

    def __post_init__(self) -> None:
        super().__post_init__()
        steps = vars(self).get("normalise")
        if steps is not None and (self.ignore is not None or self.ignore_numbers):
            from nearkin.stages.documents.ignoring import Ignored

            if passages := Ignored.of(self.ignore, numbers=self.ignore_numbers):
                vars(self)["normalise"] = steps.ignoring(passages)
            vars(self).update(ignore=None, ignore_numbers=False)  # they are in the normalisation now


class SearchOptions(PlannedSearch):
    """Options of a search in one set of documents."""

    group: Same[Rule] = _kept(
        "principal", choices=("principal", "component"),
        help="principal: every member is similar to its principal. component: everything a chain of pairs connects.",
    )  # fmt: skip
    keep: Option[Keep, Keep | str] = _kept(
        "longest", parse=_keep,
        help="Which document of a group is kept (its principal): longest, shortest, first (on the command line), "
        "max:COLUMN or min:COLUMN (numbers, dates or times).",
    )  # fmt: skip
    normalise: Option[Normalisation, Normalisation | str] = _searched(
        "margins,hyphens,nfkc,case,arabic,space", parse=normalisation,
        help="Differences to ignore, joined by commas, or none: margins (line and Bates numbers), hyphens (at ends of "
        "lines), nfkc (Unicode compatibility forms), case, arabic (forms of letters and digits), accents, space.",
    )  # fmt: skip
    seed: Same[int] = _searched(
        0, maximum=2**64 - 1, help="Random seed of the sketches; a different seed misses different pairs."
    )
    keep_apart: Same[KeepApart | None] = _kept(
        choices=tuple(APART),
        help="What makes similar documents no near-duplicates: numbers (another number, date or passage in place of "
        "the other's), numbers,names (also nothing but other names, or fields of a form), or none (the default). "
        "Their pairs are listed.",
    )  # fmt: skip


class GivenSearch(IgnoringOptions, SearchOptions):
    """Options of a search, and others that give some of them their values."""

    preset: Same[Preset | None] = _searched(
        choices=PRESETS,
        help="fineweb, stack, ediscovery, contracts, records, code or ocr: values that other options override.",
    )

    def defaults(self) -> Mapping[str, object]:
        """Return the values of the preset, and those that belong to ``min_shared`` and ``drop``."""
        given = vars(self)
        values: dict[str, object] = dict(PRESETS.get(str(given["preset"]), {}))
        if given.get("min_shared") is not None:
            values |= {"measure": "containment", "threshold": ANY_SHARE, "recall": _ALL_OF_THEM}
        elif given.get("drop") is not None:
            values.setdefault("measure", "containment")
        return values


class DedupOptions(GivenSearch):
    """Options that decide the result of a deduplication."""

    drop: Same[Drop | None] = _kept(
        choices=get_args(Drop), needs="against",
        help="With --against: drop documents that are contained in a document of the other set (contained), that "
        "contain one (containing), or both (either). Default with --measure containment: contained.",
    )  # fmt: skip
    attachments: Same[Literal["alone"] | None] = _kept(
        choices=("alone",),
        help="alone: keep or drop each attachment by itself, not only together with its mail.",
    )  # fmt: skip
    min_shared: Same[int | None] = _searched(
        kind=int, minimum=1, needs="against", excludes="drop",
        help="With --against: minimum number of shingles shared with a document of the other set, instead of "
        "--threshold.",
    )  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.drop is not None and not self.measure.is_directed:
            raise ParameterError(
                f"needs 'measure' to be containment. Got {self.measure.name} instead.", parameter="drop"
            )
        clashes = {"threshold": self.threshold != ANY_SHARE, "measure": not self.measure.is_directed}
        if self.min_shared is not None and (others := [name for name, is_clash in clashes.items() if is_clash]):
            raise ParameterError(
                "drops every document that shares enough shingles, whatever its similarity. Omit "
                f"{' and '.join(others)}.",
                parameter="min_shared",
            )
        if APART[self.keep_apart or "none"] and self.normalise.ignored.numbers:
            raise ParameterError("has no effect if numbers are ignored. Omit ignore_numbers.", parameter="keep_apart")
        if self.measure.search == "bands":
            from nearkin.planning.search import check_reachable

            check_reachable(self.threshold, self.recall)

    def in_words(self) -> dict[str, str | float | int]:
        """Return the options as the command line takes them, without those that are None or have no effect."""
        values = {name: getattr(self, name) for name in DECIDING if getattr(self, name) is not None}
        if self.min_shared is not None:
            del values["threshold"]
        return {name: value if isinstance(value, str | float | int) else str(value) for name, value in values.items()}

    def shown(self, *, is_against: bool = False) -> dict[str, str | float | int]:
        """Return the options of `in_words` that have an effect, shortened, without a recall that nobody set."""
        values = self.in_words() | {"normalise": self.normalise.shown}
        for name in ("group", "keep") if is_against else ():
            del values[name]
        if self.min_shared is not None and self.recall == _ALL_OF_THEM:
            del values["recall"]  # every shingle is looked up
        return values

    def is_match(self, matches: Matches) -> Bool:
        """Whether each verified pair is reported: it is similar enough, or shares enough shingles."""
        import numpy as np

        from nearkin.records import Matches

        if not isinstance(matches, Matches):
            raise ParameterError.of("matches", "verified pairs (Matches)", matches)
        if self.min_shared is not None:
            return np.greater_equal(matches.n_common, self.min_shared)
        return np.greater_equal(self.measure.similarity(matches), self.threshold)

    def is_apart(self, matches: Matches) -> Bool:
        """Whether each verified pair is kept apart, although it is similar enough."""
        import numpy as np

        apart = APART[self.keep_apart or "none"]
        if not apart or matches.differs is None:
            return np.zeros(len(matches), np.bool_)
        return np.isin(matches.differs, [DIFFERENCES.index(name) for name in apart])

    @property
    def looks_for_names(self) -> bool:
        """Whether pairs that differ in nothing but names are kept apart."""
        return "names" in APART[self.keep_apart or "none"]

    @property
    def looks_inside(self) -> bool:
        """Whether documents of another set are looked for inside longer documents."""
        return self.min_shared is not None or self.drop in ("containing", "either")

    @property
    def fingerprint(self) -> str:
        """Everything that decides the result, in one line."""
        return ";".join(f"{name}={value}" for name, value in self.in_words().items()) + f";{self.shingle.fingerprint}"


DECIDING = tuple(name for name in DedupOptions.annotations if name not in ("preset", "ignore", "ignore_numbers"))
"""Options that decide the result, in the order in which manifests list them; the others give these their values."""


def _columns(given: Any) -> tuple[str, ...]:
    if isinstance(given, str):
        raise ParameterError.of("carry", "a list of columns", given)
    return tuple(given)


class AgainstOptions(Options):
    """Another set of documents."""

    against: Option[Any, Any] = option(
        panel="Input", kind=list,
        help="Drop from INPUT what already occurs here, instead of near-duplicates inside INPUT: files, a quoted "
        "pattern, a collection, or results of nearkin dedup. Repeatable.",
    )  # fmt: skip
    against_text: Same[str | None] = _input(
        help="Column with the text in the files of --against. [default: as --text, or guessed and printed]"
    )
    against_id: Same[str | None] = _input(
        help="Column with the id in the files of --against. [default: as --id, or guessed and printed]"
    )


class FilesOptions(Options):
    """Files to write beside the tables."""

    write_kept: Same[bool] = _output(
        False, help="Also write the cleaned corpus, in the format of the input or as JSON Lines."
    )
    annotate: Same[bool] = _output(
        False, help="Also write all records with their group, similarity and verdict, into annotated/."
    )
    carry: Option[tuple[str, ...], Sequence[str]] = option(
        (), metavar="COLUMN", kind=list, parse=_columns, panel="Output",
        help="Copy this column of the input into documents.parquet; the report counts by its values. Repeatable.",
    )  # fmt: skip
    overlay: Same[str | None] = OVERLAY


class Delivery(FilesOptions, ResultOptions):
    """Files to write, and what to do with existing results."""

    resume: Same[bool] = RESUME


class DedupJob(ResourceOptions, DedupOptions, AgainstOptions, ReadingOptions, FilesOptions, RunOptions):
    """Options of ``nearkin dedup``."""
