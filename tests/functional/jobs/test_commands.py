"""The functions of ``nearkin`` answer what its commands write: of files, and of the same documents in memory."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import nearkin
from example_counts import examples
from functional.conftest import nearkin_here, write_jsonl
from functional.jobs.conftest import ran, records_of, table
from nearkin.results import DedupResult, FamiliesResult, PairsResult
from oracles.texts import families as similar_texts
from translated_corpus import TranslatedCorpus

PLACES = ("source", "line", "name")
"""Columns that say where a document was: in a file or in memory."""


def assert_but_for_places(one: pa.Table, other: pa.Table) -> None:
    """The same, wherever the documents were."""
    shared = [name for name in one.column_names if name not in PLACES]
    assert one.column_names == other.column_names
    assert one.select(shared).equals(other.select(shared))


def test_dedup_is_the_command(texts: Path, tmp_path: Path) -> None:
    ran("dedup", texts, "--out", tmp_path / "c", "--threshold", "0.6", "--no-report", "--quiet")
    of_file = nearkin.dedup(texts, threshold=0.6, out=tmp_path / "p")
    for name in ("documents", "pairs", "groups"):
        written = table(tmp_path / "c" / f"{name}.parquet")
        assert len(written) > 0
        assert getattr(of_file, name).equals(written)
    assert of_file.kept.equals(of_file.documents.filter(of_file.documents["keep"]))
    opened = DedupResult.open(tmp_path / "c")
    assert opened.documents.equals(of_file.documents)
    assert (opened.out, of_file.out) == (tmp_path / "c", tmp_path / "p")


def test_pairs_are_the_command(bilingual: TranslatedCorpus, tmp_path: Path) -> None:
    given = ("--left", bilingual.left, "--right", bilingual.right, "--table", bilingual.table)
    ran("pairs", *given, "--known", "same-ids", "--out", tmp_path / "c", "--no-report", "--quiet")
    of_files = nearkin.pairs(bilingual.left, bilingual.right, table=bilingual.table, known="same-ids")
    left, right = (pq.read_table(path) for path in (bilingual.left, bilingual.right))
    of_memory = nearkin.pairs(left, right.to_pandas(), table=bilingual.table, known="same-ids", out=tmp_path / "p")
    written = {name: table(tmp_path / "c" / f"{name}.parquet") for name in ("pairs", "documents")}
    assert len(written["pairs"]) > 0
    for name, one in written.items():
        assert getattr(of_files, name).equals(one)
        assert_but_for_places(getattr(of_memory, name), one)
    assert of_files.manifest["known"] == of_memory.manifest["known"]
    assert of_memory.manifest["known"]["recall"] > 0.5
    assert PairsResult.open(tmp_path / "p").pairs.equals(written["pairs"])


@pytest.mark.parametrize("more", [{}, {"verify": "jaccard:0.8"}, {"distance": 5}], ids=str)
def test_neighbours_are_the_command(more: dict[str, object], texts: Path, tmp_path: Path) -> None:
    ran("sign", texts, "--out", tmp_path / "sig.parquet", "--quiet")
    options = [str(one) for name, value in more.items() for one in (f"--{name}", value)]
    ran("neighbours", tmp_path / "sig.parquet", "--out", tmp_path / "pairs.parquet", *options, "--quiet")
    written = table(tmp_path / "pairs.parquet")
    assert len(written) > 0
    for signed in (tmp_path / "sig.parquet", nearkin.sign(texts), nearkin.sign(records_of(texts))):
        assert nearkin.neighbours(signed, **more).pairs.equals(written)


def test_families_are_the_command(texts: Path, tmp_path: Path) -> None:
    ran("families", texts, "--out", tmp_path / "c", "--quiet")
    of_file, of_memory = nearkin.families(texts, out=tmp_path / "p"), nearkin.families(records_of(texts))
    for name, file in (("members", "families"), ("documents", "documents"), ("groups", "groups"), ("pairs", "pairs")):
        written = table(tmp_path / "c" / f"{file}.parquet")
        assert len(written) > 0
        assert getattr(of_file, name).equals(written)
        assert_but_for_places(getattr(of_memory, name), written)
    assert FamiliesResult.open(tmp_path / "c").members.equals(of_file.members)


def test_an_audit_is_the_command(texts: Path, tmp_path: Path) -> None:
    found = nearkin.dedup(texts, threshold=0.5, recall=0.2, out=tmp_path / "p")
    told = json.loads(nearkin_here("audit", tmp_path / "p", "--json").out)
    for place in (found, tmp_path / "p", str(tmp_path / "p")):
        audited = nearkin.audit(place)
        assert {**audited.manifest, "elapsed_s": 0} == {**told, "elapsed_s": 0}
        assert (audited.recall, audited.n_true, len(audited.missed)) == (
            told["recall"], told["n_true"], told["missed_pairs"],
        )  # fmt: skip
    assert audited.is_exact


def test_plans_are_the_command(texts: Path, bilingual: TranslatedCorpus) -> None:
    told = json.loads(nearkin_here("plan", "corpus", texts, "--documents", "1M", "--json").out)
    for sample in (texts, records_of(texts)):
        planned = nearkin.plan(sample, n_documents=1_000_000)
        # a document takes the bytes of its name, too, where the run writes it down
        assert {**planned.manifest, "sample": 0} == {**told, "sample": 0}
    assert planned.plan["bands"].to_pylist() == [told["plan"]["bands"]]
    options = ("--threshold", "0.4", "--recall", "0.8", "--cores", "8")
    told = json.loads(nearkin_here("plan", "pairs", "--documents", "2M", "300k", *options, "--json").out)
    of_numbers = nearkin.plan_pairs(2_000_000, 300_000, threshold=0.4, recall=0.8, cores=8)
    assert json.loads(json.dumps(of_numbers.manifest)) == told
    assert of_numbers.methods["method"][0].as_py() == told["chosen"]["method"]
    samples = ("--left", bilingual.left, "--right", bilingual.right, "--table", bilingual.table)
    told = json.loads(nearkin_here("plan", "pairs", "--documents", "2M", "1k", *samples, "--json").out)
    for left, right in ((bilingual.left, bilingual.right), (pq.read_table(bilingual.left), str(bilingual.right))):
        of_samples = nearkin.plan_pairs(left, right, n_documents=(2_000_000, 1000), table=bilingual.table)
        assert json.loads(json.dumps(of_samples.manifest)) == told


@given(texts=similar_texts(), threshold=st.sampled_from([0.3, 0.5, 0.8]))
@settings(max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_texts_give_the_same_from_a_file_and_from_memory(texts, threshold, tmp_path_factory) -> None:
    folder = tmp_path_factory.mktemp("any")
    records = [{"id": i, "text": text} for i, text in enumerate(texts)]
    path = write_jsonl(folder / "in.jsonl", records)
    if not records:
        return
    of_file, of_memory = (nearkin.dedup(one, threshold=threshold, text="text", id="id") for one in (path, records))
    assert [one["id"] for one in of_memory.kept] == of_file.kept["id"].to_pylist()
    assert of_memory.out is None
    for name in ("documents", "pairs", "groups"):
        assert_but_for_places(getattr(of_memory, name), getattr(of_file, name))
    of_file, of_memory = (nearkin.sign(one, bits=64, text="text", id="id") for one in (path, records))
    assert_but_for_places(of_memory.documents, of_file.documents)
    near = (nearkin.neighbours(one, distance=20, verify=f"jaccard:{threshold}").pairs for one in (of_file, of_memory))
    assert next(near).equals(next(near))
