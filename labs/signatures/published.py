"""The article's numbers: Tables 1 and 2, and those in its text."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

N_DOCUMENTS = 90_000


@dataclass(frozen=True, slots=True)
class MeanAndDeviation:
    """A mean and a deviation, as in the article's tables."""

    mean: float
    deviation: float


def _rows(key: str, *pairs: tuple[float, float]) -> dict[tuple[str, int], MeanAndDeviation]:
    return {(key, 16 << i): MeanAndDeviation(*pair) for i, pair in enumerate(pairs)}


SECONDS = MappingProxyType(
    _rows(
        "simhash",
        (0.166, 0.611), (0.145, 0.370), (0.165, 0.431), (0.181, 0.451), (0.250, 0.625), (0.385, 0.970), (0.610, 1.514),
    )
    | _rows(
        "topsig",
        (0.572, 0.546), (0.587, 0.558), (0.585, 0.553), (0.582, 0.549), (0.573, 0.539), (0.557, 0.525), (0.571, 0.536),
    )
    | _rows(
        "weighted-topsig",
        (0.577, 0.549), (0.598, 0.567), (0.595, 0.561), (0.592, 0.556), (0.583, 0.546), (0.568, 0.531), (0.583, 0.544),
    )
    | _rows(
        "simple-minhash",
        (0.832, 0.689), (0.831, 0.689), (0.834, 0.692), (0.842, 0.698), (0.856, 0.709), (0.886, 0.734), (0.929, 0.768),
    )
)  # fmt: skip
"""Table 1: seconds per document, by method and bits."""

DOCUMENTS_PER_SIGNATURE = MappingProxyType(
    _rows(
        "simhash",
        (11.537, 76.227), (2.157, 19.315), (1.458, 14.783), (1.293, 13.042), (1.223, 12.423), (1.185, 11.874),
        (1.162, 11.595),
    )
    | _rows(
        "topsig",
        (12.378, 86.290), (2.024, 14.562), (1.403, 11.504), (1.254, 10.803), (1.195, 10.524), (1.162, 10.369),
        (1.146, 10.294),
    )
    | _rows(
        "weighted-topsig",
        (2.285, 17.438), (1.163, 10.381), (1.140, 10.268), (1.133, 10.233), (1.129, 10.215), (1.127, 10.208),
        (1.126, 10.201),
    )
    | _rows(
        "simple-minhash",
        (1115.035, 9742.314), (153.184, 3557.218), (3.773, 23.263), (3.778, 32.796), (4.732, 56.720), (2.826, 19.129),
        (2.943, 18.781),
    )
)  # fmt: skip
"""Table 2: documents per signature, by method and bits."""

ONE_NEIGHBOUR = MappingProxyType({32: 15_000, 128: 10_000, 1024: 9_000})
"""Approximate number of documents with one neighbour within distance 1, weighted TopSig, from the text."""
MAX_UNIQUE_MINHASH = 35_000


def unique_share(key: str, bits: int) -> float | None:
    """Return distinct signatures divided by documents, as in Figure 1: the inverse of Table 2's mean.

    Examples
    --------
    >>> round(unique_share("weighted-topsig", 32), 3), unique_share("minhash", 32)
    (0.86, None)
    """
    said = DOCUMENTS_PER_SIGNATURE.get((key, bits))
    return None if said is None else 1 / said.mean
