"""The article's numbers, and its errors."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """The article's numbers on the first stories of RCV1, 100 hashes, character 5-grams."""

    n_documents: int = 1000
    n_candidates_20_bands: int = 111
    n_high: int = 27
    n_high_found: int = 27
    n_in_vain: int = 84
    n_all_pairs_said: int = 499_000
    n_first: int = 501
    n_pairs_first: int = 36
    share_said: float = 0.072


PUBLISHED = Published()

REMARKS = (
    (
        "499,000 pairs",
        "The article says 499,000; 1,000 documents make 1,000 × 999 / 2 = 499,500 pairs.",
    ),
    (
        "7.2 % copies",
        "The article divides 36 pairs by 500. It had read 501 documents, and pairs divided by documents are not a "
        "share of documents: three copies of a text make three pairs.",
    ),
    (
        "2 bands of 50 find “80 % of documents over 95 %”",
        "By the article's own formula they find 14.8 % of pairs at 0.95; 80 % is reached at 0.988.",
    ),
    (
        "Two definitions of a shingle",
        "The function get_shingles, which counts the 36 pairs, drops the last n-gram of each text; the code of the "
        "plots does not. Nearkin keeps it, and gives both counts.",
    ),
    (
        "The estimate beside each pair",
        "The article's second similarity is the Jaccard similarity of the two sets of hash values, not the share of "
        "positions that agree. If a share a of the positions agrees it is a / (2 − a), so 0.85 shows as 0.74: it is "
        "too low by construction.",
    ),
    (
        "The hashes",
        "The article computes the minimum of 100 hash functions for each document. The sketches here are Nearkin's: "
        "100 slots of Fast Similarity Sketching, each of which agrees with a probability equal to the similarity, "
        "like a minimum. Slots of one sketch are not quite independent; the variance of the estimate from all of "
        "them is no larger than that of minima.",
    ),
    (
        "What is compared",
        "The article's check of the candidates compares whole lines, including document number and line feed, in "
        "their original case; its search among the first 501 uses the text in lower case. Here all texts are in lower "
        "case, without the number.",
    ),
)
"""Notes on the article for readers who compare numbers: a name, and an explanation."""
