"""Options of signatures, of the statistics behind them, and of the search for neighbours."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from nearkin.errors import ParameterError
from nearkin.nouns import one_of
from nearkin.options.declared import PYTHON, Option, Same, option
from nearkin.options.dedup import IgnoringOptions, normalisation, shingling
from nearkin.options.reading import ReadingOptions
from nearkin.options.running import FileResult, ThreadOptions
from nearkin.stages.verification.measures import MEASURES

if TYPE_CHECKING:
    from nearkin.stages.documents.normalisation import Normalisation
    from nearkin.stages.features.shingles import Shingling
    from nearkin.stages.signatures.bits import BitMethod
    from nearkin.stages.signatures.statistics import Statistics

MethodName = Literal["simhash", "simhash-fast", "topsig", "weighted-topsig", "minhash"]
METHODS: tuple[MethodName, ...] = get_args(MethodName)
Equal = Literal["all", "first"]
_signature = partial(option, panel="Signatures")
_near = partial(option, panel="What is a near-duplicate")


class CountedFeatures(IgnoringOptions):
    """Features of documents, as they are counted."""

    features: Option[Shingling, Shingling | str] = _signature(
        "chars:4", parse=shingling, help="Features to count: chars:N, words:N or code:N."
    )
    normalise: Option[Normalisation, Normalisation | str] = _signature(
        "none",
        parse=normalisation,
        help="Differences to ignore: steps as for nearkin dedup, joined by commas, or none.",
    )

    @property
    def counts_fingerprint(self) -> str:
        """Fingerprint of normalisation and features."""
        return f"{self.normalise.fingerprint};{self.features.fingerprint}"


class SigningOptions(CountedFeatures):
    """Options that decide signatures, together with the statistics of the corpus."""

    method: Same[MethodName] = _signature(
        "minhash", choices=METHODS,
        help="minhash (one bit per slot), weighted-topsig (needs statistics: from --statistics, or "
        "counted first), topsig, simhash (SHAKE-256), simhash-fast.",
    )  # fmt: skip
    bits: Same[int] = _signature(
        256, minimum=8, maximum=1024, help="Length of a signature: a multiple of 8 from 8 to 1024."
    )
    density: Same[float | None] = option(
        kind=float, above=0, maximum=1, panel=PYTHON,
        help="Share of nonzero entries in a topsig vector, above 0 and up to 1. [default: 1/sqrt(bits)]",
    )  # fmt: skip
    seed: Same[int] = _signature(0, maximum=2**64 - 1, help="Random seed of the signatures.")
    online: Same[bool] = option(
        False,
        panel=PYTHON,
        help="Sign each document with the counts of this document and all before it; report how many bits the final "
        "counts would change.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bits % 8:
            raise ParameterError.of("bits", "a multiple of 8 from 8 to 1024", self.bits)
        only_of = {
            "seed": bool(self.seed) and self.method == "simhash",
            "online": self.online and self.method != "weighted-topsig",
            "density": self.density is not None and "topsig" not in self.method,
        }
        if wrong := [name for name, is_wrong in only_of.items() if is_wrong]:
            raise ParameterError(f"has no effect with the method {self.method}. Omit it.", parameter=wrong[0])

    def signer(self, statistics: Statistics | None) -> BitMethod:
        """Return the method, with the statistics of the corpus if it needs them."""
        from nearkin.stages.signatures.minhash import BitMinHash
        from nearkin.stages.signatures.simhash import Simhash
        from nearkin.stages.signatures.statistics import GrowingStatistics
        from nearkin.stages.signatures.topsig import OnlineTopSig, TopSig, WeightedTopSig

        if self.method == "weighted-topsig":
            if self.online:
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
            "method": self.method, "bits": self.bits, "features": str(self.features),
            "normalise": str(self.normalise), "seed": self.seed,
        }  # fmt: skip
        if self.density is not None:
            words["density"] = self.density
        if self.online:
            words["online"] = 1
        return words


class SignJob(ThreadOptions, SigningOptions, ReadingOptions, FileResult):
    """Options of ``nearkin sign``."""

    statistics: Same[Path | str | None] = _signature(
        kind=Path, help="Feature counts, from nearkin statistics. [default: count the input first]"
    )


class StatisticsJob(ThreadOptions, CountedFeatures, ReadingOptions, FileResult):
    """Options of ``nearkin statistics``."""


class NeighboursJob(ThreadOptions, IgnoringOptions, FileResult):
    """Options of ``nearkin neighbours``."""

    against: Option[Any, Any] = _near(
        kind=Path, help="Compare with the signatures of this file: id_a is from SIGNATURES, id_b from this file."
    )
    distance: Same[int | None] = _near(
        kind=int, help="Maximum number of different bits. [default: the best F1 in a sample of the texts]"
    )
    verify: Same[str | None] = _near(
        help="Read the documents again and drop pairs below this similarity of the shingles of --shingle: "
        f"{one_of(f'{name}:T' for name in MEASURES)}."
    )
    shingle: Option[Shingling, Shingling | str] = _near(
        "words:5", parse=shingling,
        help="Shingles for --verify: words:N, chars:N or code:N. They need not be the features of the signatures.",
    )  # fmt: skip
    normalise: Option[Normalisation, Normalisation | str] = _near(
        "margins,hyphens,nfkc,case,arabic,space", parse=normalisation,
        help="Differences that --verify ignores: steps as for nearkin dedup, joined by commas, or none.",
    )  # fmt: skip
    equal: Same[Equal] = option(
        "all", panel=PYTHON, choices=get_args(Equal),
        help="Pairs of documents with the same signature. all: every pair. first: only pairs with the first of them.",
    )  # fmt: skip
