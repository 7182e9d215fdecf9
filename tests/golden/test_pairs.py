"""What must never change of a search for pairs: orders of bits, signatures of words, the columns of its files."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nearkin.kernels.buffers import strings
from nearkin.options.pairs import PairOptions
from nearkin.stages.features.vocabulary import hashes_of
from nearkin.stages.search.sliding_window import SlidingWindow
from nearkin.stages.signatures.random_projection import RandomProjection, TermVectors
from nearkin.workflows.pairing.inputs import PairInput
from nearkin.workflows.pairing.job import pair_files
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.resources import Resources
from translated_corpus import translated_corpus

ORDERS = [[816, 923, 151, 900, 213, 100], [513, 857, 583, 397, 337, 612], [917, 74, 383, 401, 549, 586]]
SIGNATURES = ["60e5d36f591260211b2c4021a682014a", "563f226899ac7e305793cf6a1b80b1d1"]
LINES = {
    "left": "0.758350\tdocument 0\tdocument 0\tlabcb=rabcb laajj=raajj",
    "right": "0.849698\tdocument 0\tdocument 0\tlabcb=rabcb laajj=raajj",
}


def test_orders_of_bits():
    assert [order[:6].tolist() for order in SlidingWindow(3, 1, seed=7).orders(1000)] == ORDERS


def test_signatures_of_words():
    hashes = hashes_of(strings(["ferry", "harbour", "tuesday", "家"]))
    vectors = TermVectors(hashes, np.array([0.5, 0.25, 0.75, 0.1]), np.array([0, 3, 4]), "words")
    assert [bytes(row).hex() for row in RandomProjection(128, seed=5).sign(vectors).packed] == SIGNATURES


@pytest.mark.parametrize("side", ["left", "right"])
def test_files_of_a_run(side, tmp_path):
    own = translated_corpus(tmp_path, n=30)
    given = PairInput(ReadingRequest(inputs=[str(own.left)]), ReadingRequest(inputs=[str(own.right)]), own.table)
    out = tmp_path / "out"
    pair_files(given, out, PairOptions(n_terms=2, translate=side), report=False, resources=Resources(threads=1))
    lines = (out / "pairs.tsv").read_text().splitlines()
    assert lines[:2] == ["cosine\tleft_id\tright_id\tterms", LINES[side]]
    term = pa.struct([("term", pa.large_string()), ("left_term", pa.large_string()), ("share", pa.float32())])
    assert [(field.name, field.type) for field in pq.read_schema(out / "pairs.parquet")][:6] == [
        ("left_id", pa.large_string()), ("right_id", pa.large_string()), ("left_row", pa.int64()),
        ("right_row", pa.int64()), ("cosine", pa.float64()), ("rank", pa.int32()),
    ]  # fmt: skip
    kind = pq.read_schema(out / "pairs.parquet").field("terms").type.value_type
    assert [(field.name, field.type) for field in kind] == [(field.name, field.type) for field in term]
    assert pq.read_schema(out / "documents.parquet").names == [
        "side", "id", "name", "row", "source", "line", "problem", "n_terms", "n_pairs", "best", "best_row",
        "best_cosine",
    ]  # fmt: skip
