"""Files that end before their end, and input of which most is unreadable: in every command that reads documents."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from functional.conftest import Ended, nearkin_done, nearkin_here, nearkin_json, write_jsonl
from made_up_prose import Prose
from nearkin.formats import zstd

PROSE = Prose(4)
RECORDS = [{"id": f"d{i}", "text": PROSE.text(60)} for i in range(120)]
LINES = "".join(json.dumps(record) + "\n" for record in RECORDS).encode()
BAD_LINE = b"{broken\n"


def noisy(n: int) -> bytes:
    """Lines that no compression makes short: half of the file is about half of the lines."""
    chance = random.Random(5)
    return b"".join(
        json.dumps({"id": f"d{i}", "text": " ".join(chance.randbytes(4).hex() for _ in range(30))}).encode() + b"\n"
        for i in range(n)
    )


@pytest.fixture
def cut(tmp_path: Path) -> Path:
    path = tmp_path / "cut.jsonl.gz"
    path.write_bytes(cut_in_half(gzip.compress(LINES)))
    return path


@pytest.fixture
def mostly_bad(tmp_path: Path) -> Path:
    path = tmp_path / "bad.jsonl"
    path.write_bytes(LINES[: LINES.index(b"\n") + 1] * 1 + BAD_LINE * 3 + json.dumps(RECORDS[1]).encode() + b"\n")
    return path


def assert_refused(ended: Ended, code: int, *words: str) -> None:
    ended.assert_clean()
    assert (ended.code, ended.out) == (code, ""), ended.err
    for word in words:
        assert word in ended.err


# Each command that reads documents, as its arguments: the input, and a folder for what it writes.
COMMANDS: dict[str, Callable[[Path, Path], list[object]]] = {
    "dedup": lambda path, out: ["dedup", path, "--out", out / "o", "--no-report", "-q"],
    "dedup --against": lambda path, out: [
        "dedup", write_jsonl(out / "fine.jsonl", RECORDS), "--against", path, "--out", out / "o", "--no-report", "-q"
    ],
    "sign": lambda path, out: ["sign", path, "--out", out / "o.parquet", "-q"],
    "add": lambda path, out: ["add", out / "collection", path, "-q"],
    "pairs": lambda path, out: [
        "pairs", "--left", write_jsonl(out / "fine.jsonl", RECORDS), "--right", path, "--out", out / "o", "-q",
        "--no-report",
    ],
    "plan": lambda path, out: ["plan", "corpus", path, "--json"],
}  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_a_truncated_file_ends_every_command(command: str, cut: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    ended = nearkin_here(*COMMANDS[command](cut, out))  # type: ignore[arg-type]
    assert_refused(ended, 13, f"{cut}: the gzip stream is truncated, after ", "--on-error skip")
    assert not list(out.glob("**/manifest.json"))
    assert not (out / "o.parquet").exists()


@pytest.mark.parametrize("command", COMMANDS)
def test_skip_uses_what_came_before_and_says_so(command: str, cut: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    arguments = [one for one in COMMANDS[command](cut, out) if one not in ("-q", "--json")]
    loud = nearkin_here(*arguments, "--on-error", "skip")  # type: ignore[arg-type]
    assert loud.code == 0, loud.err
    assert f"Warning: {cut}: the gzip stream is truncated. Only what comes before is used" in loud.err + loud.out
    if not command.startswith("plan"):
        assert f"{cut}, line " in loud.out
    again = [] if command in ("add", "plan") else ["--overwrite"]
    told = nearkin_json(*arguments, "--on-error", "skip", *again)  # type: ignore[arg-type]
    damaged = told["right"]["damaged_files"] if command == "pairs" else told.get("damaged_files")
    if not command.startswith("plan"):
        assert [(one["path"], one["problem"]) for one in damaged] == [(str(cut), "the gzip stream is truncated")]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_fails_where_most_is_unreadable(command: str, mostly_bad: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    arguments = COMMANDS[command](mostly_bad, out)
    ended = nearkin_here(*arguments)  # type: ignore[arg-type]
    message = "Unreadable: 3 of 5 documents, 60%, more than the 50% of --max-unreadable"
    assert_refused(ended, 4, message, f"{mostly_bad}:2: damaged: not valid JSON")
    assert not list(out.glob("**/manifest.json"))
    assert not (out / "o.parquet").exists()
    # the same command with a higher share: nothing is left to be resumed
    ended = nearkin_here(*arguments, "--max-unreadable", "60%")  # type: ignore[arg-type]
    assert ended.code == 0, ended.err


# -- each compression and format ---------------------------------------------------------------------------------------


def cut_in_half(data: bytes) -> bytes:
    return data[: len(data) // 2]


def parquet_of(lines: bytes, path: Path) -> bytes:
    pq.write_table(pa.Table.from_pylist([json.loads(line) for line in lines.splitlines()]), path, row_group_size=50)
    return path.read_bytes()


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("a.jsonl.gz", gzip.compress),
        (
            "a.jsonl.zst",
            lambda data: b"".join(zstd.compress(data[i : i + 9000]) for i in range(0, len(data), 9000)),
        ),
    ],
)
def test_the_kept_corpus_of_a_cut_file(name: str, pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    lines = noisy(400)
    (tmp_path / name).write_bytes(cut_in_half(pack(lines)))
    arguments = ["dedup", tmp_path / name, "--out", tmp_path / "o", "--write-kept", "--no-report"]
    nearkin_done(*arguments, "-q", code=13)
    assert not (tmp_path / "o/kept").exists()
    ended = nearkin_done(*arguments, "--on-error", "skip", "--resume")
    assert "only the documents before it were read" in ended.out
    manifest = json.loads((tmp_path / "o/manifest.json").read_text())
    (damaged,) = manifest["damaged_files"]
    assert manifest["problems"] == {"truncated": 1}
    kept = nearkin_here("dedup", tmp_path / "o/kept" / name, "--out", tmp_path / "again", "--no-report", "--json")
    n_kept = json.loads(kept.out)["counts"]["documents"]
    assert n_kept == manifest["counts"]["kept"] == damaged["line"] - 1
    assert 0 < n_kept < 400
    (problem,) = pq.read_table(tmp_path / "o/problems.parquet").to_pylist()
    assert problem["problem"].startswith("truncated: ")
    nearkin_done("audit", tmp_path / "o", "--sample", "20", "--json")
    regrouped = nearkin_here("regroup", tmp_path / "o", "--threshold", "0.9")
    assert "\nincomplete  " in regrouped.out
    assert "incomplete: <bdi>" in (tmp_path / "o/threshold-0.9/report.html").read_text()


def test_a_parquet_file_without_its_end_is_left_out_and_named(tmp_path: Path) -> None:
    folder = tmp_path / "shards"
    folder.mkdir()
    whole = parquet_of(LINES, folder / "0.parquet")
    (folder / "1.parquet").write_bytes(whole[:-300])
    arguments = ["dedup", folder, "--out", tmp_path / "o", "--write-kept", "--no-report"]
    ended = nearkin_here(*arguments, "-q")
    assert_refused(ended, 13, "1.parquet: the Parquet file is truncated: its footer is missing")
    ended = nearkin_done(*arguments, "--on-error", "skip")
    assert "1.parquet, line 1  the Parquet file is truncated: its footer is missing" in ended.out
    assert [path.name for path in (tmp_path / "o/kept").iterdir()] == ["0.parquet"]


def test_a_text_of_its_own_that_is_cut_is_one_bad_document(tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    for i, record in enumerate(RECORDS[:9]):
        (folder / f"{i}.txt.gz").write_bytes(gzip.compress(str(record["text"]).encode()))
    (folder / "3.txt.gz").write_bytes((folder / "3.txt.gz").read_bytes()[:-20])
    (folder / "4.txt.gz").write_bytes(b"")
    ended = nearkin_here("dedup", folder, "--out", tmp_path / "o", "--no-report", "--json")
    told = json.loads(ended.out)
    assert (told["counts"]["unreadable"], told["damaged_files"]) == (2, [])
    problems = [row["problem"] for row in pq.read_table(tmp_path / "o/problems.parquet").to_pylist()]
    assert [problem.partition(":")[0] for problem in problems] == ["damaged"] * 2


# -- going on ----------------------------------------------------------------------------------------------------------


def dedup(path: Path, tmp_path: Path, *options: str) -> Ended:
    return nearkin_here("dedup", path, "--out", tmp_path / "o", "--no-report", "-q", *options)


def test_a_resumed_run_is_as_strict_as_it_is_told_to_be(cut: Path, tmp_path: Path, monkeypatch) -> None:
    from nearkin.workflows.dedup import job
    from nearkin.workflows.reading import inputs

    monkeypatch.setattr(inputs, "BATCH_BYTES", 3000)  # several batches, so that something is done before the damage
    assert dedup(cut, tmp_path).code == 13
    assert dedup(cut, tmp_path, "--resume").code == 13
    monkeypatch.setattr(job, "plan_search", lambda *asked: 1 / 0)
    with pytest.raises(ZeroDivisionError):  # interrupted when all is read
        dedup(cut, tmp_path, "--resume", "--on-error", "skip")
    monkeypatch.undo()
    monkeypatch.setattr(inputs, "BATCH_BYTES", 3000)
    assert_refused(dedup(cut, tmp_path, "--resume"), 13, "the gzip stream is truncated, after ")
    assert_refused(dedup(cut, tmp_path, "--resume", "--on-error", "stop"), 13, "the gzip stream is truncated")
    assert dedup(cut, tmp_path, "--resume", "--on-error", "skip").code == 0
    resumed = (tmp_path / "o/documents.parquet").read_bytes()
    assert dedup(cut, tmp_path, "--overwrite", "--on-error", "skip").code == 0
    assert (tmp_path / "o/documents.parquet").read_bytes() == resumed


# -- documents that are too long ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_a_document_over_the_maximum_is_skipped_everywhere(command: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    path = write_jsonl(tmp_path / "a.jsonl", [*RECORDS[:5], {"id": "long", "text": "x" * 50_000}, *RECORDS[5:9]])
    arguments = COMMANDS[command](path, out)
    size = ["--max-document-size", "10KiB"]
    stopping = [f"{one}-stopped" if one == out / "o" else one for one in arguments]
    ended = nearkin_here(*stopping, *size, "--on-error", "stop")  # type: ignore[arg-type]
    if not command.startswith("plan"):
        assert_refused(
            ended, 4, f"{path}:6: too large: longer than --max-document-size (50,0", "the maximum is 10,240)"
        )
    ended = nearkin_here(*arguments, *size)  # type: ignore[arg-type]
    assert ended.code == 0, ended.err


def test_a_bomb_of_one_line_stays_within_memory(tmp_path: Path) -> None:
    """640 MiB of one line, unpacked; less than that is held, by the whole process."""
    import subprocess
    import sys

    packer = zstd.ZstdCompressor(level=1)
    parts = [packer.compress(LINES), packer.compress(b'{"id": "too large", "text": "')]
    parts += [packer.compress(b"a" * (1 << 20)) for _ in range(640)]
    parts += [packer.compress(b'"}\n'), packer.flush()]
    (tmp_path / "bomb.jsonl.zst").write_bytes(b"".join(parts))
    code = (
        "import re, sys; from nearkin.cli.main import run\n"
        "try: run(sys.argv[1:])\n"
        # `ru_maxrss` would have that of the process that started this one, too
        "finally: print(re.search(r'VmHWM:\\s+([0-9]+)', open('/proc/self/status').read())[1], file=sys.stderr)"
    )
    arguments = ["sign", str(tmp_path / "bomb.jsonl.zst"), "--out", str(tmp_path / "s.parquet"), "--json"]
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["unreadable"] == 1
    assert int(done.stderr.split()[-1]) < 600 * 1024


# -- columns with bytes that are no UTF-8 ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "name", "options"),
    [
        *((command, "a.parquet", []) for command in ("add", "pairs", "plan")),
        ("dedup", "a.arrow", []),
        ("dedup", "a.parquet", ["--text", "text", "--id", "id"]),
    ],
)
def test_bytes_that_are_no_utf8_cost_a_row(command: str, options: list[str], name: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    texts = [str(record["text"]).encode() for record in RECORDS[:40]]
    texts[2] = b"\xff bad"
    ids = [f"d{i}".encode() for i in range(40)]
    ids[3] = b"\xfe id"
    columns = {"id": ids, "text": texts}
    table = pa.table({one: pa.array(values, pa.binary()).view(pa.string()) for one, values in columns.items()})
    if name == "a.parquet":
        pq.write_table(table, tmp_path / name)
    else:
        with pa.OSFile(str(tmp_path / name), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
    arguments = [one for one in COMMANDS[command](tmp_path / name, out) if one != "-q"]
    options = options[:2] if command.startswith("plan") else options  # a plan names no ids
    ended = nearkin_here(*arguments, *options)  # type: ignore[arg-type]
    ended.assert_clean()
    assert ended.code == 0, ended.err
    with_stop = nearkin_here(
        *arguments, *options, "--on-error", "stop", *(["--overwrite"] if "--out" in arguments else [])
    )
    if not command.startswith("plan"):
        assert with_stop.code == 4
        assert f"{tmp_path / name}:3: wrong encoding: not valid UTF-8 at byte 0 (0xff)" in with_stop.err


# -- formats that are read ---------------------------------------------------------------------------------------------


def test_a_run_that_fails_leaves_the_results_that_it_was_to_replace(cut: Path, tmp_path: Path) -> None:
    whole, out = tmp_path / "whole.jsonl", tmp_path / "results"
    whole.write_text('{"id": 1, "text": "one two three four five six"}\n' * 2)
    given = ["--out", out, "--no-report", "-q", "--write-kept"]
    nearkin_done("dedup", whole, *given)
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    nearkin_done("dedup", cut, *given, "--overwrite", code=13)
    assert {path: data for path, data in before.items() if path.read_bytes() == data} == before
    nearkin_done("dedup", cut, *given, "--overwrite", "--on-error", "skip")
    assert not before.keys() <= {path for path in out.rglob("*") if path.is_file()}
