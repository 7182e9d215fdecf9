"""The article's statements about the shape of its results, and whether they hold here."""

from __future__ import annotations

from labs.experiment import Claim
from labs.signatures.methods import PROJECTIONS, SIMPLE_MINHASH, WEIGHTED
from labs.signatures.published import MAX_UNIQUE_MINHASH, N_DOCUMENTS, unique_share
from labs.signatures.uniqueness import NeighbourCounts, Uniqueness, best_other_projection

FAR_AHEAD = 1.1
CONVERGED = 0.05
FAILS_BELOW = 0.5


def claims(
    unique: tuple[Uniqueness, ...], neighbours: tuple[NeighbourCounts, ...], n_documents: int
) -> tuple[Claim, ...]:
    """Return the article's statements, with the deciding numbers."""
    return (
        *(_far_ahead(unique, bits) for bits in (16, 32)),
        _converge(unique),
        _fails(unique, n_documents),
        _few_lost(neighbours),
    )


def _far_ahead(unique: tuple[Uniqueness, ...], bits: int) -> Claim:
    ours = next(u for u in unique if (u.key, u.bits) == (WEIGHTED.key, bits)).n_unique
    other = best_other_projection(unique, WEIGHTED.key, bits)
    said = [unique_share(kind.key, bits) or 0.0 for kind in PROJECTIONS]
    ratio = ours / other.n_unique
    return Claim(
        f"weighted TopSig is far ahead at {bits} bits: distinct signatures over the next projection's",
        f"{said[2] / max(said[:2]):.2f} times",
        f"{ratio:.2f} times ({ours:,} and {other.n_unique:,})",
        ratio >= FAR_AHEAD,
    )


def _converge(unique: tuple[Uniqueness, ...]) -> Claim:
    counts = [u.n_unique for u in unique if u.bits == 1024 and u.key in {kind.key for kind in PROJECTIONS}]
    said = [unique_share(kind.key, 1024) or 0.0 for kind in PROJECTIONS]
    spread = 1 - min(counts) / max(counts)
    return Claim(
        "the projections converge at 1,024 bits: the lowest number of distinct signatures is below the highest by",
        f"{100 * (1 - min(said) / max(said)):.1f} %",
        f"{100 * spread:.1f} %",
        spread <= CONVERGED,
    )


def _fails(unique: tuple[Uniqueness, ...], n_documents: int) -> Claim:
    most = max(u.n_unique for u in unique if u.key == SIMPLE_MINHASH.key)
    return Claim(
        "the simple Minhash fails: distinct signatures at its best length, as a share of the documents",
        f"{100 * MAX_UNIQUE_MINHASH / N_DOCUMENTS:.1f} %",
        f"{100 * most / n_documents:.1f} %",
        most < FAILS_BELOW * n_documents,
    )


def _few_lost(neighbours: tuple[NeighbourCounts, ...]) -> Claim:
    lost = {kind.key: _alone(neighbours, kind.key, 1) - _alone(neighbours, kind.key, 3) for kind in PROJECTIONS}
    weighted = lost.pop(WEIGHTED.key)
    return Claim(
        "documents without a neighbour within 1 bit of 1,024 that have one within 3: weighted TopSig; the others",
        "about 400; about 4,000",
        f"{weighted:,}; {' and '.join(f'{n:,}' for n in lost.values())}",
        weighted <= min(lost.values()),
    )


def _alone(neighbours: tuple[NeighbourCounts, ...], key: str, distance: int) -> int:
    return next(n for n in neighbours if (n.key, n.bits, n.distance) == (key, 1024, distance)).n_documents[0]
