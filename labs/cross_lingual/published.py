"""The article's numbers, with their sections."""

from __future__ import annotations

from dataclasses import dataclass

THRESHOLD = 0.3
"""Section 6.1, after Figure 1."""
SAMPLE = 1064
"""Section 4.2: articles of German Wikipedia."""
MAX_OF_FIGURE_1 = (0.3, 0.6)
"""Range of nearly all of the 505 pairs in Figure 1: ten sentences of Europarl each, by projection."""
N_FIRST, N_LINKS = 130, 401
"""Section 6.3: interwiki links whose English article is the most similar one."""
BOUND = 0.76
"""Section 6.1: recall of 1000 bits alone, without a window."""
PAPER_BITS, PAPER_DISTANCE = 1000, 400
"""Section 6.1: the article's distance for a cosine of 0.3."""
CLAIMS = ((0.93, 0.35), (0.95, 0.40), (0.98, 0.50))
"""Section 6.2 on Figure 8: relative effectiveness, relative cost."""
R_SQUARED = 0.999
"""Section 6.1 on Figure 5: minimum R² of the lines through the times."""
N_DOCUMENTS, WINDOWS, ORDERS = 4_910_000, (200, 500, 1000, 2000), (100, 200, 300)
"""Section 6: articles in both languages, windows, and permutations of the bits in Figure 5."""
N_PAIRS = 5_050_000_000_000
"""Section 6.1: mean terms of a German and an English article."""
VECTOR_NS = 450
"""Table 2: time for the cosine of two vectors."""


@dataclass(frozen=True, slots=True)
class ErrorSaid:
    """A row of Table 1: absolute errors for true cosines above 0, 0.1 and 0.2, and milliseconds per document."""

    method: str
    bits: int
    errors: tuple[float, float, float]
    elapsed_ms: float


@dataclass(frozen=True, slots=True)
class ScanSaid:
    """A row of Table 2."""

    bits: int
    comparison_ns: float
    precision: float
    recall: float


TABLE_1 = (
    ErrorSaid("minhash", 64, (0.061, 0.168, 0.215), 0.28),
    ErrorSaid("simhash", 64, (0.236, 0.299, 0.273), 0.25),
    ErrorSaid("projection", 64, (0.154, 0.152, 0.123), 1.17),
    ErrorSaid("projection", 100, (0.124, 0.122, 0.101), 2.03),
    ErrorSaid("projection", 200, (0.088, 0.086, 0.069), 4.52),
    ErrorSaid("projection", 500, (0.056, 0.055, 0.045), 10.93),
    ErrorSaid("projection", 1000, (0.040, 0.039, 0.033), 20.91),
    ErrorSaid("minhash", 992, (0.050, 0.056, 0.075), 1.82),
)
TABLE_2 = (ScanSaid(1000, 28, 0.59, 0.76), ScanSaid(2000, 52, 0.74, 0.81), ScanSaid(3000, 84, 0.86, 0.78))

REMARKS = (
    (
        "The article",
        "Ferhan Ture, Tamer Elsayed, Jimmy Lin, “No free lunch: brute force vs. locality-sensitive hashing for "
        "cross-lingual pairwise similarity”, SIGIR 2011: 1.47 million German and 3.44 million English articles of "
        "Wikipedia, a table from 1.08 million sentences of Europarl, 16 machines.",
    ),
    (
        "Documents",
        "A row is a document and its translation, so the pairs to find are known, and each document is in exactly one. "
        "In Wikipedia, many documents have no counterpart, and most links are not translations.",
    ),
    (
        "The gloss",
        "Each word is replaced by its likeliest translation, p(e | f); words missing from the table stay. The article "
        "uses Google Translate here. No machine translation is available offline; --translated accepts one.",
    ),
    (
        "Simhash",
        "The article's is far worse than a random projection of the same length. With a good hash, such as SHAKE-256, "
        "it is one: a term adds its weight with a random sign to every bit. The article's published code uses a hash "
        "that gives similar words similar bits (the AP hash in 64 bits); the row of that hash shows the effect.",
    ),
    (
        "MinHash",
        "The share of orderings in which two documents have the same lowest term, used as the cosine, as in the "
        "article. It estimates the Jaccard similarity of the sets of terms, so more terms do not help.",
    ),
    (
        "Bits",
        "Signatures have multiples of 8 bits here: 104 and 504 instead of the article's 100 and 500. The distance for "
        "a cosine of 0.3 is 403 of 1000 bits, rounded down; the article's 400 corresponds to 0.309.",
    ),
    (
        "Cost",
        "Relative cost is comparisons of one document of each language divided by all such pairs. The article adds the "
        "time for sorting, converted to comparisons. For few documents this is most of the cost: it is given "
        "separately, for these documents and converted to the article's number of documents.",
    ),
    (
        "The article's model",
        "A band, from log2 of documents over window rounded up and down, averaged over the cosines of a sample of "
        "pairs. The calibrated model measures the prefix instead, in a few orders that the search does not use.",
    ),
)
"""Notes for readers who compare numbers: a name, and an explanation."""
