"""Vocabulary, weights, compounds, and the way of words into another language."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nearkin.kernels import choosing
from nearkin.kernels.buffers import strings
from nearkin.records import TermCounts
from nearkin.stages.features.vocabulary import BM25, Vocabulary, hashes_of, sums_of
from nearkin.stages.features.words import WordSplitter
from nearkin.stages.signatures.random_projection import RandomProjection, TermVectors
from nearkin.stages.translation.projection import LINKS, WAYS, CompoundSplitter, Projector
from nearkin.stages.translation.table import TranslationTable


@given(st.lists(st.lists(st.text(alphabet="abäß", min_size=1, max_size=4), max_size=20), max_size=6))
@settings(deadline=None)
def test_a_vocabulary_numbers_words_as_they_come(parts):
    vocabulary, expected = Vocabulary(), {}
    for part in parts:
        numbers = vocabulary.add(strings(part))
        assert numbers.tolist() == [expected.setdefault(word, len(expected)) for word in part]
    assert vocabulary.words.to_pylist() == list(expected)
    assert vocabulary.find(strings([*expected, "none"])).tolist() == [*expected.values(), -1]
    np.testing.assert_array_equal(vocabulary.hashes, hashes_of(strings(list(expected))))


def test_the_bits_of_words_never_change():
    """Signatures that are stored and made anew must agree: hashes of words, and the planes that follow from them."""
    hashes = hashes_of(strings(["haus", "häuser", "家"]))
    assert [f"{one:016x}" for one in hashes.tolist()] == ["00b7b3bc033d0b5a", "634d636c58adfaf5", "5d3572caa5d8a9c1"]
    vectors = TermVectors(hashes, np.array([0.6, 0.6, 0.5]), np.array([0, 2, 3]), "words")
    signed = RandomProjection(2048, seed=3).sign(vectors)
    assert signed.n_bits == 2048
    assert signed.packed[:, :128].tolist() == RandomProjection(1024, seed=3).sign(vectors).packed.tolist()


@pytest.mark.parametrize("kind", ["plain", "compiled"])
def test_large_weights_and_small_ones_give_the_same_bits(kind, monkeypatch):
    """Small sums are added in 32 bits, large ones in 64."""
    monkeypatch.setattr(choosing, "ALWAYS", kind)
    chance = np.random.default_rng(1)
    hashes, offsets = chance.integers(0, 2**63, 900, dtype=np.uint64), np.arange(0, 901, 90)
    weights = chance.integers(1, 64, 900) / 64.0
    small = RandomProjection(1000).sign(TermVectors(hashes, weights, offsets, "w"))
    large = RandomProjection(1000).sign(TermVectors(hashes, weights * 2**14, offsets, "w"))
    np.testing.assert_array_equal(small.packed, large.packed)


def test_bm25_by_its_formula():
    counts = TermCounts(np.array([0, 2, 1, 2], np.int32), np.array([3, 1, 0.5, 2], np.float32), np.array([0, 2, 2, 4]))
    df, n, mean = np.array([1.0, 0.25, 2.0]), 3, 2.0
    vectors = BM25(1.5, 0.6).weigh(counts, document_frequencies=df, n_documents=n, mean_length=mean)
    expected = []
    for first, end in ((0, 2), (2, 2), (2, 4)):
        length = float(counts.counts[first:end].sum())
        row = []
        for term, tf in zip(counts.terms[first:end].tolist(), counts.counts[first:end].tolist(), strict=True):
            idf = math.log(1 + (n - df[term] + 0.5) / (df[term] + 0.5))
            row.append(idf * tf * 2.5 / (tf + 1.5 * (1 - 0.6 + 0.6 * length / mean)))
        norm = math.sqrt(sum(one * one for one in row))
        expected += [one / norm for one in row]
    np.testing.assert_allclose(vectors.weights, expected, rtol=1e-6)
    np.testing.assert_allclose(sums_of(vectors.weights.astype(float) ** 2, vectors.offsets), [1, 0, 1], rtol=1e-6)


KNOWN = {"verkehr": 50.0, "unfall": 40.0, "fall": 300.0, "arbeit": 90.0, "geber": 30.0, "kind": 80.0, "garten": 70.0}


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("verkehrsunfall", ("verkehr", "unfall")),
        ("arbeitgeber", ("arbeit", "geber")),
        ("kindergarten", ("kind", "garten")),
        ("kindergartenunfall", ("kind", "garten", "unfall")),
        ("verkehr", ()),
        ("verkehrs", ()),
        ("xverkehrunfall", ()),
        ("verkehr-unfall", ()),
        ("a" * 5000, ()),
        ("", ()),
    ],
)
def test_compounds(word, parts):
    assert CompoundSplitter(KNOWN, LINKS["de"]).parts(word) == parts


@given(st.lists(st.sampled_from(sorted(KNOWN)), min_size=2, max_size=3), st.sampled_from(["", "s", "en"]))
@settings(deadline=None)
def test_what_is_split_can_be_put_together(parts, link):
    word = link.join(parts)
    found = CompoundSplitter(KNOWN, LINKS["de"]).parts(word)
    assert len(found) >= 2
    at = 0
    for part in found:  # in order, with nothing but links between
        place = word.find(part, at)
        assert word[at:place] in LINKS["de"]
        at = place + len(part)
    assert at == len(word)


def table() -> TranslationTable:
    pairs = [("haus", "house"), ("haus", "home"), ("boot", "boat"), ("häuser", "houses"), ("ruder", "oar")] * 2
    pairs += [("ruder", "rudder")]
    return TranslationTable.of_pairs(pairs, source="de", target="en", words="as given")


def ways_of(words: list[str], targets: list[str], **options: object) -> dict[str, tuple[str, dict[str, float]]]:
    way = Projector(table(), **options).of(  # type: ignore[arg-type]
        strings(words), np.ones(len(words), bool), strings(targets), np.arange(len(targets))
    )
    found = {}
    for i, word in enumerate(words):
        own = slice(int(way.starts[i]), int(way.starts[i + 1]))
        shares = {targets[j]: round(float(p), 4) for j, p in zip(way.targets[own], way.shares[own])}
        found[word] = WAYS[way.ways[i]], shares
    return found


def test_ways_of_words():
    stemmer = WordSplitter("de")
    found = ways_of(
        ["haus", "hauses", "merkel", "2019", "xyz"],
        ["house", "home", "merkel", "2019", "boat"],
        stemming=lambda words: strings(stemmer.stems(words.to_pylist())),
    )
    assert found == {
        "haus": ("whole", {"house": 1.0, "home": 1.0}),  # p(source | target): house comes from haus alone
        "hauses": ("stem", {"house": 0.5, "home": 0.5}),  # häuser has that stem too, and gets its half
        "merkel": ("itself", {"merkel": 1.0}),
        "2019": ("itself", {"2019": 1.0}),
        "xyz": ("unknown", {}),
    }


def test_a_word_of_the_table_whose_translations_are_not_there_becomes_nothing():
    assert ways_of(["ruder"], ["house"]) == {"ruder": ("whole", {})}


def test_agreement_leaves_out_what_the_other_direction_denies():
    assert ways_of(["haus"], ["house", "home"], agreement=0.6)["haus"][1] == {}
    assert ways_of(["haus"], ["house", "home"], agreement=0.4)["haus"][1] == {"house": 1.0, "home": 1.0}
