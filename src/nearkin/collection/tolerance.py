"""Tolerance of a query: a search method and its limit."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal

from nearkin.collection.counting import SIGNATURE
from nearkin.errors import ParameterError, in_percent, is_among, is_number
from nearkin.nouns import one_of
from nearkin.planning.neighbour_recall import RECALL, distance_for
from nearkin.stages.signatures.similarity_index import TOLERANCE

Method = Literal["range", "minhash", "si", "containment"]
MethodName = Literal["words", "letters", "range", "minhash", "si", "containment"]
"""Names of methods that users can give: "words" is "minhash", "letters" is "range"."""
_NAMED: dict[str, Method] = {"words": "minhash", "letters": "range"}
_SHOWN = {"minhash": "words", "range": "letters", "si": "si", "containment": "containment"}
METHODS: tuple[Method, ...] = ("range", "minhash", "si", "containment")
_OPTION_OF_GROUPS = re.compile(r"\w+, ((?:threshold|gamma) [0-9.e-]+)")
_BY_THRESHOLD = frozenset(("minhash", "containment"))
GAMMA = 0.025
"""The article's default; 0.05 is its relaxed setting."""
THRESHOLD = 0.5
"""Versions of one text; docs/decisions/0020 gives the evidence."""
ALL = (1 << 31) - 1
"""Limit of a query for all results."""
MAX_TOLERANCE = 10
_PARAMETERS = {"range": "gamma", "minhash": "threshold", "si": "tolerance", "containment": "threshold"}
_SHARE = "above 0 and at most 1"
RULES: dict[Method, str] = {
    "range": "at least 0 and below 1",
    "minhash": _SHARE,
    "si": f"above 0 and at most {MAX_TOLERANCE}",
    "containment": _SHARE,
}
"""Rule of each limit. With a gamma of 1 or more, every text would match all texts that are not longer."""
CONTAINMENT = 0.9
_DEFAULTS = {"range": GAMMA, "minhash": THRESHOLD, "si": TOLERANCE, "containment": CONTAINMENT}


@dataclass(frozen=True, slots=True)
class Tolerance:
    """A method and its limit.

    Parameters
    ----------
    method : {"range", "minhash", "si", "containment"}
        "range": the distance of the letter counts is at most ``gamma`` times the length of the query's vector.
        "minhash": the Jaccard similarity of the word 5-grams is at least ``threshold``. "si": the similarity indexes
        differ by less than ``tolerance`` times the query's index; this is not symmetric, and neither complete nor
        exact, because one number is weak evidence. "containment": at least ``threshold`` of the word 5-grams of either
        text occur in the other; its candidates are verified, and may be incomplete.
    value : float
        gamma, at least 0 and below 1; threshold, above 0 and at most 1; or tolerance, above 0 and at most 10.

    Examples
    --------
    >>> str(Tolerance.of(gamma=0.05)), str(Tolerance.of("si"))
    ('range, gamma 0.05', 'si, tolerance 0.3')
    >>> str(Tolerance.of(gamma=0.0500000001))
    'range, gamma 0.0500000001'
    >>> str(Tolerance.of(gamma=-0.0))
    'range, gamma 0'
    """

    method: Method
    value: float

    def __post_init__(self) -> None:
        if not is_among(self.method, METHODS):
            raise ParameterError.of("measure", one_of(map(repr, _SHOWN.values())), self.method)
        if not is_limit(self.method, self.value):
            hint = in_percent(self.value) if self.method in _BY_THRESHOLD else ""
            raise ParameterError.of(self.parameter, RULES[self.method] + hint, self.value)
        object.__setattr__(self, "value", self.value + 0)  # -0.0 is 0.0: stored groups are found by what is printed

    @classmethod
    def of(
        cls,
        method: MethodName | None = None,
        *,
        gamma: float | None = None,
        threshold: float | None = None,
        tolerance: float | None = None,
    ) -> Tolerance:
        """Make a tolerance; the method follows from the given limit, the default limit from the method.

        Without a method or a limit, the method is "minhash".

        Raises
        ------
        ParameterError
            Limits of two methods are given, or a limit that does not belong to the method.
        """
        if method is not None and not isinstance(method, str):
            raise ParameterError.of("measure", one_of(map(repr, _SHOWN.values())), method)
        chosen: Method | None = _NAMED.get(str(method), method)  # type: ignore[arg-type]  # checked below
        given: dict[Method, float | None] = {"range": gamma, "minhash": threshold, "si": tolerance}
        named = {of_method: value for of_method, value in given.items() if value is not None}
        if chosen in _BY_THRESHOLD and threshold is not None:
            named[chosen] = named.pop("minhash")
        if chosen is None and len(named) <= 1:
            chosen = next(iter(named), "minhash")
        if chosen in METHODS and set(named) - {chosen}:
            wrong = next(_PARAMETERS[other] for other in named if other != chosen)
            own = _PARAMETERS[str(chosen)]
            rule = f"does not belong to the measure {_SHOWN[str(chosen)]}, which takes {own}"
            raise ParameterError(rule, parameter=wrong)
        if chosen is None:
            given_names = [_PARAMETERS[of_method] for of_method in named]
            raise ParameterError(f"Give only one of {' and '.join(given_names)}: each belongs to another measure.")
        return cls(chosen, named.get(chosen, _DEFAULTS.get(chosen, 0.0)))

    @classmethod
    def if_given(
        cls,
        method: MethodName | None = None,
        *,
        gamma: float | None = None,
        threshold: float | None = None,
        tolerance: float | None = None,
    ) -> Tolerance | None:
        """Make a tolerance as `of` does; None if neither a method nor a limit is given."""
        given = (method, gamma, threshold, tolerance)
        if all(one is None for one in given):
            return None
        return cls.of(method, gamma=gamma, threshold=threshold, tolerance=tolerance)

    @classmethod
    def of_stored(cls, text: str) -> Tolerance | None:
        """Return the tolerance with this stored description; None if there is none.

        Examples
        --------
        >>> Tolerance.of_stored(str(Tolerance.of(gamma=0.05))) == Tolerance.of(gamma=0.05)
        True
        >>> Tolerance.of_stored("range, gamma 0.050")
        """
        method, _, rest = text.partition(", ")
        try:
            found = cls(method, float(rest.rpartition(" ")[2]))  # type: ignore[arg-type]  # it is checked
        except (ParameterError, ValueError):
            return None
        return found if str(found) == text else None

    @property
    def measure(self) -> str:
        """Name of the method for users: "words" for "minhash", "letters" for "range"."""
        return _SHOWN.get(self.method, self.method)

    @property
    def has_groups(self) -> bool:
        """Whether documents are grouped by this measure."""
        return self.method in ("minhash", "range")

    @property
    def parameter(self) -> str:
        """Name of the limit."""
        return _PARAMETERS.get(self.method, "tolerance")

    @property
    def reach(self) -> int:
        """Maximum number of different bits of the candidates by "minhash", which are then compared exactly."""
        return distance_for(self.value, SIGNATURE.bits)

    @property
    def recall(self) -> float | None:
        """Minimum share of the documents within the tolerance that are found: expected for "minhash", else certain.

        None for "si": everything in the interval is found, but the share of similar documents in it is unknown. None
        for "containment", whose candidates are found by other measures.
        """
        return {"minhash": RECALL, "range": 1.0}.get(self.method)

    def to_dict(self) -> dict[str, object]:
        """Return the measure, the method and the limit under its name, as JSON types.

        Examples
        --------
        >>> Tolerance.of(gamma=0.05).to_dict()
        {'measure': 'letters', 'method': 'range', 'gamma': 0.05}
        """
        return {"measure": self.measure, "method": self.method, self.parameter: self.value}

    def in_options(self) -> str:
        """Return the options of a command.

        Examples
        --------
        >>> Tolerance.of().in_options()
        '--measure words --threshold 0.5'
        """
        return f"--measure {_SHOWN[self.method]} --{self.parameter} {self.value:g}"

    def of_groups(self) -> str:
        """Return the option that ``nearkin groups`` needs for this tolerance; empty for the default.

        Examples
        --------
        >>> Tolerance.of().of_groups(), Tolerance.of(threshold=0.6).of_groups(), Tolerance.of(gamma=0.05).of_groups()
        ('', ' --threshold 0.6', ' --gamma 0.05')
        """
        return "" if self == Tolerance.of() else f" --{str(self).partition(', ')[2]}"

    def in_words(self) -> str:
        """Return the tolerance as part of a sentence.

        Examples
        --------
        >>> Tolerance.of(gamma=0.05).in_words()
        'within gamma 0.05'
        >>> Tolerance("si", 0.07).in_words()
        'whose similarity index differs by less than 7%'
        """
        if self.method == "minhash":
            return f"with a Jaccard similarity of at least {self.value:g}"
        if self.method == "containment":
            return f"with a containment of at least {self.value:g} in either direction"
        if self.method == "si":
            return f"whose similarity index differs by less than {100 * self.value:g}%"
        return f"within gamma {self.value:g}"

    def __str__(self) -> str:
        """Return an exact description; stored groups are identified by it."""
        short = f"{self.value:g}"
        exact = short if float(short) == self.value else repr(float(self.value))
        return f"{self.method}, {self.parameter} {exact}"


def is_limit(method: Method, value: object) -> bool:
    """Whether a value is a limit of a method, by `RULES`.

    Examples
    --------
    >>> is_limit("range", 0.05), is_limit("range", 1), is_limit("minhash", 1), is_limit("minhash", float("nan"))
    (True, False, True, False)
    """
    if not is_number(value) or not math.isfinite(value):
        return False
    if method == "range":
        return 0 <= value < 1
    return 0 < value <= (MAX_TOLERANCE if method == "si" else 1)


def described(text: str) -> str:
    """Return a stored description of a tolerance, as `Tolerance` gives it, in the words of users.

    Examples
    --------
    >>> described(str(Tolerance.of(threshold=0.7))), described(str(Tolerance.of(gamma=0.05)))
    ('words, threshold 0.7', 'letters, gamma 0.05')
    """
    method, comma, rest = text.partition(",")
    return _SHOWN.get(method, method) + comma + rest


def groups_command(text: object) -> str:
    """Return the command that stores groups at a stored tolerance, whose text may be damaged.

    Examples
    --------
    >>> groups_command(str(Tolerance.of(threshold=0.6))), groups_command(str(Tolerance.of()))
    ('nearkin groups COLLECTION --threshold 0.6', 'nearkin groups COLLECTION')
    >>> groups_command(7)
    'nearkin groups COLLECTION with their threshold'
    """
    option = _OPTION_OF_GROUPS.fullmatch(str(text))
    if option is None:
        return "nearkin groups COLLECTION with their threshold"
    return f"nearkin groups COLLECTION{'' if text == str(Tolerance.of()) else f' --{option[1]}'}"


def check_limit(limit: object) -> None:
    """Refuse an invalid maximum number of results.

    Raises
    ------
    ParameterError
    """
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        raise ParameterError.of("limit", "an int >= 1", limit)


LETTERS_ONLY = "letters alike, wording not"
"""Remark on a match by letters that is no match by wording."""


def is_letters_only(jaccard: float, tolerance: Tolerance) -> bool:
    """Whether a match by letters is below the default threshold of wording.

    Examples
    --------
    >>> is_letters_only(0.1, Tolerance.of(gamma=0.05)), is_letters_only(0.1, Tolerance.of(threshold=0.05))
    (True, False)
    """
    return tolerance.method == "range" and jaccard < THRESHOLD
