"""What a run says of input and options it cannot use: a clear message, a code that means something, no half results."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from functional.conftest import FAST, Ended, nearkin_here, write_jsonl
from nearkin.stages.verification.measures import MEASURE_NAMES

TWINS = [{"id": "a", "text": FAST}, {"id": "b", "text": FAST + " again"}]


def dedup(path: Path | str, tmp_path: Path, *options: str | Path) -> Ended:
    return nearkin_here("dedup", path, "--out", tmp_path / "out", "--no-report", "-q", *options)


def verdicts(tmp_path: Path) -> dict[str, str]:
    table = pq.read_table(tmp_path / "out/documents.parquet")
    return dict(zip(table["name"].to_pylist(), table["reason"].to_pylist(), strict=True))


def counts(tmp_path: Path) -> dict[str, int]:
    return json.loads((tmp_path / "out/manifest.json").read_text())["counts"]


def assert_refused(ended: Ended, code: int, *words: str) -> None:
    """One line that says it all, on standard error."""
    ended.assert_clean()
    assert ended.code == code, ended.err
    assert ended.out == ""
    lines = [line for line in ended.err.splitlines() if line.startswith("Error:")]
    assert len(lines) == 1
    for word in words:
        assert word in lines[0]


# -- single documents -------------------------------------------------------------------------------------------------

BAD_LINES = {
    "broken JSON": (b'{"id": "x", "text": "cut of', "damaged: not valid JSON"),
    "invalid UTF-8": (b'{"id": "x", "text": "caf\xe9 au lait"}', "UTF-8"),
    "too deep": (b"[" * 100_000, "nested too deeply"),
}
"""Some kinds; all are in the tests of the reader."""


def write_with(tmp_path: Path, line: bytes) -> Path:
    """Two documents alike, a bad line between them."""
    good = [json.dumps(record).encode() for record in TWINS]
    path = tmp_path / "in.jsonl"
    path.write_bytes(b"\n".join([good[0], line, good[1]]) + b"\n")
    return path


@pytest.mark.parametrize("kind", BAD_LINES)
def test_a_bad_line_is_counted_and_the_others_are_right_or_stops_the_run(tmp_path, kind):
    line, words = BAD_LINES[kind]
    path = write_with(tmp_path, line)
    assert_refused(dedup(path, tmp_path, "--on-error", "stop"), 4, f"{path}:2", words, "--on-error stop")
    assert not (tmp_path / "out/manifest.json").exists()
    ended = dedup(path, tmp_path, "--on-error", "skip")
    ended.assert_clean()
    assert ended.code == 0
    found = pq.read_table(tmp_path / "out/documents.parquet").to_pylist()
    assert [row["reason"] for row in found] == ["near-duplicate", "unreadable", "unique"]
    assert found[0]["group"] == "b"
    bad = found[1]
    assert words in bad["problem"]
    assert (bad["line"], bad["keep"], bad["group"], bad["is_principal"]) == (2, False, None, False)
    assert counts(tmp_path)["unreadable"] == 1
    (problem,) = pq.read_table(tmp_path / "out/problems.parquet").to_pylist()
    assert (problem["line"], problem["problem"]) == (2, bad["problem"])
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    assert sum(manifest["problems"].values()) == 1


def test_files_without_text_among_texts(tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a.txt").write_text(FAST)
    for name in ("b.pdf", "c.pdf"):
        (folder / name).write_bytes(b"%PDF-1.7 and so on")
    refused = dedup(folder, tmp_path)
    assert_refused(refused, 4, "Unreadable: 2 of 3 documents, 66.67%", "b.pdf:1: damaged", "--max-unreadable")
    assert dedup(folder, tmp_path, "--max-unreadable", "67%").code == 0
    assert verdicts(tmp_path)["b.pdf"] == "unreadable"
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    assert list(manifest["problems"].values()) == [2]
    assert manifest["extraction"]["exceptions"] == {"damaged": 2}
    assert_refused(dedup(folder / "b.pdf", tmp_path, "--overwrite"), 3, "b.pdf", "No document of 1 is readable")


# -- files and columns ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "words"), [("gone", "No such file"), ("link", "link"), ("loop", "loop"), ("*.csv", "no file matches"),
                        ("folder", "no files")],
)  # fmt: skip
def test_what_is_not_there(tmp_path, name, words):
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "folder").mkdir()
    assert_refused(dedup(tmp_path / name, tmp_path), 3, words)


def test_an_empty_file_is_no_documents(tmp_path):
    (tmp_path / "in.jsonl").write_bytes(b"")
    assert dedup(tmp_path / "in.jsonl", tmp_path).code == 0
    assert counts(tmp_path)["documents"] == 0
    for name in ("documents", "pairs", "groups"):
        assert len(pq.read_table(tmp_path / f"out/{name}.parquet")) == 0
    again = nearkin_here("regroup", tmp_path / "out", "--threshold", "0.9", "-q", "--no-report")
    assert (again.code, again.err) == (0, "")


def test_a_compressed_file_that_is_none(tmp_path):
    for name in ("in.jsonl.gz", "in.jsonl.zst"):
        (tmp_path / name).write_bytes(b"this is not compressed at all")
        ended = dedup(tmp_path / name, tmp_path)
        ended.assert_clean()
        assert ended.code == 3
        assert name in ended.err


def test_nul_and_other_controls(tmp_path):
    texts = ["a\x00b c d e f", "a\x00b c d e f", "\x00", "\x1b[31m", "\u202eabc"]
    path = write_jsonl(tmp_path / "in.jsonl", [{"id": f"{i}\x00\x1b[31m", "text": t} for i, t in enumerate(texts)])
    ended = nearkin_here("dedup", path, "--out", tmp_path / "out", "--no-report")
    ended.assert_clean()
    assert ended.code == 0
    assert "\x1b[31m" not in ended.out + ended.err
    assert counts(tmp_path)["exact_copy"] == 1


# -- options ----------------------------------------------------------------------------------------------------------

WRONG_OPTIONS = [
    (["--threshold", "1.5"], "and <= 1. Got: 1.5"),
    (["--threshold", "80"], "80 percent is 0.8"),
    (["--threshold", "0.0001", "--recall", "0.9999"], "recall"),
    (["--shingle", "words:65"], "1 to 64"),
    (["--measure", "cosine"], MEASURE_NAMES),
    (["--memory", "1KB"], "--memory: must be at least 256MiB. Got: '1KB'"),
    (["--resume", "--overwrite"], "excludes 'overwrite'"),
    (["--encoding", "klingon"], "klingon"),
]


@pytest.mark.parametrize(("options", "words"), WRONG_OPTIONS, ids=lambda value: " ".join(value))
def test_options_that_break_their_rule(tmp_path, options, words):
    path = write_jsonl(tmp_path / "in.jsonl", TWINS)
    ended = dedup(path, tmp_path, *options)
    assert_refused(ended, 2, words)
    assert any(option in ended.err for option in options)  # the option that was typed, not the parameter of the library
    assert "parameter" not in ended.err
    assert not (tmp_path / "out/manifest.json").exists()
    assert not list(tmp_path.glob("out/*"))


def test_as_json_the_error_is_an_object(tmp_path):
    for arguments, code, kind in (
        ([tmp_path / "nothing", "--out", tmp_path / "o"], 3, "SourceError"),
        ([tmp_path, "--out", tmp_path / "o", "--threshold", "7"], 2, "ParameterError"),
    ):
        ended = nearkin_here("dedup", *arguments, "--json")
        error = json.loads(ended.err)
        assert ended.out == ""
        assert (ended.code, error["exit_code"], error["error"]) == (code, code, kind)
        assert error["message"]


# -- where results go -------------------------------------------------------------------------------------------------


def test_out_among_the_input_is_no_input_the_next_time(tmp_path):
    """``nearkin dedup folder --out folder/clean`` twice: what the first run wrote is not read by the second."""
    folder = tmp_path / "folder"
    folder.mkdir()
    for record in TWINS:
        (folder / f"{record['id']}.txt").write_text(str(record["text"]))
    arguments = ["dedup", folder, "--out", folder / "clean", "--no-report", "--json"]
    first = json.loads(nearkin_here(*arguments).out)
    second = json.loads(nearkin_here(*arguments, "--overwrite").out)
    assert first["counts"]["documents"] == second["counts"]["documents"] == 2


def test_a_name_forges_no_line(tmp_path):
    ended = nearkin_here("dedup", tmp_path / "a\nDone: all kept.jsonl", "--out", tmp_path / "out", "-q")
    assert ended.code == 3
    assert ended.err.splitlines() == [ended.err.strip()]
    assert "a⟨U+000A⟩Done" in ended.err
