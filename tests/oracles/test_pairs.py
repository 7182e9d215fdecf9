"""Pairs of two collections against the definition, written out with dictionaries: BM25, projection, cosine."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest

from nearkin.errors import ParameterError
from nearkin.kernels import choosing
from nearkin.options.pairs import PairOptions
from nearkin.stages.translation.table import TranslationTable
from nearkin.workflows.auditing.audit import audit
from nearkin.workflows.pairing import searching, vectors
from nearkin.workflows.pairing.inputs import PairInput
from nearkin.workflows.pairing.job import pair_files
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.resources import Resources
from translated_corpus import translated_corpus

K1, B = 1.2, 0.75


def weighed(counts: list[dict[str, float]], df: dict[str, float], mean_length: float) -> list[dict[str, float]]:
    n, found = len(counts), []
    for one in counts:
        length = sum(one.values())
        row = {
            term: math.log(1 + (n - df[term] + 0.5) / (df[term] + 0.5))
            * tf * (K1 + 1) / (tf + K1 * (1 - B + B * length / mean_length))
            for term, tf in one.items()
        }  # fmt: skip
        norm = math.sqrt(sum(weight * weight for weight in row.values()))
        found.append({term: weight / norm for term, weight in row.items()} if len(row) >= 5 else {})
    return found


def counted(texts: list[str]) -> tuple[list[dict[str, float]], dict[str, float]]:
    """Without words that occur once; and in how many documents each is."""
    total = Counter(word for text in texts for word in text.split())
    counts = [{w: float(n) for w, n in Counter(text.split()).items() if total[w] >= 2} for text in texts]
    return counts, dict(Counter(word for one in counts for word in one))


def mirrored(corpus):
    """The same collections with the sides swapped: the table is as it was written."""
    pairs = [(target, source) for source, target in corpus.pairs]
    return type(corpus)(corpus.right, corpus.left, corpus.table, corpus.right_texts, corpus.left_texts, pairs)


def by_definition(
    corpus, threshold: float, *, translates: bool = True, translated: str = "left"
) -> dict[tuple[int, int], float]:
    if translated == "right":
        return {(i, j): cosine for (j, i), cosine in by_definition(mirrored(corpus), threshold).items()}
    left, left_df = counted(corpus.left_texts)
    right, right_df = counted(corpus.right_texts)
    if translates:
        sources = Counter(target for _, target in corpus.pairs)
        targets = Counter(source for source, _ in corpus.pairs)
        ways: dict[str, dict[str, float]] = defaultdict(dict)
        for source, target in corpus.pairs:
            if target in right_df and 1 / targets[source] >= 0.05:
                ways[source][target] = 1 / sources[target]

        def over(amounts: dict[str, float]) -> dict[str, float]:
            found: dict[str, float] = defaultdict(float)
            for word, amount in amounts.items():
                for target, p in ways[word].items():
                    found[target] += p * amount
            return dict(found)

        left, left_df = [over(one) for one in left], over(left_df)
    own = weighed(left, left_df, sum(sum(one.values()) for one in left) / len(left))
    other = weighed(right, right_df, sum(sum(one.values()) for one in right) / len(right))
    found = {}
    for i, a in enumerate(own):
        for j, b in enumerate(other):
            cosine = sum(weight * b.get(term, 0.0) for term, weight in a.items())
            if cosine >= threshold:
                found[i, j] = cosine
    return found


def reported(out) -> dict[tuple[int, int], float]:
    table = pq.read_table(out / "pairs.parquet")
    rows = [[int(one.split()[1]) for one in table[side].to_pylist()] for side in ("left_id", "right_id")]
    return dict(zip(zip(*rows, strict=True), table["cosine"].to_pylist(), strict=True))


def searched(
    corpus, out, *, threads: int = 1, translates: bool = True, right_language: str | None = None, **options: object
) -> dict[tuple[int, int], float]:
    sides = ReadingRequest(inputs=[str(corpus.left)]), ReadingRequest(inputs=[str(corpus.right)])
    given = PairInput(*sides, corpus.table if translates else None, right_language)
    chosen = PairOptions(**{"threshold": 0.15, "translate": "left"} | options)  # type: ignore[arg-type]
    pair_files(given, out, chosen, overwrite=True, report=False, resources=Resources(threads=threads))
    return reported(out)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return translated_corpus(tmp_path_factory.mktemp("corpus"))


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("kind", ["plain", "compiled"])
def test_pairs_by_the_definition(corpus, kind, side, tmp_path, monkeypatch):
    monkeypatch.setattr(choosing, "ALWAYS", kind)
    expected = by_definition(corpus, 0.15, translated=side)
    found = searched(corpus, tmp_path / "out", translate=side)
    assert 120 < len(expected) < 2_000
    assert found.keys() == expected.keys()
    np.testing.assert_allclose([found[pair] for pair in expected], list(expected.values()), atol=1e-5)


def test_pairs_are_the_same_whichever_side_is_the_left_one(corpus, tmp_path):
    """A table serves both directions, and the side that is translated depends on the languages alone."""
    turned = tmp_path / "turned.table"
    TranslationTable.read(corpus.table).turned().write(turned)
    options = {"translate": "auto", "n_terms": 100}
    expected = searched(corpus, tmp_path / "as-is", **options)
    assert expected.keys() == by_definition(corpus, 0.15, translated="right").keys()  # bb has more words than aa
    swapped = mirrored(corpus)
    own_table = replace(swapped, table=turned)
    for name, given, right in (("same", swapped, "aa"), ("own", own_table, None)):
        found = searched(given, tmp_path / name, right_language=right, **options)
        assert {(i, j): cosine for (j, i), cosine in found.items()} == pytest.approx(expected, abs=1e-12)
    assert words_of(tmp_path / "same") == {
        (j, i): {(right, left) for left, right in words} for (i, j), words in words_of(tmp_path / "as-is").items()
    }
    estimate = audit(tmp_path / "same").estimate
    assert (estimate.n_true, estimate.n_found) == (len(expected), len(expected))


def words_of(out) -> dict[tuple[str, str], set[tuple[str, str]]]:
    """Of each pair the words that made it, as the left and as the right document has them."""
    return {
        (row["left_id"], row["right_id"]): {(term["left_term"] or term["term"], term["term"]) for term in row["terms"]}
        for row in pq.read_table(out / "pairs.parquet").to_pylist()
    }


def test_words_of_a_pair_stand_on_their_sides(corpus, tmp_path):
    for side in ("left", "right"):
        searched(corpus, tmp_path / side, translate=side)
        for words in words_of(tmp_path / side).values():
            assert all(left[0] == "l" and right[0] in "rq" for left, right in words)


def test_one_language_by_the_definition(corpus, tmp_path):
    mixed = corpus.right_texts[::-1]
    own = type(corpus)(corpus.right, tmp_path / "mixed.parquet", corpus.table, corpus.right_texts, mixed, [])
    table = pq.read_table(corpus.right)
    pq.write_table(table.set_column(1, "text", [mixed]), own.right)
    expected = by_definition(own, 0.15, translates=False)
    found = searched(own, tmp_path / "out", translates=False)
    assert found.keys() == expected.keys()
    np.testing.assert_allclose([found[pair] for pair in expected], list(expected.values()), atol=1e-5)
    assert found[0, len(mixed) - 1] == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("method", ["signatures", "window"])
def test_signatures_lose_some_and_add_none(corpus, method, tmp_path):
    expected = by_definition(corpus, 0.15)
    found = searched(corpus, tmp_path / "out", method=method, recall=0.95)
    assert found.keys() <= expected.keys()
    assert len(found) > 0.9 * len(expected)
    for pair, cosine in found.items():
        assert cosine == pytest.approx(expected[pair], abs=1e-5)


def test_every_distance_finds_everything(corpus, tmp_path):
    found = searched(corpus, tmp_path / "out", method="signatures", bits=256, distance=256)
    assert found.keys() == by_definition(corpus, 0.15).keys()


@pytest.mark.parametrize("method", ["vectors", "window"])
def test_no_size_of_batches_and_no_threads_change_anything(corpus, method, tmp_path, monkeypatch):
    options = {"method": method} if method == "vectors" else {
        "method": method, "bits": 256, "distance": 115, "permutations": 5, "window": 40
    }  # fmt: skip
    expected = searched(corpus, tmp_path / "out", **options)
    bytes_of = (tmp_path / "out" / "pairs.tsv").read_bytes()
    for module, name, value in (
        (searching, "BLOCK", 17), (searching, "_ROWS", 13), (searching, "_HELD", 30), (searching, "_AT_ONCE", 7),
        (vectors, "_SIGNED_AT_ONCE", 11),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, value)
    assert searched(corpus, tmp_path / "again", threads=3, **options) == expected
    assert (tmp_path / "again" / "pairs.tsv").read_bytes() == bytes_of


def test_the_best_of_each_document(corpus, tmp_path):
    everything = by_definition(corpus, 0.15)
    found = searched(corpus, tmp_path / "out", top=2)
    for left in range(len(corpus.left_texts)):
        best = sorted((-cosine, right) for (own, right), cosine in everything.items() if own == left)[:2]
        assert sorted(right for own, right in found if own == left) == sorted(right for _, right in best)


def test_too_many_pairs(corpus, tmp_path, monkeypatch):
    monkeypatch.setattr(searching, "MAX_PAIRS", 300)
    with pytest.raises(ParameterError, match="keep the best of each document with 'top'"):
        searched(corpus, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    monkeypatch.setattr(searching, "_HELD", 100)
    assert len(searched(corpus, tmp_path / "out", top=2)) <= 240
