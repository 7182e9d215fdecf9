"""A collection named in the place of files: its current documents are read, as they were when the run began."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from functional.conftest import nearkin_here, results, run_here, write_jsonl
from made_up_prose import Prose
from nearkin.errors import ResumeError, SourceError
from nearkin.options.dedup import Delivery
from nearkin.workflows.auditing.audit import audit
from nearkin.workflows.auditing.audited import AuditOptions
from nearkin.workflows.dedup import job
from nearkin.workflows.reading import collection_documents
from nearkin.workflows.reading.collection_documents import CollectionDocuments

TABLES = ("documents.parquet", "pairs.parquet", "groups.parquet", "against.parquet")
EVERYTHING = AuditOptions(sample=10**6)


def families(seed: int, n: int, prefix: str) -> dict[str, str]:
    return {f"{prefix}/{doc_id}": text for doc_id, text in Prose(seed).families(n)}


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    """Many of them, as of a large collection."""
    monkeypatch.setattr(collection_documents, "BATCH_BYTES", 4_000)
    monkeypatch.setattr(collection_documents, "_ROWS_AT_A_TIME", 7)


@pytest.fixture
def stored(place) -> dict[str, str]:
    """What a collection of three waves holds: a new version, a removed document, one that came again."""
    first, second = families(1, 15, "a"), families(2, 10, "b")
    with place.open() as opened:
        opened.add(list(first.items()), wave="first")
        opened.add(list(second.items()), wave="second")
        changed = {"a/f0": "An altogether new version of the first document of the first wave.", "b/f1": first["a/f2"]}
        opened.add(list(changed.items()), wave="third")
        opened.remove(["a/f1", "b/f2"])
        opened.add([("a/f1", first["a/f1"])], wave="fourth")
    return {doc_id: text for doc_id, text in (first | second | changed).items() if doc_id != "b/f2"}


def as_files(folder: Path, name: str, texts: dict[str, str]) -> Path:
    return write_jsonl(folder / f"{name}.jsonl", [{"id": doc_id, "text": text} for doc_id, text in texts.items()])


def told(out: Path, *, without: tuple[str, ...] = ("source", "line")) -> dict[str, list[dict[str, object]]]:
    """The tables of a run, but for where documents stand."""
    found = {}
    for name in TABLES:
        if (out / name).exists():
            table = pq.read_table(out / name)
            table = table.drop_columns([one for one in without if one in table.column_names])
            found[name] = sorted(table.to_pylist(), key=repr)
    return found


def ordered(place, stored: dict[str, str]) -> dict[str, str]:
    """The documents in the order of the store."""
    rows = (
        place.rows("SELECT doc_id FROM documents WHERE is_current ORDER BY row")
        if place.kind == "sqlite"
        else (place.rows(f"SELECT doc_id FROM {place.schema}.documents WHERE is_current ORDER BY row"))
    )
    return {str(doc_id): stored[str(doc_id)] for (doc_id,) in rows}


def test_against_a_collection_is_against_its_current_documents(place, stored, tmp_path):
    mine = as_files(tmp_path, "wave", families(1, 20, "new") | families(9, 5, "other"))
    theirs = as_files(tmp_path, "theirs", ordered(place, stored))
    arguments = ("--no-report", "--threshold", "0.6", "-q")
    for name, other in (("files", theirs), ("stored", place.address)):
        ended = nearkin_here("dedup", mine, "--against", other, "--out", tmp_path / name, *arguments)
        assert (ended.code, ended.err) == (0, "")
    assert told(tmp_path / "stored") == told(tmp_path / "files")
    assert len(told(tmp_path / "stored")["pairs.parquet"]) > 10
    (entry,) = json.loads((tmp_path / "stored/manifest.json").read_text())["against"]
    assert (entry["format"], entry["n_documents"]) == ("collection", len(stored))
    assert "open-sesame" not in (tmp_path / "stored/manifest.json").read_text()


def test_a_collection_is_deduplicated_by_its_own_ids(place, stored, tmp_path):
    theirs = as_files(tmp_path, "theirs", ordered(place, stored))
    for name, given in (("files", theirs), ("stored", place.address)):
        ended = nearkin_here("dedup", given, "--out", tmp_path / name, "--no-report", "-q", "--write-kept")
        assert (ended.code, ended.err) == (0, "")
    assert told(tmp_path / "stored") == told(tmp_path / "files")
    (kept,) = (tmp_path / "stored/kept").iterdir()
    lines = [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()]
    assert lines == [json.loads(line) for line in (tmp_path / "files/kept/theirs.jsonl").read_text().splitlines()]
    for name in ("files", "stored"):
        assert nearkin_here("regroup", tmp_path / name, "--threshold", "0.95", "--no-report", "-q").code == 0
    assert told(tmp_path / "stored/threshold-0.95") == told(tmp_path / "files/threshold-0.95")
    # what it kept is the input of the next run
    ended = nearkin_here("dedup", tmp_path / "stored", "--out", tmp_path / "again", "--no-report", "-q")
    assert (ended.code, ended.err) == (0, "")
    documents = pq.read_table(tmp_path / "again/documents.parquet")
    assert documents["id"].to_pylist() == [line["id"] for line in lines]


def test_what_is_written_meanwhile_is_not_read(place, stored, tmp_path, monkeypatch):
    mine = as_files(tmp_path, "wave", families(1, 20, "new"))
    options = {"against": [place.address], "delivery": Delivery(report=False, write_kept=True)}
    run_here([str(mine)], tmp_path / "before", **options)
    read = CollectionDocuments.batches

    def others_write(self, progress):
        for number, batch in enumerate(read(self, progress)):
            if number == 1:
                with place.open() as opened:
                    opened.add(list(families(1, 20, "late").items()))
                    opened.add([("a/f3", "A new version, too late.")])
                    opened.remove(["a/f4", "a/f5"])
            yield batch

    monkeypatch.setattr(CollectionDocuments, "batches", others_write)
    run_here([str(mine)], tmp_path / "during", **options)
    assert results(tmp_path / "during") == results(tmp_path / "before")
    monkeypatch.setattr(CollectionDocuments, "batches", read)
    run_here([str(mine)], tmp_path / "after", **options)
    assert results(tmp_path / "after") != results(tmp_path / "before")


def test_a_resumed_run_must_find_the_same_documents(place, stored, tmp_path, monkeypatch):
    mine = as_files(tmp_path, "wave", families(1, 20, "new"))

    def cut(*arguments: object) -> None:
        raise KeyboardInterrupt

    def run(*, resume: bool):
        delivery = Delivery(report=False, resume=resume)
        return run_here([str(mine)], tmp_path / "out", against=[place.address], delivery=delivery)

    with monkeypatch.context() as patched:
        patched.setattr(job, "write_tables", cut)
        with pytest.raises(KeyboardInterrupt):
            run(resume=False)
    with place.open() as opened:
        opened.add([("late", "One more document.")], wave="fifth")
    with pytest.raises(ResumeError, match=r"against .* was collection"):
        run(resume=True)
    with place.open() as opened:
        opened.remove(["late"])
    run(resume=True)
    run_here([str(mine)], tmp_path / "fresh", against=[place.address])
    assert results(tmp_path / "out") == results(tmp_path / "fresh")


def test_a_damaged_text_is_one_unreadable_document(place, stored, tmp_path):
    damaged = sorted(doc_id for doc_id in stored if list(stored.values()).count(stored[doc_id]) == 1)[:2]
    names = ", ".join(f"'{one}'" for one in damaged)
    of_them = f"content IN (SELECT content FROM documents WHERE is_current AND doc_id IN ({names}))"
    rubbish = "x'00ff'" if place.kind == "sqlite" else r"'\x00ff'"
    place.sql(f"UPDATE contents SET text = {rubbish} WHERE {of_them}")
    mine = as_files(tmp_path, "wave", stored)
    run_here([str(mine)], tmp_path / "out", against=[place.address])
    rows = {row["id"]: row for row in pq.read_table(tmp_path / "out/against.parquet").to_pylist()}
    assert {doc_id for doc_id, row in rows.items() if row["result"] == "unreadable"} == set(damaged)
    assert all("stored text is damaged" in rows[doc_id]["problem"] for doc_id in damaged)
    kept = pq.read_table(tmp_path / "out/documents.parquet").filter(pa.compute.field("keep"))["id"].to_pylist()
    assert set(kept) <= set(damaged)
    problems = pq.read_table(tmp_path / "out/problems.parquet")
    assert set(problems["id"].to_pylist()) == set(damaged)
    ended = nearkin_here("dedup", place.address, "--out", tmp_path / "stopped", "--on-error", "stop", "-q")
    assert (ended.code, "stored text is damaged" in ended.err) == (4, True)


def test_an_audit_reads_the_documents_that_there_were(place, stored, tmp_path):
    mine = as_files(tmp_path, "wave", families(1, 20, "new"))
    run_here([str(mine)], tmp_path / "out", against=[place.address], recall=0.5, threshold=0.6)
    if place.server is not None:
        with pytest.raises(SourceError, match="needs a password, which results do not store"):
            audit(tmp_path / "out", EVERYTHING)
        return
    before = audit(tmp_path / "out", EVERYTHING)
    assert before.estimate.is_exact
    assert before.estimate.n_found > 10
    with place.open() as opened:
        opened.add(list(families(1, 20, "late").items()))
    assert audit(tmp_path / "out", EVERYTHING).estimate == before.estimate  # what came later does not count
    with place.open() as opened:
        opened.remove(["a/f3"])
    with pytest.raises(SourceError, match="has changed since it was read"):
        audit(tmp_path / "out", EVERYTHING)


def test_other_commands_read_it_too(place, stored, tmp_path):
    files = as_files(tmp_path, "theirs", ordered(place, stored))
    signatures = []
    for given in (files, place.address):
        out = tmp_path / f"signatures-{len(signatures)}.parquet"
        assert nearkin_here("sign", given, "--out", out, "-q").code == 0
        signatures.append(pq.read_table(out).drop_columns(["source", "line"]).replace_schema_metadata(None))
    assert signatures[0] == signatures[1]
    ended = nearkin_here("pairs", "--left", files, "--right", place.address, "--out", tmp_path / "pairs", "-q")
    assert (ended.code, ended.err) == (0, "")
    assert "open-sesame" not in (tmp_path / "pairs/manifest.json").read_text()
    assert nearkin_here("plan", "corpus", place.address).code == 0
    copy = place.another()
    cache = ("--cache", copy.cache) if copy.server else ()
    assert nearkin_here("add", copy.address, place.address, "-q", *cache).code == 0
    with copy.open(create=False) as opened:
        assert {doc_id: opened.text(doc_id) for doc_id in stored} == stored


def test_what_is_of_files_or_of_a_cluster_is_refused_by_name(place, stored, tmp_path):
    mine = as_files(tmp_path, "wave", families(1, 3, "new"))
    out = tmp_path / "out"
    ended = nearkin_here("dedup", place.address, "--out", out, "--keep", "max:score")
    assert (ended.code, "has no column 'score' to keep by" in ended.err) == (3, True)
    ended = nearkin_here("dedup", mine, "--against", place.address, "--out", out, "--engine", "spark")
    assert (ended.code, "is a collection, which only one machine can read" in ended.err) == (2, True)
    assert "open-sesame" not in ended.err
    assert not out.exists()


def test_pairs_that_were_signed_from_a_collection_can_be_verified(place, stored, tmp_path):
    assert nearkin_here("sign", place.address, "--out", tmp_path / "s.parquet", "-q").code == 0
    arguments = ("neighbours", tmp_path / "s.parquet", "--out", tmp_path / "n.parquet", "--overwrite", "--verify")
    ended = nearkin_here(*arguments, "jaccard:0.8", "-q")
    if place.server is not None:
        assert (ended.code, "needs a password" in ended.err) == (3, True)
        return
    assert (ended.code, ended.err) == (0, "")
    assert min(pq.read_table(tmp_path / "n.parquet")["jaccard"].to_pylist()) >= 0.8
    with place.open() as opened:
        opened.remove(["a/f3"])
    ended = nearkin_here(*arguments, "jaccard:0.8", "-q")
    assert (ended.code, "has changed since it was read" in ended.err) == (3, True)
