"""Every engine writes the same signatures, down to the bytes of the file, and says the same of them."""

from __future__ import annotations

import contextlib
import functools
import gzip
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wikipedia_dumps
from example_counts import examples
from functional.conftest import nearkin_here, some_records
from in_process import InProcess
from nearkin.engines.local import LOCAL, Engine
from nearkin.engines.spark.session import Cluster
from nearkin.errors import (
    DocumentError,
    EngineError,
    FingerprintError,
    NearkinError,
    ParameterError,
    SourceError,
    TruncatedInputError,
)
from nearkin.options.signatures import METHODS, SigningOptions
from nearkin.runs.progress import Meter, Silent
from nearkin.stages.documents.normalisation import Normalisation
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.features.shingles import Words
from nearkin.stages.signatures.statistics import Statistics
from nearkin.workflows.reading import inputs
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.resources import Resources
from nearkin.workflows.signing import on_spark
from nearkin.workflows.signing.counting import collect, save
from nearkin.workflows.signing.job import exceptions_beside, sign

PROSE = wikipedia_dumps.PROSE
WEIGHTED = {"method": "weighted-topsig", "bits": 64}
NAMED = {"text": "text", "doc_id": "id"}
NO_CLUSTER = Cluster("local[1]")
"""Where no session is made."""


@dataclass(frozen=True)
class Case:
    """Files, and how they are signed."""

    files: Mapping[str, bytes]
    options: Mapping[str, object] = field(default_factory=dict)
    reading: Mapping[str, object] = field(default_factory=dict)

    def written(self, folder: Path) -> list[str]:
        """The paths; those of files in a folder are named by that."""
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists():  # when it was changed would show in the result
                path.write_bytes(content)
        return sorted({str(folder / name.partition("/")[0]) for name in self.files})


@dataclass(frozen=True)
class Told:
    """What a run leaves, and what it says."""

    content: bytes
    exceptions: bytes | None
    summary: Mapping[str, object]
    said: Sequence[str]


class Listener(Silent):
    """Keeps what is said, but for what a first run or a slow cluster says besides."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, message: str) -> None:
        if not message.startswith(("first run", "No executor yet")):
            self.said.append(message)


def lines(*records: object) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def named(some: Sequence[str]) -> bytes:
    return lines(*({"id": f"d{i}", "text": text} for i, text in enumerate(some)))


def as_parquet(**columns: Sequence[object]) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return file.getvalue()


def records_in(n_files: int) -> dict[str, bytes]:
    """About 570 documents of every kind."""
    records = some_records()
    return {f"part-{i}.jsonl": lines(*records[i::n_files]) for i in range(n_files)}


def several_formats() -> dict[str, bytes]:
    return {
        "a.jsonl": named([PROSE, "short", ""]) + b"{broken\n" + lines({"id": "d1", "text": 7}),
        "b.csv": b'id;text\nx1;"one; two"\nx2;caf\xe9\n',
        "c.jsonl.gz": gzip.compress(lines({"text": "no id"}, {"text": PROSE[:300]})),
        "d.parquet": as_parquet(id=[1, 2, 3], text=[PROSE, None, "three"]),
        "e.tsv": b"y1\tfirst of the lines\ny2\tsecond of the lines\n",
        "f.jsonl.gz": gzip.compress(named([PROSE] * 5))[:-9],
        "g.txt": b"one text of its own",
        "h.jsonl": b"",
        "loose/a.txt": PROSE.encode(),
        "loose/b.txt": b"caf\xe9",
        "loose/c.bin.txt": bytes(range(256)),
        "loose/d.txt": b"",
        "loose/n\udcff.txt": b"its name is no UTF-8",
        "loose/z/e.txt": b"further down",
    }


def dumps() -> dict[str, bytes]:
    """Of which pages are left out, which is said."""
    pages = [wikipedia_dumps.page(f"Regen {i}", PROSE * (i + 1), number=i + 1) for i in range(3)]
    away = wikipedia_dumps.page("Niederschlag", "#WEITERLEITUNG [[Regen]]", number=9, redirect="Regen")
    return {f"{name}-pages-articles.xml": wikipedia_dumps.dump(*pages, away) for name in ("dewiki", "alswiki")}


@functools.cache
def cases() -> dict[str, Case]:
    ones = {f"{i:02}.jsonl": lines({"id": i, "text": PROSE[i:]}) for i in range(12)}
    return {
        "of every kind": Case(records_in(3)),
        "counted, of every kind": Case(records_in(4), WEIGHTED),
        "several formats": Case(several_formats(), reading={"rules": ReadingRules(on_error="skip")}),
        "several formats, counted": Case(
            several_formats(), WEIGHTED | {"density": 0.5, "seed": 3}, {"rules": ReadingRules(on_error="skip")}
        ),
        "words": Case(
            records_in(2), {"features": Words(2), "bits": 1024, "seed": 2**64 - 1, "normalise": Normalisation()}
        ),
        "words, counted": Case(
            records_in(2), WEIGHTED | {"features": Words(3), "bits": 8, "normalise": Normalisation()}
        ),
        "a folder": Case({f"in/{i:03}.txt": PROSE[i:].encode() for i in range(20)}),
        "a folder, counted": Case({f"in/{i:03}.txt": PROSE[i:].encode() for i in range(20)}, WEIGHTED),
        "all equal": Case({f"{i}.jsonl": named([PROSE] * 50) for i in range(3)}, WEIGHTED),
        "all empty": Case({f"{i}.jsonl": named([""] * 9) for i in range(2)}),
        "all empty, counted": Case({f"{i}.jsonl": named([""] * 9) for i in range(2)}, WEIGHTED),
        "one document": Case({"a.jsonl": named(["one"])}),
        "no document": Case({"a.jsonl": b""}),
        "no document, counted": Case({"a.jsonl": b"", "b.jsonl": b""}, WEIGHTED),
        "an empty file among others": Case({"a.jsonl": b"", "b.jsonl": named([PROSE]), "c.jsonl": b""}),
        "numbers as ids": Case(ones),
        "numbers as ids, one again": Case(ones | {"99.jsonl": lines({"id": 3, "text": "three again"})}),
        "numbers as ids, but one": Case(ones | {"99.jsonl": lines({"id": "x", "text": "no number"})}),
        "numbers as ids, one missing": Case(ones | {"99.jsonl": lines({"text": "no id"}, {"id": 7, "text": "again"})}),
        "ids that come again": Case({f"{i}.jsonl": named(["one", "two", f"three {i}"]) for i in range(3)}),
        "columns of other names": Case(
            {"a.csv": b"key,body\nk1,text one\nk2,text two\n"}, reading={"text": "body", "doc_id": "key"}
        ),
        "another encoding": Case({"a.txt": b"caf\xe9 " * 9, "b.tsv": b"x\tcaf\xe9\n"}, reading={"encoding": "latin-1"}),
        "documents": Case(
            {
                "in/a.eml": b"Subject: A\nFrom: a@b.org\n\nSome words of a mail.\n",
                "in/b.pdf": b"%PDF-1.4 damaged",
                "in/c.txt": b"\n",
                "in/d.html": b"<p>A page of words</p>",
                "in/e.zip": b"PK\x03\x04 damaged",
                "z.jsonl": named(["one", " "]) + b"{broken\n",
            }
        ),
        "pages": Case(dumps()),
        "pages, counted": Case(dumps(), WEIGHTED),
    }


def told_of(case: Case, folder: Path, name: str, engine: Engine = LOCAL, statistics: Path | None = None) -> Told:
    """What an engine makes of a case; it leaves the file of signatures, its exceptions if any, and nothing else."""
    out = folder / "out" / name
    out.parent.mkdir(exist_ok=True)
    before = set(out.parent.iterdir())
    listener = Listener()
    reading = ReadingRequest(inputs=case.written(folder / "in"), **case.reading)
    try:
        _, record = sign(
            reading,
            out,
            SigningOptions(**case.options),
            statistics=statistics,
            resources=Resources(2),
            progress=listener,
            engine=engine,
        )
    except NearkinError:
        assert set(out.parent.iterdir()) == before
        raise
    beside = exceptions_beside(out)
    exceptions = beside.read_bytes() if beside.exists() else None
    assert set(out.parent.iterdir()) - before == {out} if exceptions is None else {out, beside}
    summary = dict(record.as_stored())
    del summary["elapsed_s"]
    return Told(out.read_bytes(), exceptions, summary, listener.said)


def assert_same(found: Told, expected: Told) -> None:
    assert found.summary == expected.summary
    assert found.said == expected.said
    assert found.exceptions == expected.exceptions
    if found.content != expected.content:
        one, other = (pq.read_table(pa.BufferReader(told.content)) for told in (found, expected))
        assert one.to_pylist() == other.to_pylist()
        assert one.schema.metadata == other.schema.metadata
    assert found.content == expected.content


@pytest.fixture
def in_process(monkeypatch) -> None:
    """Tasks run in this process, many of them: files of a folder three by three, features in many ranges."""

    @contextlib.contextmanager
    def stages_on(*asked: object) -> Iterator[InProcess]:
        yield InProcess()

    monkeypatch.setattr(on_spark, "stages_on", stages_on)
    monkeypatch.setattr(inputs, "_FILES_AN_INPUT", 3)
    monkeypatch.setattr(on_spark, "_BYTES_A_TASK", 4_000)


@pytest.mark.parametrize("name", cases())
def test_tasks_sign_what_one_machine_signs(name, tmp_path, in_process):
    case = cases()[name]
    assert_same(told_of(case, tmp_path, "tasks", NO_CLUSTER), told_of(case, tmp_path, "local"))


@pytest.mark.parametrize("bits", [8, 32, 256])
@pytest.mark.parametrize("method", METHODS)
def test_every_method(method, bits, tmp_path, in_process):
    case = Case(records_in(3), {"method": method, "bits": bits})
    assert_same(told_of(case, tmp_path, "tasks", NO_CLUSTER), told_of(case, tmp_path, "local"))


def test_what_pages_were_left_out_is_said(tmp_path, in_process):
    said = told_of(cases()["pages"], tmp_path, "tasks", NO_CLUSTER).said
    assert [message.partition(":")[0].rpartition("/")[2] for message in said if "redirect" in message] == [
        "alswiki-pages-articles.xml", "dewiki-pages-articles.xml",
    ]  # fmt: skip


def statistics_in(folder: Path, **options: object) -> Path:
    """Of other documents, which have some of the features."""
    case = Case({"others.jsonl": named([PROSE[:200], "something else", "one short text"])}, WEIGHTED | options)
    options_of = SigningOptions(**case.options)
    others = ReadingRequest(inputs=case.written(folder / "others")).opened(Silent())
    path = folder / "given.stats"
    save(collect(others, options_of.features, options_of.normalise, threads=1, meter=Meter(Silent())), path)
    return path


def test_statistics_that_are_given(tmp_path, in_process):
    case, given = Case(records_in(3), WEIGHTED), statistics_in(tmp_path)
    found = told_of(case, tmp_path, "tasks", NO_CLUSTER, given)
    assert_same(found, told_of(case, tmp_path, "local", LOCAL, given))
    assert found.summary["statistics"]["fingerprint"] == Statistics.load(given).fingerprint
    with pytest.raises(FingerprintError, match="statistics are of features"):
        told_of(Case(records_in(1), WEIGHTED | {"features": Words(2)}), tmp_path, "others", NO_CLUSTER, given)


def test_batches_do_not_show(tmp_path, in_process, monkeypatch):
    """A worker may cut its input where another machine does not; pages of the file are cut anew."""
    case = Case({"a.jsonl": lines(*({"id": f"{i:060}", "text": "ab"} for i in range(50_000)))}, {"method": "topsig"})
    found = told_of(case, tmp_path, "whole", NO_CLUSTER)
    monkeypatch.setattr(inputs, "BATCH_BYTES", 100_000)
    assert_same(told_of(case, tmp_path, "tasks", NO_CLUSTER), found)
    assert_same(told_of(case, tmp_path, "local"), found)


some_texts = st.lists(st.text("ab cdé", max_size=12) | st.none(), max_size=12)


@settings(max_examples=examples(40))
@given(st.lists(some_texts, min_size=1, max_size=5), st.sampled_from(list(METHODS)), st.booleans())
def test_any_documents(tmp_path_factory, files, method, is_numbered):
    records = [[{"id": i if is_numbered else f"d{i}", "text": text} for i, text in enumerate(texts)] for texts in files]
    reading = NAMED | {"rules": ReadingRules(max_unreadable=1.0)}
    case = Case({f"{i}.jsonl": lines(*some) for i, some in enumerate(records)}, {"method": method, "bits": 16}, reading)
    folder = tmp_path_factory.mktemp("any")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(on_spark, "stages_on", lambda *asked: contextlib.nullcontext(InProcess()))
        patch.setattr(on_spark, "_BYTES_A_TASK", 20)
        found = told_or_refused(case, folder, "tasks", NO_CLUSTER)
    expected = told_or_refused(case, folder, "local")
    if isinstance(expected, str):
        assert found == expected
    else:
        assert_same(found, expected)


def told_or_refused(case: Case, folder: Path, name: str, *cluster: object) -> Told | str:
    """What is told, or why nothing is: none of the documents can be read."""
    try:
        return told_of(case, folder, name, *cluster)
    except SourceError as error:
        return str(error)


DAMAGED = several_formats()
UNREADABLE = {"a.jsonl": lines({"id": "a"}, {"id": "b", "text": "b"}), "b.jsonl": b"{\n{\n"}


@pytest.mark.parametrize("options", [{}, WEIGHTED], ids=["signed", "counted"])
@pytest.mark.parametrize(
    ("files", "error", "message"),
    [
        (DAMAGED, TruncatedInputError, r"f\.jsonl\.gz: the gzip stream is truncated, after 4 documents"),
        (UNREADABLE, DocumentError, "^3 of 4 documents are unreadable: 75%, more than the 50% of --max-unreadable"),
        ({"b.jsonl": b"{\n{\n"}, SourceError, "^All 2 documents are unreadable"),
    ],
    ids=["damaged", "most unreadable", "none readable"],
)
def test_what_is_refused_is_refused_by_both(files, error, message, options, tmp_path, in_process):
    case = Case(files, options, {} if files is DAMAGED else NAMED)
    for cluster in ((), (NO_CLUSTER,)):
        with pytest.raises(error, match=message):
            told_of(case, tmp_path, "tasks" if cluster else "local", *cluster)
        assert not list(tmp_path.glob("*.parquet"))


# -- what is refused, and what goes wrong -----------------------------------------------------------------------------

BAD = Case(
    {"a.jsonl": named(["fine"]), "b.jsonl": named(["fine"]) + b"{broken\n"},
    reading={"rules": ReadingRules(on_error="stop")},
)


@pytest.mark.parametrize("options", [{}, WEIGHTED])
def test_a_run_that_is_to_stop_at_bad_documents(options, tmp_path, in_process):
    case = Case(BAD.files, options, BAD.reading)
    with pytest.raises(DocumentError) as expected:
        told_of(case, tmp_path, "local")
    with pytest.raises(DocumentError) as found:
        told_of(case, tmp_path, "tasks", NO_CLUSTER)
    assert str(found.value) == str(expected.value)
    assert "b.jsonl:2: " in str(found.value)


def test_standard_input_is_refused_before_it_is_read(tmp_path):
    stdin = io.BytesIO(named([PROSE]))
    with pytest.raises(ParameterError, match="every worker reads the input, and standard input is a pipe"):
        sign(
            ReadingRequest(inputs=["-"], stdin=stdin),
            tmp_path / "out",
            SigningOptions(),
            resources=Resources(1),
            engine=NO_CLUSTER,
        )
    assert stdin.tell() == 0


def test_online_signatures_are_refused(tmp_path):
    with pytest.raises(ParameterError, match="online signs each document by all documents before it"):
        told_of(Case(records_in(1), WEIGHTED | {"online": True}), tmp_path, "out", NO_CLUSTER)


def test_a_file_that_changes_meanwhile(tmp_path, in_process, monkeypatch):
    path = tmp_path / "in/a.jsonl"

    def sign_then_change(*asked: object) -> object:
        signed = sign_all(*asked)
        path.write_bytes(named(["another"]))
        return signed

    sign_all = on_spark.sign_all
    monkeypatch.setattr(on_spark, "sign_all", sign_then_change)
    with pytest.raises(SourceError, match="changed while it was read"):
        told_of(Case({"a.jsonl": named(["one"])}), tmp_path, "tasks", NO_CLUSTER)


@pytest.mark.parametrize("how", ["gone", "cut", "other"])
def test_a_part_that_is_not_what_the_worker_wrote(how, tmp_path, in_process, monkeypatch):
    write = on_spark.SignedPart.write

    def write_and_spoil(part: on_spark.SignedPart, batches: Iterator[on_spark.SignedBatch]) -> int:
        n = write(part, batches)
        if how == "gone":
            part.path.unlink()
        elif how == "cut":
            part.path.write_bytes(part.path.read_bytes()[:100])
        else:
            write(part, iter(()))
        return n

    monkeypatch.setattr(on_spark.SignedPart, "write", write_and_spoil)
    with pytest.raises(EngineError, match=r"000000000-[0-9a-f]{16}\.arrow"):
        told_of(Case({"a.jsonl": named(["one"])}), tmp_path, "tasks", NO_CLUSTER)


# -- a real cluster ---------------------------------------------------------------------------------------------------


@pytest.mark.soak
@pytest.mark.parametrize("name", ["several formats", "a folder, counted", "no document", "pages, counted"])
def test_a_cluster_signs_what_one_machine_signs(name, tmp_path, spark, monkeypatch):
    monkeypatch.setattr(inputs, "_FILES_AN_INPUT", 3)
    case = cases()[name]
    assert_same(told_of(case, tmp_path, "spark", Cluster()), told_of(case, tmp_path, "local"))


def test_the_command(tmp_path, spark, monkeypatch):
    """Paths are seen from this directory, and workers run in others; features are counted there, too."""
    Case(records_in(2)).written(tmp_path)
    monkeypatch.chdir(tmp_path)
    summaries = []
    for engine in ("local", "spark"):
        ended = nearkin_here(
            "sign", "part-0.jsonl", "part-1.jsonl", "--method", "weighted-topsig", "--bits", "64",
            "--out", engine, "--engine", engine, "--json",
        )  # fmt: skip
        ended.assert_clean()
        assert ended.code == 0, ended.err
        summaries.append(json.loads(ended.out) | {"elapsed_s": 0})
    assert summaries[0] == summaries[1]
    assert Path("local").read_bytes() == Path("spark").read_bytes()
