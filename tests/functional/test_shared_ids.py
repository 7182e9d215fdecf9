"""Different documents of one load that get the same id: none takes the place of another."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from functional.conftest import FAST, nearkin_here, write_jsonl
from nearkin.collection.collection import Collection
from nearkin.collection.listing.problems import problems_of

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


@pytest.mark.parametrize("kind", KINDS)
def test_a_load_that_stops_at_bad_documents(tmp_path, kind):
    folder = tmp_path / "in"
    folder.mkdir()
    ended = nearkin_here("add", tmp_path / "matter", *kind(folder), "--on-error", "stop")
    assert (ended.code, ended.out) == (4, "")
    assert ": the id is also that of " in ended.err
    with Collection.open(tmp_path / "matter", create=True) as collection:
        assert collection.info().n_documents == 0


def test_equal_texts_are_not_listed(tmp_path):
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / "lease.txt").write_text(FAST)
    ended = nearkin_here("add", tmp_path / "matter", tmp_path / "a", tmp_path / "b", "--json")
    added = json.loads(ended.out)
    assert (added["n_new"], added["n_unchanged"], added["n_problems"]) == (1, 1, 0)


@pytest.mark.parametrize("wave", ["first", "third"])
@pytest.mark.parametrize("last", TEXTS)
def test_equal_texts_are_not_listed_if_a_later_wave_changed_the_document(tmp_path, place, wave, last):
    """With the name of their wave or another one; a third file with another text, also the current one, is listed."""
    folders = [tmp_path / name for name in "abc"]
    for folder, text in zip(folders, (TEXTS[0], TEXTS[0], last)):
        folder.mkdir()
        (folder / "lease.txt").write_text(text)
    later = tmp_path / "later"
    later.mkdir()
    (later / "lease.txt").write_text(TEXTS[1])

    def added(name: str, *inputs: Path) -> dict[str, int]:
        ended = nearkin_here("add", place.address, *inputs, "--cache", place.cache, "--wave", name, "--json")
        ended.assert_done()
        return json.loads(ended.out)

    assert added("first", *folders[:2])["n_problems"] == 0
    assert added("second", later)["n_new_versions"] == 1
    again = added(wave, *folders)
    n_problems, is_stored = int(last != TEXTS[0]), int(wave == "third")
    counts = (again["n_new"], again["n_new_versions"], again["n_unchanged"], again["n_problems"])
    assert counts == (0, is_stored, 3 - n_problems - is_stored, n_problems)
    with place.open() as collection:
        assert collection.text("lease.txt") == TEXTS[0 if is_stored else 1]
        with collection.opened.store.reading() as connection:
            problems = [one.problem for one in problems_of(connection)]
        assert [SHARED_NAMES[with_two_folders] in one for one in problems] == [True] * n_problems
        assert collection.fsck().is_whole


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


def two_folders(folder: Path, n: int = 2) -> list[Path]:
    """Make folders ``a``, ``b``, … with ``mail/1.txt`` of another text each, and ``mail/same.txt`` of one text."""
    folders = [folder / "abcdef"[number] for number in range(n)]
    for one, text in zip(folders, TEXTS):
        (one / "mail").mkdir(parents=True)
        (one / "mail" / "1.txt").write_text(text)
        (one / "mail" / "same.txt").write_text(FAST)
    return folders


def test_the_answer_says_why_and_what_to_do(tmp_path, monkeypatch):
    two_folders(tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    said = (
        "1 document was not stored, because its id was already used in this load (not stored: b/mail/1.txt of the "
        "folder data). To store every file under its own id, add the folder above all of them to a new collection: "
        "nearkin add NEW data\n"
    )
    inputs = "data/a", "data/b"
    assert nearkin_here("add", "matter", *inputs).out.endswith(said)
    found = (
        "Warning: 4 found: 3 with text, 1 not stored (for the same reason as in an earlier load). For the reasons: "
        "nearkin exceptions matter\n"
    )
    for silent, before in (("--quiet", found), ("--json", "")):
        ended = nearkin_here("add", "matter", *inputs, silent)
        assert (ended.code, ended.err) == (0, f"{before}Warning: {said}")
    added = json.loads(ended.out)
    assert (added["n_shared_ids"], added["first_shared_id"], added["folder_above"]) == (1, "b/mail/1.txt", "data")
    assert nearkin_here("add", "new", "data", "--quiet").err == ""
    with Collection.open(tmp_path / "new") as collection:
        assert [collection.text(f"{name}/mail/1.txt") for name in "ab"] == TEXTS[:2]


def test_each_file_of_a_shared_name_is_listed_with_its_folder_and_digest(tmp_path, place, monkeypatch):
    folders = two_folders(tmp_path / "data", 3)
    for directory, inputs in ((tmp_path, folders), (tmp_path / "data", ["a", "b", "c"])):  # named in another way
        monkeypatch.chdir(directory)
        nearkin_here("add", place.address, *inputs, "--wave", "w", "--cache", place.cache, "-q").assert_done()
    listed = json.loads(nearkin_here("exceptions", place.address, "--json").out)["exceptions"]
    texts = [(one / "mail" / "1.txt").read_bytes() for one in folders[1:]]
    assert [(one["doc_id"], one["kind"], one["sha256"], one["size_bytes"]) for one in listed] == [
        (f"mail/1.txt ({name}/mail/1.txt:1)", "text", hashlib.sha256(text).hexdigest(), len(text))
        for name, text in zip("bc", texts)
    ]
    with place.open() as collection:
        assert collection.fsck().is_whole
        assert collection.remove([listed[0]["doc_id"]]).n_unread == 1
        assert [one.doc_id for one in collection.exceptions().exceptions] == [listed[1]["doc_id"]]
        assert collection.document("mail/1.txt").version == 1


BROKEN = {"1.pdf": b"%PDF-1.4 cut", "2.txt": b"\x00\x01\x02\x03\x04\x05\xff\xfe\x80\x81"}


def listed_ids(place) -> list[str]:
    found = json.loads(nearkin_here("exceptions", place.address, "--json").out)
    assert found["n_no_text"] + found["n_partial"] + found["n_not_stored"] == len(found["exceptions"])
    return [one["doc_id"] for one in found["exceptions"]]


def test_files_of_a_shared_name_that_fail_are_listed_each(tmp_path, place):
    """Whether the other one fails or is stored; each is no longer listed once it gives a text."""
    folders = two_folders(tmp_path / "data")
    for one in folders:
        for name, content in BROKEN.items():
            (one / name).write_bytes(content + one.name.encode())
    (folders[0] / "3.txt").write_bytes(BROKEN["2.txt"])
    (folders[1] / "3.txt").write_text(TEXTS[3])
    (folders[0] / "4.pdf").write_bytes(b"%PDF-1.4 cut")
    (folders[1] / "4.pdf").write_text(TEXTS[3])
    for number in range(5, 20):  # most documents can be read
        (folders[0] / f"{number}.txt").write_text(f"{FAST} {number}")
    also = "--wave", "w", "--cache", place.cache
    for _ in range(2):
        ended = nearkin_here("add", place.address, *folders, *also)
        expected = [f"{name} ({folder}/{name}:1)" for name in BROKEN for folder in "ab"]
        expected += [f"{name} (a/{name}:1)" for name in ("3.txt", "4.pdf")]
        assert listed_ids(place) == [*sorted(expected), "mail/1.txt (b/mail/1.txt:1)"]
        assert "7 not stored" in ended.out
    for name in BROKEN:
        (folders[1] / name).write_text(TEXTS[2])
    nearkin_here("add", place.address, *folders, *also).assert_done()
    mended = {f"{name} (b/{name}:1)" for name in BROKEN}
    assert listed_ids(place) == [*sorted(set(expected) - mended), "mail/1.txt (b/mail/1.txt:1)"]
    with place.open() as collection:
        assert collection.fsck().is_whole


def test_a_wave_says_what_an_earlier_load_listed(tmp_path, place):
    """The second wave has one of three files again, another in other bytes, and a new one."""
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
        for number in range(9):  # most documents can be read
            (folder / f"{number}.txt").write_text(f"{FAST} {number}")
        (folder / "old.txt").write_bytes(BROKEN["2.txt"])
        (folder / "changed.pdf").write_bytes(BROKEN["1.pdf"] + folder.name.encode())
    (second / "new.txt").write_bytes(BROKEN["2.txt"])
    for folder, counts in (
        (first, "2 not stored. For"),
        (second, "3 not stored (1 of them for the same reason as in an earlier load). For"),
    ):
        ended = nearkin_here("add", place.address, folder, "--wave", folder.name, "--cache", place.cache)
        assert counts in ended.out
    waves = {one.doc_id: one.wave for one in place_exceptions(place)}
    assert waves == {"old.txt": "first", "changed.pdf": "second", "new.txt": "second"}
    ended = nearkin_here("add", place.address, second, "--cache", place.cache, "--json")
    assert json.loads(ended.out)["n_listed_before"] == 3


def place_exceptions(place):
    with place.open() as collection:
        return collection.exceptions().exceptions


def test_documents_that_were_read_are_not_counted_as_without_text(tmp_path, place):
    """A file without a text, and two of shared names, of which one is blank."""
    folders = two_folders(tmp_path / "data")
    for number in range(9):
        (folders[0] / f"{number}.txt").write_text(f"{FAST} {number}")
    (folders[0] / "broken.pdf").write_bytes(BROKEN["1.pdf"])
    (folders[1] / "blank.txt").write_text(" ")
    (folders[0] / "blank.txt").write_text(FAST)
    ended = nearkin_here("add", place.address, *folders, "--wave", "w", "--cache", place.cache)
    assert "16 found: 13 with text, 3 not stored. " in ended.out  # no empty document
    ended = nearkin_here("exceptions", place.address)
    assert ended.out.endswith("3 exceptions (1 without text, 2 not stored because of their id or size)\n")
    assert "no text  partial  not stored  reason      wave" in ended.out
    found = json.loads(nearkin_here("exceptions", place.address, "--json").out)
    assert (found["n_no_text"], found["n_partial"], found["n_not_stored"]) == (1, 0, 2)
    assert [(one["exception"], one["n_no_text"], one["n_not_stored"]) for one in found["counts"]] == [
        ("not stored", 0, 2),
        ("corrupt", 1, 0),
    ]
    said = "3 exceptions (1 without text, 2 not stored because of their id or size)"
    assert said in nearkin_here("info", place.address).out
    without = json.loads(nearkin_here("exceptions", place.address, "--no-text", "--json").out)["exceptions"]
    assert [one["doc_id"] for one in without] == ["broken.pdf"]


def test_equal_files_of_a_shared_name_are_repeated_not_unchanged(tmp_path, place):
    folders = two_folders(tmp_path / "data", 3)
    expected = ("w: 4 documents, 2 new, 0 changed, 0 unchanged", "w: 4 documents, 0 new, 0 changed, 2 unchanged")
    for counts in expected:
        ended = nearkin_here("add", place.address, *folders, "--wave", "w", "--cache", place.cache)
        assert ended.out.startswith(f"{counts}, 2 repeated in this load (same id and same text); ")
    added = json.loads(nearkin_here("add", place.address, *folders, "--cache", place.cache, "--json").out)
    assert (added["n_unchanged"], added["n_same_again"]) == (4, 2)


def test_repeated_rows_that_were_changed_later_are_repeated(tmp_path, place):
    first, later = tmp_path / "first.csv", tmp_path / "later.csv"
    first.write_text(f"id,text\na,{FAST}\nb,Another text\na,{FAST}\n")
    later.write_text(f"id,text\na,{FAST} Once more.\n")
    assert ", 1 repeated in this load" in nearkin_here("add", place.address, first, "--wave", "w").out
    assert ", 1 changed" in nearkin_here("add", place.address, later, "--wave", "later").out
    again = nearkin_here("add", place.address, first, "--wave", "w").out
    assert again.startswith("w: 3 documents, 0 new, 0 changed, 2 unchanged, 1 repeated in this load")
    first.write_text(f"id,text\nc,{FAST} One.\nc,{FAST} Two.\n")
    nearkin_here("add", place.address, first, "--wave", "w")
    again = nearkin_here("add", place.address, first, "--wave", "w").out
    assert again.startswith("w: 2 documents, 0 new, 0 changed, 2 unchanged; ")  # the texts differ


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


@pytest.mark.parametrize("suffix", ROWS)
@pytest.mark.parametrize("doc_id", [rb"D:\xfer", BYTE])
@pytest.mark.parametrize("n_more", [0, 300])
def test_an_id_that_repeats_in_one_form_is_a_version(tmp_path, suffix, doc_id, n_more):
    """Whether it has a byte that is not UTF-8, or the characters of an escape; also beside another such id."""
    rows = [doc_id, b"other\xe8", doc_id]
    inputs = [
        written(tmp_path / f"{name}.{suffix}", rows, n_more, texts) for name, texts in zip("ab", (TEXTS, TEXTS[1:]))
    ]
    added = json.loads(nearkin_here("add", tmp_path / "matter", *inputs, "--json").out)
    assert (added["n_new"], added["n_problems"]) == (n_more + 2, 0)
    with Collection.open(tmp_path / "matter") as collection:
        shown = doc_id.decode("utf-8", "backslashreplace")
        assert (collection.document(shown).version, collection.text(shown)) == (4, TEXTS[3].replace(",", ""))


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_bytes_in_memory_and_in_a_table(tmp_path, order):
    doc_ids = [(BYTE, rb"caf\xe9")[one] for one in order]
    pairs = [(one if one == BYTE else one.decode(), text) for one, text in zip(doc_ids, TEXTS)]
    table = pa.table({"id": pa.array(doc_ids, pa.binary()), "text": TEXTS[:2]})
    pq.write_table(table, tmp_path / "f.parquet")
    for name, documents in (("pairs", pairs), ("table", table), ("file", None)):
        with Collection.open(tmp_path / name, create=True) as collection:
            if documents is None:
                nearkin_here("add", tmp_path / name, tmp_path / "f.parquet", "-q")
            else:
                assert collection.add(documents).n_problems == 1
            assert (collection.info().n_versions, collection.text("caf\\xe9")) == (1, TEXTS[0])


def test_rows_that_come_after_both_forms_are_listed(tmp_path):
    """Until the end of the load nobody knows which of the two a row repeats."""
    doc_ids = [[rb"caf\xe9"], [BYTE], [BYTE], [rb"caf\xe9"]]
    inputs = [written(tmp_path / f"{i}.csv", one, 9, TEXTS[i:]) for i, one in enumerate(doc_ids)]
    added = json.loads(nearkin_here("add", tmp_path / "matter", *inputs, "--json").out)
    assert (added["n_new"], added["n_new_versions"], added["n_problems"]) == (10, 0, 3)


@pytest.mark.parametrize("suffix", ROWS)
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@pytest.mark.parametrize("n_files", [1, 2])
def test_different_bytes_that_are_written_alike_are_listed(tmp_path, suffix, order, n_files):
    r"""One byte and four characters each: both ids are written ``\xff\xff``."""
    doc_ids = [(b"\xff\\xff", b"\\xff\xff")[one] for one in order]
    if n_files == 1:
        inputs = [written(tmp_path / f"f.{suffix}", doc_ids)]
    else:
        inputs = [written(tmp_path / f"{i}.{suffix}", [one], 0, TEXTS[i:]) for i, one in enumerate(doc_ids)]
    added = json.loads(nearkin_here("add", tmp_path / "matter", *inputs, "--json").out)
    assert (added["n_new"], added["n_new_versions"], added["n_shared_ids"]) == (1, 0, 1)


@pytest.mark.parametrize("suffix", ROWS)
@pytest.mark.parametrize("other", [rb"caf\xe9", b"caf\xe9"])
@pytest.mark.parametrize("options", [(), ("--write-kept",)])
def test_documents_of_a_run_keep_the_form_of_their_ids(tmp_path, suffix, other, options):
    """A run tells rows of one id apart by their names; only rows with the same bytes become versions."""
    texts = [" ".join(f"{word}{i}" for i in range(30)) for word in ("alpha", "beta", "gamma")]
    source = written(tmp_path / f"f.{suffix}", [b"first", BYTE, other], 0, texts)
    nearkin_here("dedup", source, "--out", tmp_path / "out", "-q", *options).assert_done()
    added = json.loads(nearkin_here("add", tmp_path / "matter", tmp_path / "out", "--json").out)
    assert (added["n_new"], added["n_shared_ids"] + added["n_new_versions"]) == (2, 1)
    assert added["n_new_versions"] == (other == BYTE)


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


@pytest.mark.parametrize("name", [b"\xff.txt", rb"\xff.txt", rb"\xfe" + b"\xff.txt"])
def test_a_run_on_one_such_file(tmp_path, name):
    """The name of a lone file is written as before."""
    folder = tmp_path / "in"
    folder.mkdir()
    Path(folder, os.fsdecode(name)).write_text(TEXTS[0])
    (folder / "b.txt").write_text(TEXTS[1])
    nearkin_here("dedup", folder, "--out", tmp_path / "out", "-q").assert_done()
    found = pq.read_table(tmp_path / "out/documents.parquet")
    assert sorted(found["source"].to_pylist()) == sorted({name.decode("utf-8", "backslashreplace"), "b.txt"})
    nearkin_here("audit", tmp_path / "out").assert_done()
