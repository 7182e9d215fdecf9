"""Letter counts: what has a place in the vector, and which documents are told apart."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from nearkin.errors import ParameterError
from nearkin.stages.features.letters import LetterCounts

GOLDEN = {
    26: 1,
    29: 1,
    36: 1,
    38: 1,
    39: 1,
    61: 1,
    62: 2,
    64: 1,
    73: 1,
    75: 1,
    81: 1,
    84: 2,
    88: 1,
    91: 1,
    98: 1,
    99: 1,
    102: 1,
    104: 1,
    108: 1,
    113: 1,
    115: 1,
    117: 1,
}
LATIN = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


def texts(*values: str | None) -> pa.LargeStringArray:
    return pa.array(values, pa.large_string())


def test_the_62_counts_in_their_order():
    vectors = LetterCounts().count(texts("".join(letter * (i + 1) for i, letter in enumerate(LATIN)) + " -_é"))
    assert vectors.counts.tolist() == [list(range(1, 63))]
    assert vectors.counts.dtype == np.uint32
    assert (vectors.n_counted.tolist(), vectors.n_others.tolist()) == ([62 * 63 // 2], [1])


@pytest.mark.parametrize("size", [1, 200])
def test_the_buckets_never_change(size):
    """Golden: tiny inputs and large ones, so both twins."""
    vectors = LetterCounts("universal").count(texts(*["Жизнь 語 ñandú αβγ אבג ไทย, 9 km²"] * size))
    places = np.flatnonzero(vectors.counts[0])
    assert vectors.counts.shape == (size, 126)
    assert (vectors.counts == vectors.counts[0]).all()
    assert dict(zip(places.tolist(), vectors.counts[0, places].tolist(), strict=True)) == GOLDEN


@pytest.mark.parametrize("alphabet", ["latin", "universal"])
@pytest.mark.parametrize(
    ("text", "in_latin", "in_universal"),
    [
        (None, False, False),
        ("", False, False),
        ("... !!! --- ???" * 10, False, False),
        ("Nineteen letters, 2025", False, False),
        ("Exactly twenty of these", True, True),
        ("Это написано по-русски, page 12 of 144, chapter 7", False, True),
        ("Mostly Latin, with a few of another script: это слово", True, True),
        ("中文" * 30, False, True),
    ],
)
def test_documents_of_which_almost_nothing_is_counted(alphabet, text, in_latin, in_universal):
    expected = in_latin if alphabet == "latin" else in_universal
    assert LetterCounts(alphabet).count(texts(text)).is_counted.tolist() == [expected]


def test_slices_and_nulls():
    whole = texts("zero", "one", None, "three", "four")
    vectors = LetterCounts().count(whole.slice(1, 3))
    assert vectors.n_counted.tolist() == [3, 0, 5]
    assert len(LetterCounts().count(texts())) == 0


def test_parameters_and_fingerprints():
    assert LetterCounts().fingerprint == "letters=latin;dimensions=62;least=20;unicode=14.0"
    assert LetterCounts("universal").fingerprint == "letters=universal;dimensions=126;least=20;unicode=14.0"
    with pytest.raises(ParameterError, match="alphabet: must be 'latin' or 'universal'"):
        LetterCounts("greek")
