"""Expected recall of a distance for near-duplicates."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from nearkin.planning.neighbour_recall import FEATURES, MINHASH, SIMILARITY, expected_recall, is_known
from nearkin.reports.quantities import share_percent_text
from nearkin.runs.progress import Progress
from nearkin.wording import distance_text
from nearkin.workflows.signing.signature_file import SignatureFile


@dataclass(frozen=True, slots=True)
class Expected:
    """Expected recall of a search for neighbours.

    Parameters
    ----------
    similarity
        Jaccard similarity of the feature sets of these pairs; more of the more similar pairs are found.
    low, high
        Share of these pairs whose signatures are within the distance: theoretical, or the range over measured corpora.
    is_measured
        The range is over measured corpora, which do not include these documents.
    """

    similarity: float
    low: float
    high: float
    is_measured: bool

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON types."""
        return asdict(self)

    def sentences(self, features: str) -> tuple[str, ...]:
        """Return the sentences shown before the search.

        Examples
        --------
        >>> print(*Expected(0.8, 0.0, 0.0013, True).sentences("chars:4"))
        expected recall: at most 0.2% of pairs with a Jaccard similarity of 0.8 (chars:4), more above it; the range is
        that of four measured corpora; other documents can lie outside it
        """
        low, high = (_share(one) for one in (self.low, self.high))
        share = low if low == high else f"{low} to {high}"
        if low != high and low.startswith("under"):
            share = f"at most {distance_text(100 * self.high, 1)}%"
        range_told = "; the range is that of four measured corpora; other documents can lie outside it"
        told = (
            f"expected recall: {share} of pairs with a Jaccard similarity of {self.similarity:g} ({features}), more "
            f"above it{range_told if self.is_measured else ''}"
        )
        return (told,)


def expected_of(file: SignatureFile, distance: int) -> Expected | None:
    """Return the expected recall of a search; None if unknown."""
    method, n_bits = str(file.about.parameters["method"]), file.signatures.n_bits
    if not _is_known(file):
        return None
    low, high = expected_recall(method, n_bits, distance)
    return Expected(SIMILARITY, round(low, 6), round(high, 6), method != MINHASH)


def say_expected(file: SignatureFile, expected: Expected | None, progress: Progress) -> None:
    """Report the expected recall before the search."""
    parameters = file.about.parameters
    if expected is not None:
        for sentence in expected.sentences(str(parameters["features"])):
            progress.say(sentence)
        return
    what = f"{parameters['method']} with features {parameters['features']}, normalise {parameters['normalise']}"
    progress.say(f"expected recall: not known for {what}" + ", and this density" * ("density" in parameters))


def _share(value: float) -> str:
    """Format a share in percent, rounded down, but never to 0%."""
    if value < 0.001:
        return "under 0.1%"
    return "over 99.9%" if value > 0.9995 else share_percent_text(value, 1)


def _is_known(file: SignatureFile) -> bool:
    """Whether recall is known: theory covers all features, measurements only those measured."""
    parameters = file.about.parameters
    if parameters["method"] == MINHASH:
        return True
    usual = parameters["features"] == FEATURES and parameters["normalise"] == "none" and "density" not in parameters
    return usual and is_known(str(parameters["method"]))
