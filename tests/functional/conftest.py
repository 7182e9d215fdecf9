"""A collection on disk, and runs over it, in this process and as a command of their own."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from command_here import call_here
from commands import command, is_read_at_the_start, quick_command
from nearkin.options.dedup import DedupOptions, Delivery
from nearkin.workflows.dedup.files import dedup_files
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.resources import Resources
from oracles.texts import versions

TABLES = ("documents.parquet", "pairs.parquet", "groups.parquet")
CHOSEN = ("--shingle", "words:3", "--threshold", "0.8")
"""What `run_here` chooses, for the command line."""
TOLD = ("differ in numbers", "exceptions: 2 (2 empty:", "look like OCR")
"""Beginnings of what a run of the corpus warns of: its words are made up."""
FAST = "the quick brown fox jumps over the lazy dog and runs into the deep dark forest at night"


HEAD = "to whom it may concern this message is for the addressee alone"


def some_records() -> list[dict[str, object]]:
    """About 570 documents of every kind, ids in no order."""
    long = versions(1, n_bases=40, n_words=220, n_versions=5, max_edits=25)
    short = versions(2, n_bases=60, n_words=20, n_versions=4, max_edits=1)
    # what all have in common makes strangers a little alike, so that bands of several rows are chosen
    texts = [f"{HEAD} {text}" for text in (*long, *short)]
    texts += ["", "  \n", "!?", "one", "日本語の短い文章です。", "日本語の短い文章です", "ประโยคภาษาไทย", *texts[::17]]
    texts = [text.upper() if i % 11 == 0 else text for i, text in enumerate(texts)]
    order = sorted(range(len(texts)), key=lambda i: i * 7919 % 1009)
    return [{"id": f"d{i * 31 % 2003}", "text": texts[i], "score": i % 13} for i in order]


def write_jsonl(path: Path, records: Sequence[Mapping[str, object]]) -> Path:
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def records() -> list[dict[str, object]]:
    return some_records()


@pytest.fixture(scope="session")
def corpus(tmp_path_factory, records) -> list[str]:
    """The records in three files of JSON Lines."""
    folder = tmp_path_factory.mktemp("corpus")
    third = len(records) // 3 + 1
    parts = [records[i * third : (i + 1) * third] for i in range(3)]
    return [str(write_jsonl(folder / f"part-{i}.jsonl", part)) for i, part in enumerate(parts)]


def run_here(
    inputs: Sequence[str],
    out: Path,
    *,
    threads: int = 2,
    memory: int = 2 << 30,
    against: Sequence[str] = (),
    delivery: Delivery | None = None,
    **options: object,
) -> Mapping[str, object]:
    """A run in this process, at 0.8 on three words a shingle, without the report unless asked for."""
    request = ReadingRequest(inputs=list(inputs))
    return dedup_files(
        request,
        out,
        DedupOptions(**{"shingle": "words:3", "threshold": 0.8} | options),
        against=request.of_other_set(against) if against else None,
        delivery=delivery or Delivery(report=False),
        resources=Resources(threads, memory),
    ).as_stored()


def results(out: Path) -> dict[str, bytes]:
    """The bytes of whatever tables and report a run left, the report without its date and duration."""
    found = {path.name: path.read_bytes() for path in sorted(out.iterdir()) if path.suffix in (".parquet", ".html")}
    if "report.html" in found:
        found["report.html"] = re.sub(rb" \xc2\xb7 [\d-]+ [\d:]+ UTC \xc2\xb7 [^<]+(?=</p>)", b"", found["report.html"])
    return found


def listing(out: Path) -> set[str]:
    """Every file and folder below a directory."""
    return {str(path.relative_to(out)) for path in out.rglob("*")}


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    def assert_clean(self) -> None:
        assert "Traceback" not in self.out + self.err
        assert "Exception ignored" not in self.err

    def assert_done(self) -> None:
        self.assert_clean()
        assert self.code == 0, self.err

    def assert_quiet(self, *beginnings: str) -> None:
        """It is done, and each line of standard error is a warning with one of these beginnings."""
        self.assert_done()
        allowed = tuple(f"Warning: {one}" for one in beginnings)
        assert [line for line in self.err.splitlines() if not line.startswith(allowed)] == []


def nearkin(*arguments: str | Path, stdin: bytes | None = None, **environment: str) -> Ended:
    """The command line as its own process, where that is the subject; otherwise use `nearkin_here`.

    It is a quick one, unless a variable is to be read when Python starts.
    """
    is_quick = not any(map(is_read_at_the_start, environment))
    done = subprocess.run(
        quick_command(*arguments) if is_quick else command(*arguments),
        input=stdin,
        stdin=None if stdin is not None else subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        env=os.environ | environment,
        check=False,
    )
    return Ended(done.returncode, done.stdout.decode(), done.stderr.decode())


def nearkin_here(*arguments: object, stdin: bytes = b"", cwd: Path | None = None) -> Ended:
    """The command line in this process: faster, with the same output; see `command_here`."""
    from nearkin.cli.main import run

    given = [str(argument) for argument in arguments]
    return Ended(*call_here(partial(run, given), arguments=["nearkin", *given], stdin=stdin, folder=cwd))


def nearkin_done(*arguments: object, code: int = 0, **how: Any) -> Ended:
    """`nearkin_here`, where it ends cleanly and with this code."""
    ended = nearkin_here(*arguments, **how)
    ended.assert_clean()
    assert ended.code == code, ended
    return ended


def nearkin_json(*arguments: object, code: int = 0) -> Any:
    """What a command says in JSON, in one line."""
    ended = nearkin_done(*arguments, "--json", code=code)
    assert ended.out.count("\n") == 1
    return json.loads(ended.out)
