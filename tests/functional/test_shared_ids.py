"""Different documents of one load that get the same id: none takes the place of another."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from functional.conftest import FAST, nearkin_here, write_jsonl
from nearkin.collection.collection import Collection
from nearkin.collection.listing.exceptions import problems_of

TEXTS = [f"{FAST}, {word}" for word in ("alpha", "beta", "gamma", "delta")]


def with_a_member(folder: Path) -> list[str | Path]:
    with zipfile.ZipFile(folder / "a.zip", "w") as archive:
        archive.writestr("x.txt", TEXTS[0])
    (folder / "a.zip!x.txt").write_text(TEXTS[1])
    return [folder]


def with_bytes(folder: Path) -> list[str | Path]:
    Path(f"{folder}/\udcff.txt").write_text(TEXTS[0])
    (folder / "\\xff.txt").write_text(TEXTS[1])
    return [folder]


def with_two_folders(folder: Path) -> list[str | Path]:
    for name, text in zip("ab", TEXTS):
        (folder / name).mkdir()
        (folder / name / "lease.txt").write_text(text)
    return [folder / "a", folder / "b"]


def with_places_last(folder: Path) -> list[str | Path]:
    return [write_jsonl(folder / "f.jsonl", [{"id": f"{folder}/f.jsonl:2", "text": TEXTS[0]}, {"text": TEXTS[1]}])]


def with_places_first(folder: Path) -> list[str | Path]:
    return [write_jsonl(folder / "f.jsonl", [{"text": TEXTS[0]}, {"id": f"{folder}/f.jsonl:1", "text": TEXTS[1]}])]


def with_surrogates(folder: Path) -> list[str | Path]:
    lines = [json.dumps({"id": doc_id, "text": text}) for doc_id, text in zip(("a\ud800", "a\\ud800"), TEXTS)]
    (folder / "f.jsonl").write_text("\n".join(lines))
    return [folder / "f.jsonl"]


KINDS = [with_a_member, with_bytes, with_two_folders, with_places_last, with_places_first, with_surrogates]
SHARED_NAMES = {
    with_two_folders: "a/lease.txt, which has another text: in both folders the file has the name lease.txt",
    with_bytes: "another file, which has another text: the two names differ only in bytes that are not valid UTF-8, "
    "and both are written as \\xff.txt",
}
PLACES = {with_two_folders: "b/lease.txt:1)", with_bytes: "\\xff.txt:1)"}


@pytest.mark.parametrize("kind", KINDS)
def test_the_second_is_listed_and_not_stored(tmp_path, place, kind):
    folder, also = tmp_path / "in", ("--cache", place.cache)
    folder.mkdir()
    inputs = kind(folder)
    for n_new in (1, 0):  # the same command again stores nothing
        ended = nearkin_here("add", place.address, *inputs, *also, "--json", "--wave", "w")
        ended.assert_done()
        added = json.loads(ended.out)
        counts = (added["n_new"], added["n_new_versions"], added["n_unchanged"], added["n_problems"])
        assert counts == (n_new, 0, 1 - n_new, 1)
        assert (added["n_no_text"], added["n_not_stored"], added["n_repeated"]) == (0, 1, 0)
        with place.open() as collection:
            info = collection.info()
            assert (info.n_documents, info.n_versions) == (1, 1)
            with collection.opened.store.reading() as connection:
                (problem,) = problems_of(connection)
            assert problem.problem.startswith("the id is also that of ")
            doc_id, _, where = problem.doc_id.partition(" (")
            stored = collection.document(doc_id)
            other = f"{stored.source}:{stored.line}"
            said = f"the id is also that of {SHARED_NAMES.get(kind, other)}"
            assert (problem.problem, where) == (said, PLACES.get(kind, ""))
            assert {collection.text(doc_id)} < set(TEXTS[:2])
            assert collection.fsck().is_whole
    listed = json.loads(nearkin_here("exceptions", place.address, "--json").out)["exceptions"]
    assert [(one["exception"], one["sentence"]) for one in listed] == [("not stored", problem.problem)]


def test_equal_texts_are_not_listed(tmp_path):
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / "lease.txt").write_text(FAST)
    ended = nearkin_here("add", tmp_path / "matter", tmp_path / "a", tmp_path / "b", "--json")
    added = json.loads(ended.out)
    assert (added["n_new"], added["n_unchanged"], added["n_problems"]) == (1, 1, 0)


def test_given_ids_that_repeat_are_versions(tmp_path):
    """In one file and in several, as before."""
    records = [{"id": "a", "text": text} for text in TEXTS]
    inputs = write_jsonl(tmp_path / "f.jsonl", records[:2]), write_jsonl(tmp_path / "g.jsonl", records[2:])
    added = json.loads(nearkin_here("add", tmp_path / "matter", *inputs, "--json").out)
    assert (added["n_new"], added["n_new_versions"], added["n_repeated"], added["n_problems"]) == (1, 3, 3, 0)
    with Collection.open(tmp_path / "matter") as collection:
        assert collection.text("a") == TEXTS[-1]


def test_a_changed_file_is_a_version(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    for text in TEXTS[:2]:
        (folder / "lease.txt").write_text(text)
        nearkin_here("add", tmp_path / "matter", folder, "-q").assert_done()
    with Collection.open(tmp_path / "matter") as collection:
        assert (collection.document("lease.txt").version, collection.text("lease.txt")) == (2, TEXTS[1])


# -- ids with a byte that is not UTF-8 --------------------------------------------------------------------------------

ROWS = {"csv": "%s,%s\n", "jsonl": '{"id": "%s", "text": "%s"}\n', "tsv": "%s\t%s\n"}
BYTE = b"caf\xe9"


def written(path: Path, doc_ids: list[bytes], n_more: int = 0, texts: list[str] = TEXTS) -> Path:
    """Write rows with these ids behind ``n_more`` others."""
    row, is_json = ROWS[path.suffix[1:]], path.suffix == ".jsonl"
    escaped = [one.replace(b"\\", rb"\\") if is_json else one for one in doc_ids]
    rows = [
        row.encode().replace(b"%s", b"%b") % (one, text.replace(",", "").encode()) for one, text in zip(escaped, texts)
    ]
    more = [(row % (f"x{number}", f"another text {number}")).encode() for number in range(n_more)]
    header = b"id,text\n" if path.suffix == ".csv" else b""
    path.write_bytes(b"".join([header, *more, *rows]))
    return path


@pytest.mark.parametrize("suffix", ROWS)
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@pytest.mark.parametrize(("n_files", "n_more"), [(1, 0), (1, 300), (2, 0)])
def test_a_byte_beside_its_escape_is_listed_and_not_stored(tmp_path, suffix, order, n_more, n_files):
    """In one file and in two, read row by row or by Arrow; the deduplication has both as documents."""
    doc_ids = [(BYTE, rb"caf\xe9")[one] for one in order]
    if n_files == 1:
        inputs = [written(tmp_path / f"f.{suffix}", doc_ids, n_more)]
    else:
        inputs = [written(tmp_path / f"{i}.{suffix}", [one], n_more * i, TEXTS[i:]) for i, one in enumerate(doc_ids)]
    added = json.loads(nearkin_here("add", tmp_path / "matter", *inputs, "--json").out)
    counts = (added["n_new"], added["n_new_versions"], added["n_problems"], added["n_shared_ids"])
    assert counts == (n_more + 1, 0, 1, 1)
    with Collection.open(tmp_path / "matter") as collection:
        assert collection.text("caf\\xe9") == TEXTS[0].replace(",", "")
        (problem,) = collection.exceptions().exceptions
        assert (problem.doc_id, problem.sentence.startswith("the id is also that of ")) == ("caf\\xe9", True)
    nearkin_here("dedup", *inputs, "--out", tmp_path / "out", "-q").assert_done()
    found = pq.read_table(tmp_path / "out/documents.parquet").to_pylist()
    assert sum(one["id"] == "caf\\xe9" for one in found) == 2
    assert len({one["name"] for one in found}) == len(found) == n_more + 2


@pytest.mark.parametrize(
    ("doc_ids", "refused"),
    [
        ((BYTE, rb"caf\xe9", BYTE), [1]),
        ((rb"caf\xe9", BYTE, rb"caf\xe9"), [1]),
        ((b"\xff\\xff", b"\\xff\xff", b"\xff\xff"), [1, 2]),
        ((BYTE, BYTE, b"other\xe9"), []),
    ],
)
def test_a_stream_refuses_an_id_of_other_bytes_that_is_written_alike(tmp_path, doc_ids, refused):
    file = written(tmp_path / "f.jsonl", doc_ids, 0, TEXTS)
    done = nearkin_here("check", tmp_path / "matter", file, "--jsonl", "--store", "-q")
    answers = [json.loads(line) for line in done.out.splitlines()]
    assert [i for i, one in enumerate(answers) if "error" in one] == refused
    assert all(one["error"].startswith("the id is also that of an earlier line") for one in answers if "error" in one)
    with Collection.open(tmp_path / "matter") as collection:
        assert collection.info().n_versions == 3 - len(refused)


# -- names with a byte that is not UTF-8 ------------------------------------------------------------------------------


def sources_of(directory: Path) -> set[str]:
    return {os.path.normpath(one) for one in pq.read_table(directory / "documents.parquet")["source"].to_pylist()}


@pytest.mark.parametrize("names", [(b"\xff.txt", rb"\xff.txt"), (b"\xff.csv", rb"\xff.csv")])
@pytest.mark.parametrize("is_inside", [False, True])
def test_a_run_on_files_of_one_printed_name(tmp_path, monkeypatch, names, is_inside):
    """Each has a source of its own, and the run can be audited, regrouped and used as input."""
    folder = tmp_path / "in"
    folder.mkdir()
    suffix, is_table = names[0][1:].decode(), names[0].endswith(b"csv")
    for name, text in zip(names, TEXTS):
        content = f'text\n"{text}"\n' if is_table else text
        Path(folder, os.fsdecode(name)).write_text(content)
    monkeypatch.chdir(folder if is_inside else tmp_path)
    inputs = [os.path.join("" if is_inside else "in", os.fsdecode(name)) for name in names]
    out = tmp_path / "out"
    nearkin_here("dedup", *(inputs if is_table else ["." if is_inside else "in"]), "--out", out, "-q").assert_done()
    manifest = json.loads((out / "manifest.json").read_text())
    paths = {os.path.normpath(one["path"]) for one in manifest["inputs"]}
    assert {os.path.basename(one) for one in paths} == {rf"\xff{suffix}", rf"\x5cxff{suffix}"}
    assert sources_of(out) == paths
    nearkin_here("audit", out).assert_done()
    nearkin_here("regroup", out, "--threshold", "0.9", "--out", tmp_path / "again", "-q").assert_done()
    assert sources_of(tmp_path / "again") == paths
    nearkin_here("audit", tmp_path / "again").assert_done()
    nearkin_here("dedup", out, "--out", tmp_path / "more", "-q").assert_done()
