"""Options of signatures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, get_args

from nearkin.errors import ParameterError, is_among, is_number
from nearkin.stages.documents.normalisation import AS_IT_CAME, Normalisation
from nearkin.stages.features.shingles import Characters, Shingling
from nearkin.stages.signatures.bits import BitMethod, check_bits, check_seed
from nearkin.stages.signatures.minhash import BitMinHash
from nearkin.stages.signatures.simhash import Simhash
from nearkin.stages.signatures.statistics import GrowingStatistics, Statistics
from nearkin.stages.signatures.topsig import OnlineTopSig, TopSig, WeightedTopSig
from nearkin.workflows.reading.texts import counts_fingerprint

MethodName = Literal["simhash", "simhash-fast", "topsig", "weighted-topsig", "minhash"]
METHODS: dict[str, str] = {
    "simhash": "majority of the bits of SHAKE-256 of every feature",
    "simhash-fast": "the same with a fast 64-bit hash",
    "topsig": "sum of sparse random vectors of every feature",
    "weighted-topsig": "the same, each distinct feature weighted by how rare it is in the corpus",
    "minhash": "one bit of each slot of a MinHash: estimates Jaccard",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SigningOptions:
    """Options that decide signatures, together with the statistics of the corpus.

    Parameters
    ----------
    method : str
        One of `METHODS`.
    bits : int
        A multiple of 8 from 8 to 1024.
    features : Shingling
        Features from which the signatures are made.
    normalise : Normalisation
        Default: none, so that case, punctuation and white space count.
    density : float or None
        Density of the vectors of topsig and weighted-topsig, in (0, 1]; None: ``1 / sqrt(bits)``.
    seed : int
    is_online : bool
        Whether weighted-topsig uses the statistics of the documents so far.
    """

    method: MethodName = "minhash"
    bits: int = 256
    features: Shingling = field(default_factory=lambda: Characters(4))
    normalise: Normalisation = AS_IT_CAME
    density: float | None = None
    seed: int = 0
    is_online: bool = False

    def __post_init__(self) -> None:
        if not is_among(self.method, get_args(MethodName)):
            raise ParameterError.of("method", f"one of {', '.join(METHODS)}", self.method)
        check_bits(self.bits, "sign")
        check_seed(self.seed)
        for name, kind, rule in (
            ("features", Shingling, "words:N or chars:N"),
            ("normalise", Normalisation, "steps such as nfkc,case,space, or none"),
        ):
            if not isinstance(getattr(self, name), kind):
                raise ParameterError.of(name, rule, getattr(self, name))
        if self.density is not None and not (is_number(self.density) and 0 < self.density <= 1):
            raise ParameterError.of("density", "a number > 0 and <= 1", self.density)
        if self.seed and self.method == "simhash":
            raise ParameterError(f"has no effect with {self.method}: omit it.", parameter="seed")
        if self.is_online and self.method != "weighted-topsig":
            raise ParameterError(
                f"is for weighted-topsig, which needs statistics, and 'method' is {self.method}. Choose "
                "weighted-topsig, or omit 'online'.",
                parameter="online",
            )
        if self.density is not None and "topsig" not in self.method:
            raise ParameterError(
                f"is for topsig and weighted-topsig, and 'method' is {self.method}.", parameter="density"
            )

    @property
    def counts_fingerprint(self) -> str:
        """Fingerprint of normalisation and features."""
        return counts_fingerprint(self.features, self.normalise)

    def signer(self, statistics: Statistics | None) -> BitMethod:
        """Return the method, with the statistics of the corpus if it needs them."""
        if self.method == "weighted-topsig":
            if self.is_online:
                return OnlineTopSig(GrowingStatistics(self.counts_fingerprint), self.bits, self.density, self.seed)
            if statistics is None:
                raise ParameterError.of("statistics", "given for weighted-topsig", None)
            return WeightedTopSig(statistics, self.bits, self.density, self.seed)
        makers: dict[str, Callable[[], BitMethod]] = {
            "simhash": lambda: Simhash(self.bits),
            "simhash-fast": lambda: Simhash(self.bits, "fast", self.seed),
            "topsig": lambda: TopSig(self.bits, self.density, self.seed),
            "minhash": lambda: BitMinHash(self.bits, self.seed),
        }
        return makers[self.method]()

    def in_words(self) -> dict[str, str | int | float]:
        """Return the options as the command line takes them."""
        words: dict[str, str | int | float] = {
            "method": self.method,
            "bits": self.bits,
            "features": str(self.features),
            "normalise": str(self.normalise),
            "seed": self.seed,
        }
        if self.density is not None:
            words["density"] = self.density
        if self.is_online:
            words["online"] = 1
        return words
