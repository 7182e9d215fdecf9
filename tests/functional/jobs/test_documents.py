"""The functions of ``nearkin`` take documents of every kind, and say which they cannot take."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import nearkin
from functional.conftest import FAST
from functional.jobs.conftest import RECORDS, TEXTS, ran, records_of
from nearkin.errors import ParameterError, SourceError
from nearkin.results import DedupResult
from nearkin.signatures import neighbour_pairs


def data_set(records: list[dict[str, object]]):
    datasets = pytest.importorskip("datasets")
    return datasets.Dataset.from_list(records)


ARROW = pa.Table.from_pylist(RECORDS)
KINDS = {
    "arrow": lambda: ARROW,
    "arrow texts": lambda: ARROW["text"],
    "string views": lambda: pa.array(TEXTS, pa.string_view()),
    "reader": lambda: pa.RecordBatchReader.from_batches(ARROW.schema, ARROW.to_batches()),
    "pandas": lambda: pd.DataFrame(RECORDS, index=list("xyz")),
    "pandas texts": lambda: pd.Series(TEXTS),
    "polars": lambda: pl.DataFrame(RECORDS),
    "polars texts": lambda: pl.Series(TEXTS),
    "data set": lambda: data_set(RECORDS),
    "shuffled data set": lambda: data_set(RECORDS[::-1]).select([2, 1, 0]),
    "iterable data set": lambda: data_set(RECORDS).to_iterable_dataset(),
    "generator": lambda: (one for one in RECORDS),
    "tuples": lambda: tuple((one["id"], one["text"]) for one in RECORDS),
    "lists": lambda: [[one["id"], one["text"]] for one in RECORDS],
    "dicts": lambda: [*RECORDS],
    "dicts without ids": lambda: [{"text": text} for text in TEXTS],
    "texts": lambda: [*TEXTS],
}
STREAMS = {"reader": pa.Table, "generator": list, "iterable data set": list}
"""Kinds of which another kind comes back."""


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_documents(kind: str) -> None:
    documents = KINDS[kind]()
    result = nearkin.dedup(documents, keep="first")
    assert result.documents["reason"].to_pylist() == ["unique", "near-duplicate", "unique"]
    if result.documents["id"].to_pylist() == [0, 1, 2]:
        expected = nearkin.dedup(RECORDS, keep="first")
        assert all(getattr(result, name).equals(getattr(expected, name)) for name in ("documents", "pairs", "groups"))
    kept = result.kept
    assert type(kept) is STREAMS.get(kind, type(documents))
    has_columns = not isinstance(kept, list | tuple | pa.Array | pa.ChunkedArray | pd.Series | pl.Series)
    texts = kept["text"] if has_columns else kept
    named = [
        one["text"] if isinstance(one, dict) else one[1] if isinstance(one, tuple | list) else str(one) for one in texts
    ]
    assert named == [TEXTS[0], TEXTS[2]]
    assert len(nearkin.sign(KINDS[kind]()).documents) == 3


def test_what_is_kept_of_other_columns() -> None:
    result = nearkin.dedup([one["text"] for one in RECORDS], keep="first")
    assert result.keep(["a", "b", "c"]) == ["a", "c"]
    frame = pd.DataFrame({"n": [1, 2, 3]}, index=[10, 20, 30])
    pd.testing.assert_frame_equal(result.keep(frame), frame.loc[[10, 30]])
    for wrong in (["a"], pd.DataFrame({"n": [1]}), pl.DataFrame({"n": range(4)}), pa.table({"n": [1]})):
        with pytest.raises(ParameterError, match=r"must be the 3 documents of the run"):
            result.keep(wrong)


def test_paths(texts: Path, tmp_path: Path) -> None:
    one = nearkin.dedup(texts)
    others = [str(texts), [texts], [texts.parent], str(texts.parent / "*.jsonl"), texts.parent, (texts, str(texts))]
    for documents in others:
        assert nearkin.dedup(documents).pairs.equals(one.pairs)
    run = nearkin.dedup(texts, out=tmp_path / "out", write_kept=True)
    again = nearkin.dedup(tmp_path / "out")
    assert again.documents["id"].to_pylist() == run.kept["id"].to_pylist()
    assert list((tmp_path / "out" / "kept").iterdir())
    ran("add", tmp_path / "matter", texts, "--quiet")
    with nearkin.Collection.open(tmp_path / "matter") as matter:
        assert len(nearkin.dedup(matter).pairs) == len(one.pairs)
        assert not len(nearkin.dedup(records_of(texts), against=matter).kept)


def test_what_is_kept_of_documents_in_memory_can_be_written(tmp_path: Path) -> None:
    result = nearkin.dedup(RECORDS, keep="first", out=tmp_path / "out", write_kept=True, report=True)
    assert records_of(tmp_path / "out/kept/table.jsonl") == [RECORDS[0], RECORDS[2]] == result.kept
    assert (tmp_path / "out/report.html").is_file()
    again = nearkin.dedup(tmp_path / "out")
    assert again.documents["id"].to_pylist() == [0, 2]


def test_load_files_with_wrong_bytes_and_single_qualifiers(tmp_path: Path) -> None:
    subjects = ["Café".encode(), "Grün".encode("cp1252"), "Guðþór".encode(), b"CAF\xc9\xae \xfe"]
    rows = [b"\xfeDOCID\xfe\x14\xfeSUBJECT\xfe\x14\xfeEXTRACTEDTEXT\xfe" + b"\r\n"]
    for i, subject in enumerate(subjects):
        fields = f"þA-{i}þ\x14þþ\x14þCafé\N{NO-BREAK SPACE}{i}: The rent is dueþ\r\n"
        row = fields.encode("cp1252" if i == 3 else "utf-8")
        quoted = (b"\xfe" if i == 3 else "þ".encode()) * 2
        rows.append(row.replace(quoted, quoted[: len(quoted) // 2] + subject + quoted[len(quoted) // 2 :]))
    (tmp_path / "a.dat").write_bytes(b"".join(rows))
    result = nearkin.dedup(tmp_path / "a.dat", carry=["SUBJECT"])
    assert result.documents["id"].to_pylist() == [f"A-{i}" for i in range(4)]
    assert result.documents["SUBJECT"].to_pylist() == ["Café", "Grün", "Guðþór", "CAFÉ® þ"]
    assert len(set(result.documents["n_characters"].to_pylist())) == 1


def test_no_file_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, texts: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    signed = nearkin.sign(texts)
    nearkin.neighbours(signed)
    nearkin.dedup(texts)
    nearkin.families(RECORDS)
    nearkin.pairs(RECORDS, [*RECORDS], min_occurrences=1)
    nearkin.plan(RECORDS)
    assert not list(tmp_path.iterdir())


def test_the_documents_near_one() -> None:
    signed = nearkin.sign(RECORDS)
    assert signed.nearest(0, 100)["id"].to_pylist() == [1]
    blocks = neighbour_pairs(signed.signatures, 60).blocks()
    assert [(block.left.tolist(), block.right.tolist()) for block in blocks] == [([0], [1])]
    with pytest.raises(ParameterError, match=r"the result of nearkin.sign has no document with the id '7'"):
        signed.nearest(7)


def test_progress_is_given_when_asked(capfd: pytest.CaptureFixture[str]) -> None:
    heard: list[str] = []
    nearkin.dedup(RECORDS, progress=heard.append)
    assert heard[0].startswith("text column: 'text'")
    assert {"read", "plan", "verify"} <= set(heard)
    nearkin.dedup(RECORDS)
    assert capfd.readouterr() == ("", "")
    with pytest.raises(ParameterError, match="progress: must be a function"):
        nearkin.sign(RECORDS, progress=True)  # type: ignore[arg-type]


JOBS = {
    "dedup": nearkin.dedup,
    "sign": nearkin.sign,
    "families": nearkin.families,
    "plan": nearkin.plan,
    "left": lambda documents, **more: nearkin.pairs(documents, RECORDS, **more),
    "right": lambda documents, **more: nearkin.pairs(RECORDS, documents, **more),
}


@pytest.mark.parametrize("job", JOBS)
def test_what_are_no_documents(job: str, tmp_path: Path) -> None:
    run = JOBS[job]
    for wrong in (b"bytes", None, {"text": "x"}, 1.5, object(), [1, 2], [tmp_path, 1]):
        with pytest.raises(ParameterError):
            run(wrong)
    for missing in (tmp_path / "no.jsonl", str(tmp_path / "no.jsonl"), [tmp_path / "no"], "a text, not a path", "a\0b"):
        with pytest.raises(SourceError):
            run(missing)
    with pytest.raises(SourceError, match=r"put a text into a list"):
        run("a text\nof two lines")
    with pytest.raises(SourceError, match=r"no column 'body'"):
        run(pa.Table.from_pylist(RECORDS), text="body")
    with pytest.raises(SourceError, match=r"no column 'key'"):
        run(pd.DataFrame(RECORDS), id="key")
    with pytest.raises(SourceError, match=r"No document of [12] is readable"):
        run(pd.DataFrame({"text": [None, None]}))
    with pytest.raises(SourceError, match=r"no column holds text"):
        run(pa.table({"n": [1, 2]}))


def test_odd_documents_are_listed_not_fatal() -> None:
    documents = [("a", FAST), ("a", FAST), ("b", None), ("c", "half \ud800"), ("d", 7), (None, "no id here")]
    found = nearkin.dedup(documents, max_unreadable=1.0)
    assert found.documents["reason"].to_pylist()[2:5] == ["unreadable"] * 3
    signed = nearkin.sign(documents, max_unreadable=1.0)
    assert signed.documents["has_features"].to_pylist() == [True, True, False, False, False, True]
    assert len(set(signed.documents["name"].to_pylist())) == 6
    paired = nearkin.pairs(documents, RECORDS, max_unreadable=1.0, min_occurrences=1, min_terms=1)
    assert paired.documents["problem"].is_null().to_pylist()[:6] == [True, False, False, False, False, True]


def test_both_sides_are_the_same() -> None:
    frame = pd.DataFrame({"de": [FAST, "x"], "en": ["y", FAST]})
    with pytest.raises(ParameterError, match=r"are the same.*nearkin\.dedup"):
        nearkin.pairs(RECORDS, RECORDS)
    found = nearkin.pairs(frame, frame, left_text="de", right_text="en", min_occurrences=1, min_terms=1)
    assert found.pairs.select(["left_row", "right_row"]).to_pylist() == [{"left_row": 0, "right_row": 1}]


def test_results_of_documents_in_memory_are_not_audited(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="run the job with 'out'"):
        nearkin.audit(nearkin.dedup(RECORDS))
    with pytest.raises(SourceError, match="in the memory of a program"):
        nearkin.audit(nearkin.dedup(RECORDS, out=tmp_path / "out"))
    with pytest.raises(SourceError, match="in the memory of a program"):
        nearkin.dedup(tmp_path / "out")
    ran("regroup", tmp_path / "out", "--threshold", "0.99", "--out", tmp_path / "cut", "--quiet")
    assert not len(DedupResult.open(tmp_path / "cut").groups)
    nearkin.sign(RECORDS, out=tmp_path / "sig.parquet")
    with pytest.raises(SourceError, match="in the memory of a program"):
        nearkin.neighbours(tmp_path / "sig.parquet", verify="jaccard:0.5")


@pytest.mark.parametrize("kind", ["list", "pandas", "arrow"])
def test_documents_in_memory_are_given_again_to_an_audit(kind: str, texts: Path, tmp_path: Path) -> None:
    make = {"list": list, "pandas": pd.DataFrame, "arrow": pa.Table.from_pylist}[kind]
    options = {"threshold": 0.5, "recall": 0.2}
    of_files = nearkin.audit(nearkin.dedup(texts, out=tmp_path / "files", **options))
    run = nearkin.dedup(make(records_of(texts)), out=tmp_path / "memory", **options)
    of_memory = nearkin.audit(run, documents=make(records_of(texts)))
    assert (of_memory.n_true, of_memory.n_found) == (of_files.n_true, of_files.n_found)
    assert of_memory.n_true > 100
    assert of_memory.missed.equals(of_files.missed)
    changed = records_of(texts)
    changed[3]["text"] += " and more"
    with pytest.raises(SourceError, match="The given documents differ from those that the run read"):
        nearkin.audit(run, documents=make(changed))
    for wrong in (texts, [texts], 5):
        with pytest.raises(ParameterError):
            nearkin.audit(run, documents=wrong)
    with pytest.raises(ParameterError, match="The run did not read 'other' from memory"):
        nearkin.audit(run, documents=make(records_of(texts)), other=make(records_of(texts)))
    against = nearkin.dedup(make(RECORDS), against=make(RECORDS[:2]), out=tmp_path / "against")
    assert nearkin.audit(against, documents=make(RECORDS), other=make(RECORDS[:2])).n_true == 2
