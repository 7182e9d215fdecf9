"""``nearkin check --jsonl``: a stream of documents in a pipe."""

from __future__ import annotations

import json
import re
import signal
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from commands import quick_command
from functional.conftest import nearkin_done, nearkin_here, write_jsonl
from made_up_prose import Prose
from nearkin.collection.collection import Collection

PROSE = Prose(31)
TEXTS = [PROSE.text(120) for _ in range(6)]


@pytest.fixture
def matter(tmp_path: Path) -> str:
    place = str(tmp_path / "matter")
    nearkin_done("add", place, write_jsonl(tmp_path / "in.jsonl", [{"id": "old", "text": TEXTS[0]}]))
    return place


def lines(*records: object) -> bytes:
    return b"".join(json.dumps(one).encode() + b"\n" for one in records)


def counted(said: str, *labels: str) -> list[int]:
    """The numbers of some labels in a summary."""
    return [int(re.search(rf"^{label}  +(\d+)", said, re.MULTILINE)[1]) for label in labels]


def told(out: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in out.splitlines()]


def test_a_stream_is_cleaned_in_one_command(matter, tmp_path):
    stream = [
        {"id": "a", "text": TEXTS[1], "more": [1]},
        {"id": "b", "text": TEXTS[0].upper()},
        {"id": "c", "text": PROSE.altered(TEXTS[1], 2)},
        {"id": 7, "text": TEXTS[2]},
        {"id": "e", "text": f"{TEXTS[2]} {TEXTS[3]}"},
    ]
    clean = tmp_path / "clean.jsonl"
    arguments = "check", matter, "-", "--jsonl", "--store", "--only-new", "--kept", clean, "--wave", "crawl"
    ended = nearkin_here(*arguments, stdin=lines(*stream))
    answers = told(ended.out)
    assert (ended.code, [one["verdict"] for one in answers]) == (0, ["new", "exact", "near", "new", "new"])
    assert [one["line"] for one in answers] == [1, 2, 3, 4, 5]
    assert [one["id"] for one in answers] == ["a", "b", "c", "7", "e"]
    assert (
        [one["is_stored"] for one in answers] == [one["is_kept"] for one in answers] == [True, False, False, True, True]
    )
    assert [[other["id"] for other in one["documents"]] for one in answers] == [[], ["old"], ["a"], [], []]
    assert 0.7 <= answers[2]["documents"][0]["jaccard"] < 1
    assert clean.read_bytes() == lines(stream[0], stream[3], stream[4])
    assert counted(ended.err, "new", "exact copies", "near-duplicates", "stored", "kept") == [3, 1, 1, 3, 3]
    assert [one["expected_recall"] for one in answers] == [0.9935] * 5
    assert "expected recall 99.3% at 0.7, higher above" in ended.err
    with Collection.open(matter) as collection:
        assert collection.info().n_documents == 4
        assert (collection.document("7").wave, collection.document("7").line) == ("crawl", 4)
    assert nearkin_here(*arguments, stdin=lines(*stream)).code == 5  # the file is there
    repeated = nearkin_here(*arguments, "--overwrite", stdin=lines(*stream))
    assert counted(repeated.err, "new", "exact copies", "already stored", "stored", "kept") == [0, 1, 3, 0, 3]
    again = nearkin_here(*arguments, "--overwrite", "-q", stdin=lines(*stream))
    assert (again.code, again.err, clean.read_bytes()) == (0, "", lines(stream[0], stream[3], stream[4]))
    printed = nearkin_here(*arguments[:6], "--kept", "-", "-q", stdin=lines(*stream))
    assert printed.out.encode() == clean.read_bytes()
    everything = nearkin_here(*arguments[:5], "--json", stdin=lines(*stream))
    counts = json.loads(everything.err)
    assert (counts["n_stored"], counts["n_already_stored"], counts["verdicts"]["exact"]) == (2, 3, 4)


@pytest.mark.parametrize("more", [(), ("--only-new",)])
def test_a_repeated_line_is_kept_once(matter, tmp_path, more):
    """Also of a document that was stored before the stream, if lines arrive together or alone, and in a repetition."""
    once = [{"id": "old", "text": TEXTS[0]}, {"id": "a", "text": TEXTS[1]}, {"id": "e", "text": ""}]
    other = {"id": "a", "text": TEXTS[2]}
    stream = [*once, *once, {"id": "a", "text": TEXTS[1], "more": 1}, other, other, *once[:1] * 70]
    clean = tmp_path / "clean.jsonl"
    arguments = "check", matter, "-", "--jsonl", "--store", *more, "--kept", clean, "--overwrite"
    first = nearkin_here(*arguments, stdin=lines(*stream))
    assert [one["is_kept"] for one in told(first.out)] == [True] * 3 + [False] * 4 + [True] + [False] * 71
    assert clean.read_bytes() == lines(*once, other)
    assert counted(first.err, "already stored", "repeated lines", "stored", "kept") == [1, 75, 3, 4]
    again = nearkin_here(*arguments, stdin=lines(*once, *once, *once))
    assert clean.read_bytes() == lines(*once)
    assert again.code == 0


def test_each_line_is_answered_before_the_next_one_comes(matter):
    command = quick_command("check", matter, "-", "--jsonl", "--store", "-q")
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        for i, text in enumerate(TEXTS[:3]):
            process.stdin.write(lines({"id": f"d{i}", "text": text}))
            process.stdin.flush()
            answer = json.loads(process.stdout.readline())
            assert (answer["id"], answer["verdict"]) == (f"d{i}", "new" if i else "exact")
        process.send_signal(signal.SIGKILL)
    with Collection.open(matter) as collection:  # what was answered is stored
        assert all(collection.has_document(f"d{i}") for i in range(3))


def test_a_stream_that_fails_says_what_is_stored(matter, tmp_path):
    """The first lines are stored, one transaction each; the database refuses the last one."""
    arguments = ("check", matter, "-", "--jsonl", "--store", "--only-new", "--kept", "-")
    with subprocess.Popen(
        quick_command(*arguments), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        for i in (1, 2):
            process.stdin.write(lines({"id": f"d{i}", "text": TEXTS[i]}))
            process.stdin.flush()
            assert process.stdout.readline()
        with closing(sqlite3.connect(Path(matter, "nearkin.sqlite"))) as other, other:
            other.execute("CREATE TRIGGER refused BEFORE INSERT ON documents BEGIN SELECT RAISE(ABORT, 'no'); END")
        _, said = process.communicate(lines({"id": "d3", "text": TEXTS[3]}))
    assert process.returncode == 7
    assert b"what earlier ones stored is kept" in said
    with Collection.open(matter, read_only=True) as collection:
        assert [collection.has_document(f"d{i}") for i in (1, 2, 3)] == [True, True, False]


def test_lines_that_cannot_be_read_are_answered_and_counted(matter, tmp_path):
    stream = lines({"id": "a", "text": TEXTS[1]}) + b"{broken\n\n  \n[]\n" + lines({"id": "b"}, {"text": TEXTS[2]})
    ended = nearkin_here(
        "check", matter, "-", "--jsonl", "--store", "--json", stdin=stream + lines({"id": "c", "text": ""})
    )
    answers = told(ended.out)
    assert (ended.code, [one["line"] for one in answers]) == (0, [1, 2, 5, 6, 7, 8])
    assert ["error" in one for one in answers] == [False, True, True, True, True, False]
    assert "damaged: not valid JSON" in answers[1]["error"]
    assert "no key 'id'" in answers[4]["error"]
    assert (answers[4]["id"], answers[3]["id"]) == (None, "b")
    summary = json.loads(ended.err)
    assert (summary["n_documents"], summary["n_problems"], summary["n_stored"]) == (6, 4, 2)
    blank = nearkin_here(
        "check", matter, write_jsonl(tmp_path / "b.jsonl", [{"id": "", "text": "It was."}]), "--jsonl", "--store"
    )
    assert "no key 'id', or its value is empty" in blank.out
    without = nearkin_here("check", matter, "-", "--jsonl", stdin=stream)
    assert [one.get("verdict") for one in told(without.out)] == ["exact", None, None, None, "new"]


@pytest.mark.parametrize(
    ("bad", "rest", "why"),
    [
        ("a\0b", [], "without control characters"),
        (" ", ["{broken"], "an id is needed to store a document"),
        ("x" * 3000, ["{broken"], "xxx'… (length 3,000) cannot be stored: the id is longer than 2,000 bytes"),
    ],
    ids=["U+0000", "blank", "long"],
)
def test_stop_at_a_line_that_cannot_be_stored(matter, bad, rest, why):
    stream = lines(
        {"id": "ok1", "text": TEXTS[1]}, {"id": bad, "text": TEXTS[4]}, *rest, {"id": "after", "text": TEXTS[2]}
    )
    ended = nearkin_here("check", matter, "-", "--jsonl", "--store", "--on-error", "stop", stdin=stream)
    assert ended.code == 4
    assert "line 2: " in ended.err
    assert why in " ".join(ended.err.split())
    assert ".." not in ended.err.replace("...", "")
    assert "The documents before it are stored as answered." in " ".join(ended.err.split())
    assert [one["line"] for one in told(ended.out)] == [1, 2]
    with Collection.open(matter) as collection:
        assert [collection.has_document(one) for one in ("ok1", "after")] == [True, False]
    skipped = nearkin_here("check", matter, "-", "--jsonl", "--store", stdin=stream)
    assert ["error" in one for one in told(skipped.out)] == [False, True, *[True for _ in rest], False]


def test_a_stream_that_is_stored_creates_the_collection(tmp_path):
    place, stream = tmp_path / "new", lines({"id": "a", "text": TEXTS[0]}, {"id": "b", "text": TEXTS[0].upper()})
    ended = nearkin_here("check", place, "-", "--jsonl", stdin=stream)
    assert (ended.code, "nearkin add COLLECTION " in ended.err, place.exists()) == (7, True, False)
    ended = nearkin_here("check", place, "-", "--jsonl", "--store", "--only-new", stdin=stream)
    assert (ended.code, [one["verdict"] for one in told(ended.out)]) == (0, ["new", "exact"]), ended.err
