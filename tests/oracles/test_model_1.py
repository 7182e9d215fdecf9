"""IBM Model 1 against its definition, in exact fractions."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nearkin.kernels.buffers import strings
from nearkin.stages.translation.model_1 import Model1, SentencePairs

SENTENCE = st.lists(st.sampled_from("abcd"), min_size=1, max_size=4).map(tuple)
CORPORA = st.lists(st.tuples(SENTENCE, SENTENCE), min_size=1, max_size=5)


def encoded(corpus) -> SentencePairs:
    sides, words = [], []
    for side in (0, 1):
        numbers: dict[str, int] = {}
        ids = [numbers.setdefault(word, len(numbers)) for pair in corpus for word in pair[side]]
        offsets = np.cumsum([0, *(len(pair[side]) for pair in corpus)], dtype=np.int64)
        sides.append((np.array(ids, np.int32), offsets))
        words.append(strings(list(numbers)))
    return SentencePairs(
        source=sides[0], target=sides[1], source_words=words[0], target_words=words[1], n_read=len(corpus), n_empty=0,
        n_too_long=0,
    )  # fmt: skip


def exact(corpus, iterations: int):
    """t(target | source or NULL) after so many iterations, by the sums of the definition."""
    targets = {word for _, target in corpus for word in target}
    table = defaultdict(lambda: Fraction(1, len(targets)))
    for _ in range(iterations):
        counts, totals = defaultdict(Fraction), defaultdict(Fraction)
        for source, target in corpus:
            for word in target:
                givers = (None, *source)
                all_of_them = sum(table[giver, word] for giver in givers)
                for giver in givers:
                    share = table[giver, word] / all_of_them
                    counts[giver, word] += share
                    totals[giver] += share
        table = defaultdict(Fraction, {pair: n / totals[pair[0]] for pair, n in counts.items()})
    return table


def learned_table(corpus, iterations: int, *, is_reverse: bool = False):
    pairs = encoded(corpus)
    learned = Model1(iterations).learn(pairs, is_reverse=is_reverse)
    words = pairs.source_words.to_pylist(), pairs.target_words.to_pylist()
    given_words, emitted_words = words[::-1] if is_reverse else words
    keys = zip(learned.given.tolist(), learned.words.tolist(), strict=True)
    return {(given_words[g], emitted_words[e]): p for (g, e), p in zip(keys, learned.probabilities, strict=True)}


@given(CORPORA, st.integers(1, 3))
@settings(deadline=None)
def test_probabilities_are_those_of_the_definition(corpus, iterations):
    ours, theirs = learned_table(corpus, iterations), exact(corpus, iterations)
    assert ours.keys() == {pair for pair in theirs if pair[0] is not None}
    for pair, probability in ours.items():
        assert probability == pytest.approx(float(theirs[pair]), rel=1e-12)
    turned = [(target, source) for source, target in corpus]
    assert learned_table(corpus, iterations, is_reverse=True) == learned_table(turned, iterations)


@given(CORPORA)
@settings(deadline=None)
def test_perplexity_never_rises_and_each_word_sums_to_one(corpus):
    learned = Model1(8).learn(encoded(corpus))
    falls = learned.perplexities
    assert len(falls) == 9
    assert all(later <= earlier * (1 + 1e-9) for earlier, later in pairwise(falls))
    np.testing.assert_allclose(np.add.reduceat(learned.probabilities, learned.starts[:-1]), 1)
    assert learned.expected.sum() <= len(encoded(corpus).target[0]) * (1 + 1e-9)  # the rest is given by NULL


def test_the_house_and_the_book():
    corpus = [("das haus", "the house"), ("das buch", "the book"), ("ein buch", "a book")]
    found = learned_table([(source.split(), target.split()) for source, target in corpus], 20)
    best = {
        given: max(["the", "house", "book", "a"], key=lambda word: found.get((given, word), 0)) for given, _ in found
    }
    assert best == {"das": "the", "haus": "house", "buch": "book", "ein": "a"}
    assert found["das", "the"] > 0.9
    assert found["buch", "book"] > 0.9


def test_both_twins_learn_the_same(monkeypatch):
    from nearkin.kernels import choosing

    rng = np.random.default_rng(0)
    corpus = [tuple(tuple(rng.choice(list("abcdefgh"), rng.integers(1, 9))) for _ in "st") for _ in range(50)]
    tables = []
    for kind in ("plain", "compiled"):
        monkeypatch.setattr(choosing, "ALWAYS", kind)
        tables.append(learned_table(corpus, 4))
    assert tables[0] == tables[1]
