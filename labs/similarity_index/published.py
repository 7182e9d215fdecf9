"""The paper's numbers: Tables 1, 6 to 24, the known parts of Figure 3, and notes on them."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

N_RUNS, N_OVER_ONE, BEST_SCORE = 672, 104, 3.50
K_AND_W = ((4, 5), (8, 12), (16, 25), (40, 100))


@dataclass(frozen=True, slots=True)
class PaperFile:
    """A file of Table 1: its name there, its other names, its size, its zone (0: none)."""

    name: str
    others: tuple[str, ...]
    n_characters: int
    n_words: int
    zone: int

    @property
    def names(self) -> tuple[str, ...]:
        """All names of the file."""
        return (self.name, *self.others)


FILES = (
    PaperFile("Proverbs.txt", (), 91_384, 19_157, 1),
    PaperFile("Proverbs1-16.txt", (), 42_069, 8_376, 1),
    PaperFile("Proverbs1-24.txt", (), 69_016, 13_736, 1),
    PaperFile("Proverbs25-31.txt", (), 22_368, 4_421, 1),
    PaperFile("usConstitution(copy).txt", ("usConstitutionCopy.txt",), 48_067, 7_669, 2),
    PaperFile("usConstitution-BillofRights.txt", ("usConstitutionNoAmendments.txt",), 32_006, 5_039, 2),
    PaperFile("usConstitution-noPreamble.txt", ("usConstitutionNoPreamble.txt",), 47_728, 7_617, 2),
    PaperFile("usConstitution.txt", (), 48_067, 7_669, 2),
    PaperFile("usDOI-1.txt", ("usDOIMinusOneSentence.txt",), 8_147, 1_337, 3),
    PaperFile("usDOI-Grievances.txt", ("usDOIMinusGrievances.txt",), 4_093, 682, 3),
    PaperFile("usDOI.txt", (), 8_179, 1_341, 3),
    PaperFile("AddToClipboardAction.java", (), 3_632, 213, 0),
    PaperFile("DeleteDocument.class", (), 18_468, 2_711, 0),
    PaperFile("Gettysburg.txt", (), 1_473, 270, 0),
    PaperFile("TargetSetup.Result.txt", ("install.log",), 3_115, 347, 0),
)
"""Files in the order of the paper's tables, by zone."""
ZONE_NAMES = ("Proverbs", "Constitution", "Declaration")

Matrices = tuple[str, str, str]
EXPECTED: Matrices = ("1110 1110 1110 0001", "1111 1111 1111 1111", "101 010 101")
"""Tables 6 to 8 as resolved by Tables 10 to 12, which agree completely with them: one row per file, zone by zone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidOfRun:
    """A row of Table 9, and the matrices of the run.

    Parameters
    ----------
    spec : str
        Method in the syntax of `SimilarityIndex.parse`.
    n_false_positives, n_false_negatives, n_correct : int
    score : float
    zones : Matrices
    """

    spec: str
    n_false_positives: int
    n_false_negatives: int
    n_correct: int
    score: float
    zones: Matrices


TABLE_9 = (
    SaidOfRun(
        spec="43B:k=40,w=100", n_false_positives=0, n_false_negatives=10, n_correct=35, score=3.50, zones=EXPECTED
    ),
    SaidOfRun(
        spec="47C:k=40,w=100",
        n_false_positives=14,
        n_false_negatives=5,
        n_correct=40,
        score=2.11,
        zones=("1110 0111 1111 0101", "1111 1101 1111 1111", "111 111 111"),
    ),
    SaidOfRun(
        spec="43B:k=4,w=5",
        n_false_positives=3,
        n_false_negatives=13,
        n_correct=32,
        score=2.00,
        zones=("1110 1110 1110 0001", "1111 0100 1111 1111", "101 010 101"),
    ),
    SaidOfRun(spec="3B:k=16,w=25", n_false_positives=8, n_false_negatives=10, n_correct=35, score=1.94, zones=EXPECTED),
    SaidOfRun(
        spec="21B:k=40,w=100",
        n_false_positives=2,
        n_false_negatives=14,
        n_correct=31,
        score=1.94,
        zones=("1110 1110 1110 0001", "1111 0100 1011 1111", "101 010 101"),
    ),
)
MOST_FREQUENT = (49, 27, 29, 47, 3, 43, 25, 35, 45, 41, 21, 23, 1, 4, 44, 5, 30)
"""The tracking numbers of Figure 3, the most frequent first; the text does not give its heights."""
FAMILY_COUNTS = MappingProxyType({9: 23, 3: 21, 7: 21})
"""Number of runs of a method with a score above 1, over all streams."""

REMARKS = (
    ("The paper", "M. Scott Roth, “Identifying similar documents with a similarity index”, Armedia."),
    (
        "672 runs",
        "3 streams, 14 methods, 4 variations, 4 pairs of k and w make 672; but method 13, the most frequent words, has "
        "no form for characters, as the paper itself says. So 656 are distinct, and these were run.",
    ),
    (
        "The score",
        "Correct results divided by false ones, recomputed from Tables 9 to 24: over all ordered pairs of files, "
        "including each with itself. Inside a zone a hit is correct and a miss is a false negative, even where Tables "
        "6 to 8 expect none; outside the zones a file that finds itself is correct, and any other hit is a false "
        "positive. So a run that agrees with all expectations has 10 false negatives and a score of 3.50, the paper's "
        "best. Cells as expected is the stricter count: of all pairs, those that agree with Tables 6 to 8.",
    ),
    (
        "k and w",
        "The headings of sections 5.2.1 and 5.2.3 swap the two; Tables 5, 9 and 10 have k = 40, w = 100.",
    ),
    (
        "Figure 3",
        "The text does not give its heights, only its order and three sums. It names a method 35; the numbers of words "
        "end at 34, those of Soundex codes begin at 41.",
    ),
    (
        "Four characters",
        "Java's hash of four ASCII characters, as of a Soundex code, is a small positive number. So with k = 4 the "
        "sums of characters follow the length of the file, and sums of single codes (method 53) are nearly the same "
        "number for all. Another 32-bit multiplier makes random walks of these too. For longer k-grams it changes "
        "nothing but chance.",
    ),
    (
        "400 or 200",
        "Section 3.3 keeps the 400 lowest or highest shingles, section 6.1 speaks of 200. Here it is 400.",
    ),
    (
        "Unspecified details",
        "Words are split at white space and lose punctuation at both ends. Variations C and D of Soundex drop repeated "
        "codes, after coding. A shingle counts as often as it occurs. Soundex is that of the package jellyfish, stop "
        "words are the English ones of stopwordsiso, the Rabin polynomial is x^64 + x^4 + x^3 + x + 1, and a random "
        "third is drawn by the position of a shingle and the sum of the file's own.",
    ),
)
"""Notes for readers who compare numbers: a name, and an explanation."""
