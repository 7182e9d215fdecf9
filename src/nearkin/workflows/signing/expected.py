"""Expected recall of a distance for near-duplicates, and the cost of a distance that finds most of them."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from nearkin.nouns import counted
from nearkin.planning.neighbour_recall import (
    FEATURES,
    MINHASH,
    SIMILARITY,
    distance_reaching,
    expected_recall,
    is_known,
)
from nearkin.records import BitSignatures
from nearkin.reports.quantities import share_percent_text
from nearkin.runs.progress import Progress
from nearkin.stages.search.hamming.pairs import EqualSignatures
from nearkin.stages.search.hamming.plan import plan_hamming
from nearkin.wording import distance_text
from nearkin.workflows.signing.signature_file import SignatureFile

WANTED = 0.9
_SAMPLED = 1 << 19


@dataclass(frozen=True, slots=True)
class Reaching:
    """Distance that is expected to find `WANTED` of the pairs, and its cost.

    Parameters
    ----------
    recall : float
    distance : int
    n_pairs : int or None
        Pairs of documents within the distance, near-duplicates or not, by a sample; None for a search of one document.
    core_s : float or None
        Estimated seconds of the search on one core.
    """

    recall: float
    distance: int
    n_pairs: int | None = None
    core_s: float | None = None


@dataclass(frozen=True, slots=True)
class Expected:
    """Expected recall of a search for neighbours.

    Parameters
    ----------
    similarity : float
        Jaccard similarity of the feature sets of these pairs; more of the more similar pairs are found.
    low, high : float
        Share of these pairs whose signatures are within the distance: theoretical, or the range over measured corpora.
    is_measured : bool
        The range is over measured corpora, which do not include these documents.
    reaching : Reaching or None
        None if the distance is already expected to find `WANTED`.
    """

    similarity: float
    low: float
    high: float
    is_measured: bool
    reaching: Reaching | None

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON types."""
        return asdict(self)

    def sentences(self, features: str) -> tuple[str, ...]:
        """Return the sentences shown before the search.

        Examples
        --------
        >>> told = Expected(0.8, 0.0, 0.0013, True, Reaching(0.9, 23, 4_200, 0.004))
        >>> for sentence in told.sentences("chars:4"):
        ...     print(sentence)
        expected recall: at most 0.2% of pairs with a Jaccard similarity of 0.8 (chars:4), more above it; the range is
        that of four measured corpora; other documents can lie outside it
        distance 23 is expected to find 90%: about 4,200 pairs lie within it, estimated under 0.01 s on one core
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
        if self.reaching is None:
            return (told,)
        found = f"distance {self.reaching.distance} is expected to find {self.reaching.recall:.0%}"
        if self.reaching.n_pairs is None or self.reaching.core_s is None:
            return told, found
        cost = f"about {counted(self.reaching.n_pairs, 'pair')}", f"estimated {_seconds(self.reaching.core_s)}"
        return told, f"{found}: {cost[0]} lie within it, {cost[1]} on one core"


def expected_of(
    file: SignatureFile, distance: int, against: SignatureFile | None = None, *, of_one: bool = False
) -> Expected | None:
    """Return the expected recall of a search in a file, or of a file against another; None if unknown.

    ``of_one``: the search is for one document; no cost is estimated.
    """
    method, n_bits = str(file.about.parameters["method"]), file.signatures.n_bits
    if not _is_known(file):
        return None
    low, high = expected_recall(method, n_bits, distance)
    reaching, other = None, None if against is None else against.signatures
    if low < WANTED:
        longer = min(distance_reaching(method, n_bits, WANTED), n_bits - 1)
        cost = (None, None) if of_one else _cost(file.signatures, other, longer)
        reaching = Reaching(WANTED, longer, *cost)
    return Expected(SIMILARITY, round(low, 6), round(high, 6), method != MINHASH, reaching)


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
    """Format a share in percent, rounded down, but never to 0%.

    Examples
    --------
    >>> _share(0.0), _share(0.00099), _share(0.4219), _share(0.99999)
    ('under 0.1%', 'under 0.1%', '42.1%', 'over 99.9%')
    """
    if value < 0.001:
        return "under 0.1%"
    return "over 99.9%" if value > 0.9995 else share_percent_text(value, 1)


def _seconds(value: float) -> str:
    return "under 0.01 s" if value < 0.01 else f"{value:.2f} s" if value < 10 else f"{value:,.0f} s"


def _is_known(file: SignatureFile) -> bool:
    """Whether recall is known: theory covers all features, measurements only those measured."""
    parameters = file.about.parameters
    if parameters["method"] == MINHASH:
        return True
    usual = parameters["features"] == FEATURES and parameters["normalise"] == "none" and "density" not in parameters
    return usual and is_known(str(parameters["method"]))


def _cost(own: BitSignatures, other: BitSignatures | None, distance: int) -> tuple[int, float]:
    """Estimate the pairs of documents within a distance, and the seconds to find them."""
    rows = np.flatnonzero(own.has_features)
    others = rows if other is None else np.flatnonzero(other.has_features)
    if not len(rows) or not len(others):
        return 0, 0.0
    chance = np.random.default_rng(0)
    left, right = rows[chance.integers(0, len(rows), _SAMPLED)], others[chance.integers(0, len(others), _SAMPLED)]
    words = own.words, (own if other is None else other).words
    if other is None:
        left, right = left[left != right], right[left != right]
    near = np.bitwise_count(words[0][left] ^ words[1][right]).sum(axis=1, dtype=np.int64) <= distance
    n_all = len(rows) * (len(rows) - 1) // 2 if other is None else len(rows) * len(others)
    n_pairs = round(float(near.mean()) * n_all) if len(near) else 0
    distinct = words[0][EqualSignatures.of(own).firsts] if other is None else words[1]
    queries = None if other is None else words[0][rows]
    plan = plan_hamming(distinct, queries, n_bits=own.n_bits, distance=distance)
    return n_pairs, round(min(plan.tables_s, plan.brute_force_s), 6)
