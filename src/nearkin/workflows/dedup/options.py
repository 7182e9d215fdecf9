"""Options of a deduplication."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Literal, Never, TypedDict, cast, get_args

import numpy as np

from nearkin.arguments import checking_methods
from nearkin.errors import ParameterError, check_int, in_percent, is_among, is_int, is_number
from nearkin.nouns import one_of
from nearkin.planning.search import check_reachable
from nearkin.records import Bool, Matches
from nearkin.stages.documents.ignoring import Ignored
from nearkin.stages.documents.normalisation import Normalisation, Steps
from nearkin.stages.features.shingles import Shingling, Words, parse_shingling
from nearkin.stages.grouping import Keep, Rule
from nearkin.stages.verification.measures import MEASURE_NAMES, MEASURES, Measure, MeasureName

Drop = Literal["contained", "containing", "either"]
ANY_SHARE = 1e-6
"""Threshold that belongs to ``min_shared``: one shingle in a million."""
_ALL_OF_THEM = 0.999_999
_IGNORED = ("ignore", "ignore_numbers")

Preset = Literal["fineweb", "stack", "ediscovery", "contracts"]
PRESETS: dict[str, dict[str, str | float]] = {
    "fineweb": {"threshold": 0.75, "shingle": "words:5", "group": "component", "keep": "first"},
    "stack": {"threshold": 0.7, "shingle": "words:5", "group": "component", "keep": "first", "normalise": "none"},
    "ediscovery": {"threshold": 0.7, "shingle": "words:3", "group": "principal", "keep": "longest"},
    "contracts": {"threshold": 0.6, "shingle": "words:3", "group": "principal", "keep": "longest"},
}
"""Starting points, chosen in docs/decisions/0001; options given beside a preset override it."""


class SearchGiven(TypedDict, total=False):
    """Keywords of functions that search one set of documents, as a type checker sees them; None means not given."""

    preset: Preset | None
    threshold: float | None
    measure: MeasureName | None
    recall: float | None
    shingle: Shingling | str | None
    group: Rule | None
    keep: Keep | str | None
    normalise: Normalisation | Steps | None
    ignore: Path | str | Sequence[str] | None
    ignore_numbers: bool
    seed: int | None


class DedupGiven(SearchGiven, total=False):
    """Keywords of functions that also compare with another set of documents."""

    drop: Drop | None
    min_shared: int | None


FOR_ANOTHER_SET = tuple(name for name in DedupGiven.__annotations__ if name not in SearchGiven.__annotations__)
"""Options that need another set of documents."""


@checking_methods
@dataclass(frozen=True, slots=True, kw_only=True)
class DedupOptions:
    """Options of a deduplication; together they decide the result.

    Parameters
    ----------
    threshold : float
        Minimum similarity of a near-duplicate, in (0, 1].
    measure : Measure
        Measure of similarity; `of` makes it from its name, such as ``"containment"``.
    recall : float
        Probability of finding a pair at the threshold, in (0, 1).
    shingle : Shingling
        Shingles to compare; `of` makes them from ``"words:N"`` or ``"chars:N"``.
    group : {"principal", "component"}
        "principal": every member of a group is similar to its principal. "component": a group is everything that a
        chain of pairs connects.
    keep : Keep
        Order in which principals are chosen; `of` makes it from a rule such as ``"longest"`` or ``"max:COLUMN"``.
    normalise : Normalisation
        Differences to ignore; `of` makes it from steps such as ``"nfkc,case,space"``.
    seed : int
        Random seed of the sketches.
    drop : {"contained", "containing", "either"}, optional
        With another set of documents (``against``) and the measure containment: drop documents that are contained in a
        document of the other set (the default), documents that contain one, or both.
    min_shared : int, optional
        With another set of documents (``against``): drop the documents that share at least this many shingles with one
        of its documents, at any similarity. `of` then sets the measure to containment, and the threshold to one shingle
        in a million.

    Examples
    --------
    >>> DedupOptions.of(threshold=0.9, shingle="chars:8").shingle
    Characters(length=8)
    """

    threshold: float = 0.7
    measure: Measure = MEASURES["jaccard"]
    recall: float = 0.99
    shingle: Shingling = field(default_factory=Words)
    group: Rule = "principal"
    keep: Keep = field(default_factory=Keep)
    normalise: Normalisation = field(default_factory=Normalisation)
    seed: int = 0
    drop: Drop | None = None
    min_shared: int | None = None

    def __post_init__(self) -> None:
        if not is_number(self.threshold) or not 0 < self.threshold <= 1:
            rule = f"a number > 0 and <= 1{in_percent(self.threshold)}"
            raise ParameterError.of("threshold", rule, self.threshold)
        if not is_number(self.recall) or not 0 < self.recall < 1:
            rule = f"a number > 0 and < 1{in_percent(self.recall)}"
            raise ParameterError.of("recall", rule, self.recall)
        if not is_among(self.group, get_args(Rule)):
            raise ParameterError.of("group", one_of(get_args(Rule)), self.group)
        for name, kind, words in (
            ("measure", Measure, MEASURE_NAMES),
            ("shingle", Shingling, "words:N or chars:N"),
            ("keep", Keep, "longest, shortest, first, max:COLUMN or min:COLUMN"),
            ("normalise", Normalisation, "steps such as nfkc,case,space, or none"),
        ):
            if not isinstance(getattr(self, name), kind):
                raise ParameterError.of(name, words, getattr(self, name))
        if not is_int(self.seed) or not 0 <= self.seed < 2**64:
            raise ParameterError.of("seed", "an int from 0 to 2**64 - 1", self.seed)
        self._check_across()
        if self.measure.search == "bands":
            check_reachable(self.threshold, self.recall)

    def _check_across(self) -> None:
        """Refuse parameters that have no effect or contradict each other."""
        if self.drop is not None and not is_among(self.drop, get_args(Drop)):
            raise ParameterError.of("drop", one_of(get_args(Drop)), self.drop)
        if self.drop is not None and not self.measure.is_directed:
            raise ParameterError(
                f"needs 'measure' to be containment. Got {self.measure.name} instead.", parameter="drop"
            )
        if self.min_shared is None:
            return
        check_int("min_shared", self.min_shared, 1)
        clashes = {
            "threshold": self.threshold != ANY_SHARE,
            "measure": not self.measure.is_directed,
            "drop": self.drop is not None,
        }
        if others := [name for name, is_clash in clashes.items() if is_clash]:
            raise ParameterError(
                "drops every document that shares enough shingles, whatever its similarity. Omit "
                f"{' and '.join(others)}.",
                parameter="min_shared",
            )

    @classmethod
    def of(cls, *, preset: str | None = None, **given: object) -> DedupOptions:
        """Make the options from a preset and the user's values.

        Parameters
        ----------
        preset : {"fineweb", "stack", "ediscovery", "contracts"}, optional
            Starting point, which the other values override.
        **given
            Parameters of `DedupOptions`, as values or in the syntax of the command line; None means not given. Two more
            become a part of the normalisation: ``ignore``, passages that do not count, such as disclaimers (a file, or
            a list of passages in the syntax of its lines), and ``ignore_numbers``, whether to ignore digits.

        Raises
        ------
        ParameterError
            A value is invalid.
        """
        if preset is not None and not is_among(preset, PRESETS):
            raise ParameterError.of("preset", f"one of {', '.join(PRESETS)}", preset)
        return cls()._changed(PRESETS.get(preset or "", {}), given)

    def replaced(self, **given: object) -> DedupOptions:
        """Return the options with some values replaced by the user's; None means not given.

        Raises
        ------
        ParameterError
            A value is invalid.

        Examples
        --------
        >>> DedupOptions(threshold=0.9).replaced(recall=0.5, threshold=None).threshold
        0.9
        """
        return self._changed({}, given)

    def _changed(self, preset: Mapping[str, object], given: Mapping[str, object]) -> DedupOptions:
        """Return the options with the values of a preset, then those that were given."""
        passages = Ignored.of(given.get("ignore"), numbers=bool(given.get("ignore_numbers")))
        given = {name: value for name, value in given.items() if name not in _IGNORED}
        names = [one.name for one in fields(self)]
        if unknown := given.keys() - set(names):
            raise ParameterError(f"dedup has no parameter {sorted(unknown)[0]!r}; it has {', '.join(names)}.")
        chosen = {**preset, **{name: value for name, value in given.items() if value is not None}}
        if given.get("min_shared") is not None:
            rule = {"measure": "containment", "threshold": ANY_SHARE, "recall": _ALL_OF_THEM}
            chosen |= {name: value for name, value in rule.items() if given.get(name) is None}
        elif given.get("drop") is not None:
            chosen.setdefault("measure", "containment")
        parsers: dict[str, Callable[[str], object]] = {
            "shingle": parse_shingling,
            "measure": lambda name: MEASURES.get(name, name),
            "keep": Keep.parse,
            "normalise": Normalisation.parse,
        }
        parsed = {
            name: parsers[name](value) if name in parsers and isinstance(value, str) else value
            for name, value in chosen.items()
        }
        changed = replace(self, **cast("dict[str, Never]", parsed))  # __post_init__ validates the values
        return replace(changed, normalise=changed.normalise.ignoring(passages)) if passages else changed

    def in_words(self) -> dict[str, str | float | int]:
        """Return the options as the command line takes them, without those that are None or have no effect."""
        left_out = set() if self.min_shared is None else {"threshold"}
        return {
            f.name: v if isinstance(v, str | float | int) else str(v)
            for f in fields(self)
            if (v := getattr(self, f.name)) is not None and f.name not in left_out
        }

    def shown(self, *, is_against: bool = False) -> dict[str, str | float | int]:
        """Return the options as a run prints them: those of `in_words`, shortened, without a recall that nobody set.

        With another set there are no groups: ``group`` and ``keep`` have no effect.
        """
        told = self.in_words() | {"normalise": self.normalise.shown}
        for name in ("group", "keep") if is_against else ():
            del told[name]
        if self.min_shared is not None and self.recall == _ALL_OF_THEM:
            del told["recall"]  # every shingle is looked up
        return told

    def is_match(self, matches: Matches) -> Bool:
        """Whether each verified pair is reported: it is similar enough, or shares enough shingles.

        Raises
        ------
        ParameterError
            Something else than verified pairs was given.
        """
        if not isinstance(matches, Matches):
            raise ParameterError.of("matches", "verified pairs (Matches)", matches)
        if self.min_shared is not None:
            return np.greater_equal(matches.n_common, self.min_shared)
        return np.greater_equal(self.measure.similarity(matches), self.threshold)

    def check_fits(self, *, is_against: bool) -> None:
        """Refuse options that need another set of documents if there is none.

        Raises
        ------
        ParameterError
        """
        for name in FOR_ANOTHER_SET:
            if getattr(self, name) is not None and not is_against:
                raise ParameterError("needs 'against'.", parameter=name)

    @property
    def looks_inside(self) -> bool:
        """Whether documents of another set are looked for inside longer documents."""
        return self.min_shared is not None or self.drop in ("containing", "either")

    @property
    def fingerprint(self) -> str:
        """Everything that decides the result, in one line."""
        return ";".join(f"{name}={value}" for name, value in self.in_words().items()) + f";{self.shingle.fingerprint}"
