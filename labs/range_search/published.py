"""The paper's numbers: Tables 1 and 2, those in its text, and notes on them."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

GAMMAS = (0.025, 0.05)
N_DOCUMENTS = 13_228_105
N_QUERIES = 1_283
N_PROJECTIONS = 8
MEAN_CHARACTERS, MAX_CHARACTERS = 12_521, 51_034_295
EXHAUSTIVE_SECONDS = 5452.80
KD_TREE_RECALL = MappingProxyType({0.025: 0.960, 0.05: 0.940})


@dataclass(frozen=True, slots=True)
class SaidOfWay:
    """Row of Tables 1 and 2 for a method at a tolerance.

    Parameters
    ----------
    seconds : float
        Time of a query in an Oracle database, including the exact comparison.
    recall, precision : float
        Means over the queries; precision before the exact comparison.
    """

    seconds: float
    recall: float
    precision: float


SAID = MappingProxyType(
    {
        ("algorithm-2", 0.025): SaidOfWay(2.57, 0.999, 0.912),
        ("algorithm-2", 0.05): SaidOfWay(4.00, 0.981, 0.312),
        ("algorithm-2-filters", 0.025): SaidOfWay(0.48, 0.992, 0.956),
        ("algorithm-2-filters", 0.05): SaidOfWay(0.95, 0.949, 0.542),
        ("filters", 0.025): SaidOfWay(2.93, 0.992, 0.021),
        ("filters", 0.05): SaidOfWay(11.43, 0.964, 0.006),
    }
)
FIRST_RANGE = MappingProxyType(
    {
        ("algorithm-2", 0.025): 263_883,
        ("algorithm-2", 0.05): 525_264,
        ("algorithm-2-filters", 0.025): 56_591,
        ("algorithm-2-filters", 0.05): 113_739,
    }
)
"""Mean number of documents after the first step: the first projection, with the filters if there are any."""


@dataclass(frozen=True, slots=True)
class Alike:
    """Statement about Figure 1: this share of the matches has at least this edit similarity."""

    similarity: float
    share: float
    words: str


ALIKE = MappingProxyType({0.025: Alike(0.95, 0.99, "around 99 %"), 0.05: Alike(0.90, 0.90, "close to 90 %")})

REMARKS = (
    (
        "The paper",
        "Michael Sperling, Rong Jin, Illya Rayvych, Jianghong Li, Jinfeng Yi, “Similar Document Detection and "
        "Electronic Discovery: So Many Documents, So Little Time”, 2013.",
    ),
    (
        "Tables 1 and 2",
        "The numbers are the paper's own. Its Table 1 is time, its Table 2 precision and recall. Figures 1 and 2 are "
        "pictures; only the few numbers that the text gives for them are shown here.",
    ),
    (
        "KD-tree",
        "FLANN's randomized KD-tree took over ten hours to build and twice the storage of the data, with a recall of "
        "0.960 and 0.940. These are the paper's figures: FLANN was not run here. The project's benchmarks compare "
        "scikit-learn's KD-tree and FAISS with Nearkin.",
    ),
    (
        "Precision of Algorithm 2",
        "The text says that precision rises to almost 90 % with the number of projections at γ = 0.025, Table 2 has "
        "91.2 % with 8.",
    ),
    (
        "τ₀",
        "Theorems 4 and 5 bound the projections with the factor 2 ln(2M/δ) + √(2 ln(2M/δ)); the experiment sets both "
        "constants to 1, which gives 7.6 with M = 10 and δ = 0.1, and a half-width of 0.965 r with 62 counts (0.677 r "
        "with 126). In a random direction, a distance of r appears as about r/√62 = 0.127 r: a wide range loses hardly "
        "any match and keeps many documents that are none. The figures by τ show the effect of narrower ranges, such "
        "as that of √ln(2M/δ) = 2.3 alone; it is unknown which range the paper searched.",
    ),
    (
        "The second filter",
        "Lengths of vectors at a distance of r differ by at most r, so the first filter loses nothing. Sums of counts "
        "may differ by √62·r (√126·r), but the second filter allows only r: all losses of the filters are due to it.",
    ),
    (
        "The query itself",
        "The paper does not say whether a query, which is a document of the collection, is one of its own matches. "
        "Every method finds it, so it raises all means; here they are given both with it and without it.",
    ),
)
"""Notes for readers who compare numbers: a name, and an explanation."""
