"""Word-by-word comparison of two texts, with the similarities that the jobs use."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from nearkin.arguments import checking_arguments
from nearkin.errors import ParameterError
from nearkin.nouns import counted
from nearkin.paths import check_are_texts
from nearkin.reports.facts.comparing import edit_fact
from nearkin.reports.facts.fact import Fact
from nearkin.reports.quantities import grams_text
from nearkin.stages.differences.comparing import compare_texts
from nearkin.stages.differences.comparison import Comparison
from nearkin.stages.documents.normalisation import Normalisation
from nearkin.stages.features.shingles import parse_shingling
from nearkin.stages.verification.edit import edit_similarity
from nearkin.tabular import AnswerRecord
from nearkin.wording import share_text


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedTexts(AnswerRecord):
    """The differences between two texts, and how similar they are.

    Parameters
    ----------
    edit_similarity
        1 - Levenshtein distance / length of the longer text, in [0, 1]; None if the texts are too long for it.
    jaccard
        Number of distinct shingles in both texts divided by that in either, in [0, 1].
    containment_a_in_b, containment_b_in_a
        Share of one text's distinct shingles that occur in the other, in [0, 1].
    shingle
        The shingles that were compared, such as ``words:5``.
    """

    comparison: Comparison
    edit_similarity: float | None
    jaccard: float
    containment_a_in_b: float
    containment_b_in_a: float
    shingle: str

    def facts(self) -> list[Fact]:
        """Return the similarities."""
        return [
            edit_fact(self.edit_similarity),
            Fact(f"Jaccard ({grams_text(self.shingle)})", share_text(self.jaccard)),
            Fact("share of A in B", share_text(self.containment_a_in_b)),
            Fact("share of B in A", share_text(self.containment_b_in_a)),
        ]

    def __repr__(self) -> str:
        edit = "not computed" if self.edit_similarity is None else share_text(self.edit_similarity)
        jaccard = share_text(self.jaccard)
        return f"ComparedTexts({counted(self.comparison.n_differences, 'difference')}; Jaccard {jaccard}, edit {edit})"


@checking_arguments
def compare(
    text_a: str, text_b: str, *, shingle: str = "words:5", context_lines: int = 2, ignore: Collection[str] = ()
) -> ComparedTexts:
    """Compare two texts word by word, and measure how similar they are.

    Parameters
    ----------
    context_lines
        Number of unchanged lines shown around each difference.
    ignore : collection of {"case", "punctuation", "numbers"}
        Differences that do not count; white space never counts. It has no effect on the similarities.

    Raises
    ------
    ParameterError
        A text is not a string of valid Unicode; both texts are names of files; or a parameter is invalid.

    Examples
    --------
    >>> found = compare("The rent is due in 30 days.", "The rent is due in 45 days.", shingle="words:2")
    >>> found.comparison.headline
    '1 difference: 1 word only in A, 1 word only in B'
    >>> round(found.edit_similarity, 3), round(found.jaccard, 3)
    (0.926, 0.5)
    """
    shingling = parse_shingling(shingle)
    for name, text in (("text_a", text_a), ("text_b", text_b)):
        if not isinstance(text, str) or not _is_unicode(text):
            raise ParameterError.of(name, "a string of valid Unicode", text)
    check_are_texts((text_a, text_b), "Read the files first, or run nearkin compare, which takes files.")
    sets = shingling.sets(Normalisation().apply(pa.array([text_a, text_b], pa.large_string())))
    a, b = (sets.hashes[start:end] for start, end in zip(sets.offsets[:-1], sets.offsets[1:], strict=True))
    n_common = len(np.intersect1d(a, b, assume_unique=True))
    return ComparedTexts(
        comparison=compare_texts(text_a, text_b, context_lines=context_lines, with_moves=True, ignore=ignore),
        edit_similarity=edit_similarity(text_a, text_b).similarity,
        jaccard=_share(n_common, len(a) + len(b) - n_common),
        containment_a_in_b=_share(n_common, len(a)),
        containment_b_in_a=_share(n_common, len(b)),
        shingle=str(shingling),
    )


def _is_unicode(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _share(n_common: int, n: int) -> float:
    return n_common / n if n else 1.0
