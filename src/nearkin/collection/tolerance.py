"""Tolerance of a query: a measure of similarity and its limit, under the same names everywhere."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from nearkin.collection.counting import SIGNATURE
from nearkin.errors import ParameterError, in_percent, is_among, is_number
from nearkin.nouns import one_of
from nearkin.planning.neighbour_recall import RECALL, distance_for
from nearkin.stages.signatures.similarity_index import TOLERANCE

Measure = Literal["jaccard", "containment", "letters", "index"]
MEASURES: tuple[Measure, ...] = get_args(Measure)
ALL = (1 << 31) - 1
"""Limit of a query for all results."""


class Limit(NamedTuple):
    """Limit of a measure: name of its parameter, default, rule and highest value."""

    parameter: str
    default: float
    rule: str
    highest: float = 1


GAMMA = 0.025
"""The article's default; 0.05 is its relaxed setting."""
THRESHOLD = 0.5
"""Versions of one text; docs/decisions/0020 gives the evidence."""
CONTAINMENT = 0.9
_SHARE = "above 0 and at most 1"
LIMITS: dict[Measure, Limit] = {
    "jaccard": Limit("threshold", THRESHOLD, _SHARE),
    "containment": Limit("threshold", CONTAINMENT, _SHARE),
    "letters": Limit("gamma", GAMMA, "at least 0 and below 1"),
    "index": Limit("tolerance", TOLERANCE, "above 0 and at most 10", 10),
}
"""With a gamma of 1 or more, every text would match all texts that are not longer."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """A measure and its limit.

    Parameters
    ----------
    measure : {"jaccard", "containment", "letters", "index"}
        "jaccard": the Jaccard similarity of the word 5-grams is at least ``threshold``. "containment": at least
        ``threshold`` of the word 5-grams of either text occur in the other; candidates may be incomplete. "letters":
        the distance of the letter counts is at most ``gamma`` times the length of the query's vector. "index": the
        similarity indexes differ by less than ``tolerance`` times the query's index; this is not symmetric, and neither
        complete nor exact.
    value
        threshold, above 0 and at most 1; gamma, at least 0 and below 1; or tolerance, above 0 and at most 10.

    Examples
    --------
    >>> str(Tolerance.of(gamma=0.05)), str(Tolerance.of("index"))
    ('letters 0.05', 'index 0.3')
    >>> str(Tolerance.of(gamma=0.0500000001)), str(Tolerance.of(gamma=-0.0))
    ('letters 0.0500000001', 'letters 0')
    """

    measure: Measure
    value: float

    def __post_init__(self) -> None:
        if not is_among(self.measure, MEASURES):
            raise ParameterError.of("measure", one_of(map(repr, MEASURES)), self.measure)
        if not is_limit(self.measure, self.value):
            hint = in_percent(self.value) if self.parameter == "threshold" else ""
            raise ParameterError.of(self.parameter, LIMITS[self.measure].rule + hint, self.value)
        object.__setattr__(self, "value", self.value + 0)  # -0.0 is 0.0: stored groups are found by what is printed

    @classmethod
    def of(
        cls,
        measure: Measure | None = None,
        *,
        gamma: float | None = None,
        threshold: float | None = None,
        tolerance: float | None = None,
    ) -> Tolerance:
        """Make a tolerance; the measure, by default "jaccard", follows from the limit, the limit from the measure."""
        limits = (("threshold", threshold), ("gamma", gamma), ("tolerance", tolerance))
        given = {name: value for name, value in limits if value is not None}
        if measure is None and len(given) > 1:
            raise ParameterError(f"Give only one of {' and '.join(given)}: each belongs to another measure.")
        chosen: Measure = next(
            (candidate for candidate, limit in LIMITS.items() if limit.parameter in given), "jaccard"
        )
        chosen = chosen if measure is None else measure
        limit = LIMITS[chosen] if is_among(chosen, MEASURES) else LIMITS["jaccard"]
        made = cls(chosen, given.pop(limit.parameter, limit.default))
        for wrong in given:
            rule = f"does not belong to the measure {chosen}, which takes {limit.parameter}"
            raise ParameterError(rule, parameter=wrong)
        return made

    @classmethod
    def if_given(cls, measure: Measure | None = None, **limits: float | None) -> Tolerance | None:
        """Make a tolerance as `of` does; None if neither a measure nor a limit is given."""
        is_given = measure is not None or any(value is not None for value in limits.values())
        return cls.of(measure, **limits) if is_given else None

    @classmethod
    def of_stored(cls, text: str) -> Tolerance | None:
        """Return the tolerance with this stored description; None if there is none.

        Examples
        --------
        >>> Tolerance.of_stored("letters 0.05") == Tolerance.of(gamma=0.05)
        True
        >>> Tolerance.of_stored("letters 0.050")
        """
        measure, _, value = text.partition(" ")
        try:
            tolerance = cls(measure, float(value))  # type: ignore[arg-type]  # it is checked
        except (ParameterError, ValueError):
            return None
        return tolerance if str(tolerance) == text else None

    @property
    def has_groups(self) -> bool:
        """Whether documents are grouped by this measure."""
        return self.measure in ("jaccard", "letters")

    @property
    def parameter(self) -> str:
        """Name of the limit."""
        return LIMITS[self.measure].parameter

    @property
    def reach(self) -> int:
        """Maximum number of different bits of the candidates by "jaccard", which are then compared exactly."""
        return distance_for(self.value, SIGNATURE.bits)

    @property
    def recall(self) -> float | None:
        """Minimum share of the documents within the tolerance that are found: expected for "jaccard", else certain."""
        return {"jaccard": RECALL, "letters": 1.0}.get(self.measure)

    def in_options(self) -> str:
        """Return the options of a command.

        Examples
        --------
        >>> Tolerance.of().in_options()
        '--measure jaccard --threshold 0.5'
        """
        return f"--measure {self.measure} --{self.parameter} {self._number}"

    def in_words(self) -> str:
        """Return the tolerance as part of a sentence.

        Examples
        --------
        >>> Tolerance.of(gamma=0.05).in_words(), Tolerance("index", 0.07).in_words()
        ('within gamma 0.05', 'whose similarity index differs by less than 7%')
        """
        if self.measure == "index":
            return f"whose similarity index differs by less than {100 * self.value:g}%"
        phrases = {"jaccard": "with a Jaccard similarity of at least {}", "letters": "within gamma {}"}
        return phrases.get(self.measure, "with a containment of at least {} in either direction").format(
            f"{self.value:g}"
        )

    @property
    def _number(self) -> str:
        short = f"{self.value:g}"
        return short if float(short) == self.value else repr(float(self.value))

    def __str__(self) -> str:
        """Return an exact description; stored groups are identified by it."""
        return f"{self.measure} {self._number}"


def is_limit(measure: Measure, value: object) -> bool:
    """Whether a value is a limit of a measure, by its rule.

    Examples
    --------
    >>> is_limit("letters", 0.05), is_limit("letters", 1), is_limit("jaccard", 1), is_limit("jaccard", float("nan"))
    (True, False, True, False)
    """
    if not is_number(value) or not math.isfinite(value):
        return False
    return 0 <= value < 1 if measure == "letters" else 0 < value <= LIMITS[measure].highest


def check_limit(limit: object) -> None:
    """Refuse an invalid maximum number of results."""
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        raise ParameterError.of("limit", "an int >= 1", limit)


LETTERS_ONLY = "letters alike, wording not"
"""Remark on a match by letters that is no match by wording."""


def is_letters_only(jaccard: float, tolerance: Tolerance) -> bool:
    """Whether a match by letters is below the default threshold of wording."""
    return tolerance.measure == "letters" and jaccard < THRESHOLD
