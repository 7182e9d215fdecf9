"""How alike documents must be to be found: said with every query."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from nearkin.collection.counting import SIGNATURE
from nearkin.errors import ParameterError
from nearkin.planning.signature_recall import RECALL, distance_for
from nearkin.stages.signatures.similarity_index import TOLERANCE

Method = Literal["range", "minhash", "hamming", "si"]
METHODS: tuple[Method, ...] = ("range", "minhash", "hamming", "si")
GAMMA = 0.025
"""The article's own setting; 0.05 is its relaxed one."""
THRESHOLD = 0.7
DISTANCE = 32
MAX_TOLERANCE = 10
_PARAMETERS = {"range": "gamma", "minhash": "threshold", "hamming": "distance", "si": "tolerance"}
_DEFAULTS = {"range": GAMMA, "minhash": THRESHOLD, "hamming": DISTANCE, "si": TOLERANCE}


@dataclass(frozen=True, slots=True)
class Tolerance:
    """A method, and the one number that it goes by.

    Parameters
    ----------
    method : {"range", "minhash", "hamming", "si"}
        "range": letter counts within ``gamma`` times the length of the query's. "minhash": a Jaccard similarity of at
        least ``threshold`` between the sets of five words. "hamming": signatures that differ in at most ``distance``
        of their 256 bits. "si": a similarity index that is nearer to the query's than ``tolerance`` times that one;
        neither complete nor exact, as one number says little of a text, and not symmetric.
    value : float
        gamma, at least 0; threshold, above 0 and at most 1; distance, an int from 0 to 255; or tolerance, above 0 and
        at most 10.

    Examples
    --------
    >>> str(Tolerance.of(gamma=0.05)), str(Tolerance.of("hamming"))
    ('range, gamma 0.05', 'hamming, distance 32')
    >>> str(Tolerance.of(gamma=0.0500000001))
    'range, gamma 0.0500000001'
    """

    method: Method
    value: float

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ParameterError.of("method", "similar", " or ".join(METHODS), self.method)
        value, is_number = self.value, isinstance(self.value, int | float) and not isinstance(self.value, bool)
        if not is_number or not math.isfinite(value):
            raise ParameterError.of(self.parameter, "similar", "a finite number", value)
        if self.method == "range" and value < 0:
            raise ParameterError.of("gamma", "similar", "at least 0", value)
        if self.method == "minhash" and not 0 < value <= 1:
            raise ParameterError.of("threshold", "similar", "above 0 and at most 1", value)
        if self.method == "hamming" and (int(value) != value or not 0 <= value < SIGNATURE.bits):
            raise ParameterError.of("distance", "similar", f"an int from 0 to {SIGNATURE.bits - 1}", value)
        if self.method == "si" and not 0 < value <= MAX_TOLERANCE:
            raise ParameterError.of("tolerance", "similar", f"above 0 and at most {MAX_TOLERANCE}", value)

    @classmethod
    def of(
        cls,
        method: Method | None = None,
        *,
        gamma: float | None = None,
        threshold: float | None = None,
        distance: int | None = None,
        tolerance: float | None = None,
    ) -> Tolerance:
        """From what was given; the method follows from the number, and the number's default from the method.

        Raises
        ------
        ParameterError
            Numbers of two methods, or a number that the method does not go by.
        """
        given: dict[Method, float | None] = {"range": gamma, "minhash": threshold, "hamming": distance, "si": tolerance}
        named = {of_method: value for of_method, value in given.items() if value is not None}
        if method is None and len(named) <= 1:
            method = next(iter(named), "range")
        if method in METHODS and set(named) - {method}:
            wrong = next(_PARAMETERS[other] for other in named if other != method)
            own = _PARAMETERS[str(method)]
            raise ParameterError(f"The method {method} takes '{own}', not '{wrong}'.", named=(own, wrong))
        if method is None:
            raise ParameterError(
                "Give one of 'gamma', 'threshold', 'distance' and 'tolerance': each belongs to another method.",
                named=_PARAMETERS.values(),
            )
        return cls(method, named.get(method, _DEFAULTS.get(method, 0.0)))

    @property
    def parameter(self) -> str:
        """The name of its number."""
        return _PARAMETERS.get(self.method, "tolerance")

    @property
    def reach(self) -> int:
        """How many bits of signatures may differ; for "minhash", in what is then compared exactly."""
        if self.method == "hamming":
            return int(self.value)
        return distance_for(self.value, SIGNATURE.bits)

    @property
    def recall(self) -> float | None:
        """How much of what is within the tolerance is found, at the least: expected for "minhash", certain for others.

        None for "si": everything in the interval is found, but how much of what is alike lies in it nobody knows.
        """
        return {"minhash": RECALL, "si": None}.get(self.method, 1.0)

    def in_words(self) -> str:
        """For a sentence.

        Examples
        --------
        >>> Tolerance.of(gamma=0.05).in_words()
        'within gamma 0.05'
        """
        if self.method == "hamming":
            return f"within {self.value:g} of {SIGNATURE.bits} bits"
        if self.method == "minhash":
            return f"with a Jaccard similarity of at least {self.value:g}"
        if self.method == "si":
            return f"with a similarity index within {self.value:g} of its own"
        return f"within gamma {self.value:g}"

    def __str__(self) -> str:
        """Exact: stored groups go by it."""
        short = f"{self.value:g}"
        exact = short if float(short) == self.value else repr(float(self.value))
        return f"{self.method}, {self.parameter} {exact}"


def check_limit(owner: str, limit: object) -> None:
    """Refuse what is no number of things to tell.

    Raises
    ------
    ParameterError
    """
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        raise ParameterError.of("limit", owner, "an int >= 1", limit)
