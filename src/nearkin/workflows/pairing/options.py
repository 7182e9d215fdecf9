"""Options of the search for similar pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

from nearkin.errors import ParameterError, check_int, in_percent, is_among, is_number
from nearkin.stages.documents.ignoring import NOTHING, Ignored
from nearkin.stages.features.vocabulary import BM25
from nearkin.stages.signatures.random_projection import MAX_BITS

Method = Literal["auto", "vectors", "signatures", "window"]
METHODS: tuple[Method, ...] = get_args(Method)
Translated = Literal["auto", "left", "right"]
TRANSLATED: tuple[Translated, ...] = get_args(Translated)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairOptions:
    """Options that decide which pairs are found, together with the documents and the table.

    Parameters
    ----------
    threshold : float
        Minimum cosine of a pair, in (0, 1].
    recall : float
        Share of such pairs to find, in (0, 1]; at 1 every pair of vectors is compared.
    top : int or None
        Maximum number of pairs per document on the left; those with the largest cosines are kept.
    n_terms : int
        Number of matching terms listed per pair.
    bm25 : BM25
    min_occurrences : int
        Minimum occurrences of a term in its corpus; rarer terms are omitted.
    min_terms : int
        Minimum number of terms of a document; shorter documents are omitted.
    agreement : float
        A translation with p(source given target) is used if p(target given source) is at least this.
    stems : bool
        Whether forms missing from the table are translated as other forms of the same word, and words of one
        language are reduced to their stems.
    splits : bool
        Whether compounds missing from the table are split.
    translate : {"auto", "left", "right"}
        Side whose words are translated; by default the one whose language has more words in the table.
    seed : int
        Random seed of the signatures, the orders of their bits, and the sample of documents for the plan.
    method : {"auto", "vectors", "signatures", "window"}
        Search method; by default the fastest according to the plan.
    bits, distance, permutations, window : int or None
        Parameters of signatures and of the sliding window; by default as planned.
    ignored : Ignored
        Passages and numbers that do not count.
    """

    threshold: float = 0.3
    recall: float = 0.9
    top: int | None = None
    n_terms: int = 5
    bm25: BM25 = field(default_factory=BM25)
    min_occurrences: int = 2
    min_terms: int = 5
    agreement: float = 0.05
    stems: bool = True
    splits: bool = True
    translate: Translated = "auto"
    seed: int = 0
    method: Method = "auto"
    bits: int | None = None
    distance: int | None = None
    permutations: int | None = None
    window: int | None = None
    ignored: Ignored = NOTHING

    def __post_init__(self) -> None:
        for name, least in (("threshold", 0.0), ("recall", 0.0), ("agreement", -1.0)):
            value = getattr(self, name)
            if not is_number(value) or not least < value <= 1:
                rule = f"a number {'> 0' if least == 0 else '>= 0'} and <= 1{in_percent(value)}"
                raise ParameterError.of(name, rule, value)
        for name in ("stems", "splits"):
            if not isinstance(getattr(self, name), bool):
                raise ParameterError.of(name, "True or False", getattr(self, name))
        if not is_among(self.method, METHODS):
            raise ParameterError.of("method", f"one of {', '.join(METHODS)}", self.method)
        if not is_among(self.translate, TRANSLATED):
            raise ParameterError.of("translate", f"one of {', '.join(TRANSLATED)}", self.translate)
        for name, min_int in _COUNTS.items():
            value = getattr(self, name)
            if value is None and name in _OPTIONAL:
                continue
            most = _MOST.get(name, 2**31 - 1)
            check_int(name, value, min_int, most, rule=f"an int >= {min_int} and <= {most}")
        if None not in (self.bits, self.distance) and self.distance > self.bits:  # type: ignore[operator]
            raise ParameterError.of("distance", f"at most the {self.bits} bits of a signature", self.distance)
        if self.bits is not None and (self.bits % 8 or self.bits > MAX_BITS):
            raise ParameterError.of("bits", f"a multiple of 8 from 8 to {MAX_BITS}", self.bits)
        for name, methods in _OF_METHODS.items():
            if getattr(self, name) is not None and self.method not in ("auto", *methods):
                raise ParameterError(
                    f"belongs to the method {' or '.join(methods)}, and 'method' is {self.method}. Omit one of them.",
                    parameter=name,
                )

    @property
    def fixed(self) -> dict[str, int]:
        """Parameters of a search by signatures that were given and so are not chosen."""
        named = {name: getattr(self, name) for name in ("bits", "distance", "permutations", "window")}
        return {name: value for name, value in named.items() if value is not None}

    def leaves_nothing_to_choose(self) -> bool:
        """Whether the method was given, and all parameters of its search."""
        own = [name for name, methods in _OF_METHODS.items() if self.method in methods]
        return self.method != "auto" and all(name in self.fixed for name in own)

    @classmethod
    def of_words(cls, words: Mapping[str, Any]) -> PairOptions:
        """Read the result of `in_words`.

        Examples
        --------
        >>> PairOptions.of_words(PairOptions(threshold=0.5, top=3).in_words()) == PairOptions(threshold=0.5, top=3)
        True
        """
        values = dict(words)
        bm25 = BM25(values.pop("k1"), values.pop("b"))
        ignored = Ignored.restored(values.pop("ignored", ""))
        return cls(bm25=bm25, ignored=ignored, n_terms=values.pop("terms"), **values)

    def in_words(self) -> dict[str, str | float | int | bool | None]:
        """Return the options as the manifest stores them."""
        words = {field.name: getattr(self, field.name) for field in fields(self)}
        del words["n_terms"], words["bm25"], words["ignored"]
        ignored = {"ignored": str(self.ignored)} if self.ignored else {}
        return {**words, "terms": self.n_terms, "k1": self.bm25.k1, "b": self.bm25.b, **ignored}


_OF_METHODS = {
    "bits": ("signatures", "window"),
    "distance": ("signatures", "window"),
    "permutations": ("window",),
    "window": ("window",),
}
_MOST = {"n_terms": 100, "seed": 2**64 - 1}
_OPTIONAL = ("top", "bits", "distance", "permutations", "window")
_COUNTS = {
    "top": 1,
    "n_terms": 0,
    "min_occurrences": 1,
    "min_terms": 1,
    "seed": 0,
    "bits": 8,
    "distance": 0,
    "permutations": 1,
    "window": 1,
}
