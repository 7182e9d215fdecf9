"""Compare the answers of two installed Nearkins, job by job, on the same documents.

    python scripts/same_answers.py OLD NEW
    python scripts/same_answers.py OLD NEW --only dedup --keep /tmp/answers --data ../shared/data

OLD and NEW are folders with an environment (`.venv/bin/nearkin` or `bin/nearkin`). Every job of `same_answers_jobs.txt`
runs with both; its files and its JSON are compared: kept corpora and signatures byte by byte, tables row by row with
their schema, JSON key by key, all without texts for people, times, versions and paths. A line a job: ``equal``;
``changed``, if all that differs is in the section "changed" of the list; or what differs. The exit code is 0 if every
job is equal or changed. With ``--keep`` the answers of both stay in a folder, and OLD is not run again.
"""

from __future__ import annotations

import argparse
import bz2
import contextlib
import csv
import gzip
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import zipfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from same_answers_corpora import corpora

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))
import postgresql  # noqa: E402

FINE = {"equal", "changed"}
RECORD = "ran.log"
CODES = {0, 10, 11, 12}
"""Exit codes of a step that did its work; `nearkin check` answers by its code."""
UNLIKE = re.compile(
    r"elapsed|_s$|_at$|^at$|memory|size_bytes|^grouped_|version_of_|^nearkin$|made_with|^stages$|^digests$|^schema$|^sentence$|^message$"
    r"|^in_words$|^why$|^path$|^place$|^checksum$|^problem$|^costs_ns$|^relative_cost$"
)
"""Keys and columns that are not compared: times, sizes on disk, versions, places and texts for people."""
DIGESTS = re.compile(r"\.(kept|inputs|against)\[\d+\]$")
"""Where a digest may differ: kept files are compared unpacked, and a collection that is an input has times in it."""
ONLY_ONE = re.compile(r" \{(old|new)( [^}]*)\}")
"""Part of a step for one of the two."""
PLACES = re.compile(r"/\S*/answers-\w+|postgresql://[^\s'\"?]+|127\.0\.0\.1:\d+")
"""Parts of texts that stand for a place: the folder of all answers, a database, a service."""
SHORT = {
    "{run}": "--out {o}/run --write-kept",
    "{translated}": "--left in/bulletins.de.jsonl --right in/bulletins.en.jsonl --table {table}",
    "{table}": "out/align-train/de-en.table",
    "{de}": "in/bulletins.de.jsonl",
    "{en}": "in/bulletins.en.jsonl",
    "{in_python}": str(HERE / "same_answers_in_python.py"),
}
SIGN_IN = re.compile(r"http://[\w.:\[\]]+:\d+")
COMPRESSED = {
    ".gz": gzip.decompress,
    ".bz2": bz2.decompress,
    ".zst": lambda data: pa.input_stream(pa.BufferReader(data), compression="zstd").read(),
}
TABLES = (".parquet", ".csv", ".tsv", ".jsonl", ".json", ".arrow")
FOR_PEOPLE = (".html", ".svg", ".png", ".log")


@dataclass(frozen=True)
class Job:
    """Steps that run one after another in the folder ``room``; ``needs`` are names of jobs that run before it."""

    name: str
    room: str
    steps: tuple[str, ...]
    needs: frozenset[str]

    @property
    def is_postgresql(self) -> bool:  # noqa: D102
        return self.room == "postgresql"

    @property
    def out(self) -> str:  # noqa: D102
        return "out/" + _slug(self.name)


@dataclass(frozen=True)
class Change:
    """What differs on purpose: patterns of whole names of jobs, and of a part of "PLACE: OLD -> NEW"."""

    jobs: str
    places: str
    reason: str


def read_jobs(path: Path) -> tuple[list[Job], list[Change]]:
    """Return the jobs of a file, and what differs in them on purpose."""
    sections: dict[str, list[str]] = {}
    for line in path.read_text().splitlines():
        if line.startswith("== "):
            sections[line[3:]] = lines = []
        elif line.strip() and not line.startswith("#"):
            lines.append(line)
    changes = [line.partition(": ") for line in sections.pop("changed")]
    sections["postgresql"] = sections["collection"]
    return [job for room, lines in sections.items() for job in _jobs_of_room(room, lines)], [
        Change(jobs, *rest.split(" because ")) for jobs, _, rest in changes
    ]


def _jobs_of_room(room: str, lines: list[str]) -> Iterator[Job]:
    steps: dict[str, list[str]] = {}
    for line in lines:
        if not line.startswith(" "):
            own = steps[line if room == "jobs" else f"{room}, {line}"] = []
        else:
            own.append(_whole_step(line.strip()))
    for name, own in steps.items():
        is_chain = not room.endswith("jobs")
        needs = [one for one in steps if one != name and (f"out/{_slug(one)}/" in " ".join(own) or is_chain)]
        before = list(steps)[: list(steps).index(name)]
        yield Job(name, room, tuple(own), frozenset(needs) & frozenset(before))


def _whole_step(step: str) -> str:
    for short, long in SHORT.items():
        step = step.replace(short, long)
    is_command = not step.startswith(("python ", "get ", "psql "))
    if is_command and "--text-only" not in step and "--jsonl" not in step:
        command, _, given = step.partition(" < ")
        step = f"{command} --json" + (f" < {given}" if given else "")
    return step


def _slug(name: str) -> str:
    return re.sub(r"\W+", "-", name)


JOBS, CHANGES = read_jobs(HERE / "same_answers_jobs.txt")


@dataclass
class Environment:
    """One of the two: its programs, the folder of its answers, the URL of its database, and the process that forks."""

    name: str
    binaries: Path
    folder: Path
    url: str | None = None
    forking: subprocess.Popen[str] | None = None

    def run(self, step: str, job: Job) -> dict[str, Any]:
        """Run one step; return its exit code and what it printed."""
        room = self.folder / job.room
        (room / job.out).mkdir(parents=True, exist_ok=True)
        step = ONLY_ONE.sub(lambda part: part[2] if part[1] == self.name else "", step)
        step = step.replace("{o}", job.out).replace("{c}", str(self.url) if job.is_postgresql else "matter")
        command, _, given = step.partition(" < ")
        kind, *words = shlex.split(command)
        environment = {"XDG_CACHE_HOME": str(self.folder / "cache"), "COLUMNS": "100", "USER": "ada", "LOGNAME": "ada"}
        environment["TZ"] = "UTC"
        if kind == "get":
            return self._get(words, room, os.environ | environment)
        programs = {"python": self.binaries / "python", "psql": postgresql.program("psql")}
        if kind == "psql":
            words = ["-X", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", str(self.url), "-c", *words]
        stdout, stderr = (room / f"std{name}.log" for name in ("out", "err"))
        stdin = room / given.strip() if given else Path(os.devnull)
        if kind in programs:
            with open(stdout, "wb") as out, open(stderr, "wb") as err, open(stdin, "rb") as read:
                arguments, variables = [str(programs[kind]), *words], os.environ | environment
                code = subprocess.run(arguments, stdin=read, stdout=out, stderr=err, cwd=room, env=variables).returncode
        else:
            streams = {"stdin": str(stdin), "stdout": str(stdout), "stderr": str(stderr)}
            asked = {"arguments": [kind, *words], "environment": environment, "folder": str(room), **streams}
            code = self._forked(json.dumps(asked), stdout, stderr)
        said, errors = (path.read_text(errors="replace") for path in (stdout, stderr))
        return {"step": step, "code": code, "said": said, "errors": errors[-2000:]}

    def _forked(self, asked: str, *printed: Path) -> int:
        for path in printed:
            path.unlink(missing_ok=True)
        if self.forking is None:
            arguments = [str(self.binaries / "python"), str(HERE / "same_answers_commands.py")]
            self.forking = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.forking.stdin is not None
        assert self.forking.stdout is not None
        self.forking.stdin.write(asked + "\n")
        self.forking.stdin.flush()
        return int(self.forking.stdout.readline())

    def _get(self, words: list[str], room: Path, environment: dict[str, str]) -> dict[str, Any]:
        """Serve the collection and GET each address as JSON."""
        token = self.folder / "token"
        token.write_text("t" * 40)
        token.chmod(0o600)
        arguments = [str(self.binaries / "nearkin"), "serve", words[0], "--port", "0", "--token-file", str(token)]
        said = room / "served.log"
        with open(said, "wb") as log:
            service = subprocess.Popen(arguments, cwd=room, env=environment, stdout=log, stderr=log)
        try:
            for _ in range(600):
                if (address := SIGN_IN.search(said.read_text())) or service.poll() is not None:
                    break
                time.sleep(0.1)
            if address is None:
                return {"step": "serve", "code": service.poll() or -1, "said": "", "errors": said.read_text()}
            answers = [_fetched(address[0] + path, "t" * 40) for path in words[1:]]
        finally:
            service.terminate()
            service.wait(30)
        return {"step": " ".join(words), "code": 0, "said": "\n".join(answers), "errors": ""}


def _fetched(url: str, token: str) -> str:
    request = urllib.request.Request(url, headers={"authorization": f"Bearer {token}"})
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.dumps({"status": answer.status, "answer": json.loads(answer.read())})
    except urllib.error.HTTPError as error:
        return json.dumps({"status": error.code, "answer": json.loads(error.read() or b"null")})


@dataclass
class Differences:
    """What differs in a job, by places without numbers of rows: how often, and the first; and what may differ."""

    changes: list[Change]
    first: dict[str, str] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)

    def add(self, where: str, old: object, new: object) -> None:  # noqa: D102
        place = re.sub(r"\[\d+\]", "[]", where)
        for change in self.changes:
            if re.search(change.places, f"{place}: {old} -> {new}"):
                self.reasons[change.reason] += 1
                return
        self.counts[place] += 1
        self.first.setdefault(place, f"{where}\n        OLD {_short(old)}\n        NEW {_short(new)}")

    @property
    def lines(self) -> list[str]:  # noqa: D102
        more = {place: f"\n        and {n - 1} more" if n > 1 else "" for place, n in self.counts.items()}
        return [first + more[place] for place, first in self.first.items()]


def _placeless(value: Any) -> Any:
    return PLACES.sub("PLACE", value) if isinstance(value, str) else value


def _short(value: object) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 300 else text[:300] + " …"


def compare_values(where: str, old: Any, new: Any, found: Differences) -> None:
    """Compare two values of JSON."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(key for key in new if key not in old)]:
            if UNLIKE.search(key) or (key == "sha256" and DIGESTS.search(where)):
                continue
            if key not in old or key not in new:
                found.add(f"{where}.{key}", old.get(key, "(no such key)"), new.get(key, "(no such key)"))
            elif key == "problems" and isinstance(old[key], dict):  # its keys are sentences
                compare_values(f"{where}.{key}", sorted(old[key].values()), sorted(new[key].values()), found)
            else:
                compare_values(f"{where}.{key}", old[key], new[key], found)
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            found.add(f"{where}: length", len(old), len(new))
        for index, (first, second) in enumerate(zip(old, new)):
            compare_values(f"{where}[{index}]", first, second, found)
    elif type(old) is not type(new) or _placeless(old) != _placeless(new):
        found.add(where, old, new)


def compare_files(name: str, old: Path, new: Path, found: Differences) -> None:
    """Compare two files: by their bytes, or, if these differ and it is a table, by schema and rows."""
    first, second = old.read_bytes(), new.read_bytes()
    if first == second or old.suffix in FOR_PEOPLE:
        return
    if unpack := COMPRESSED.get(old.suffix):
        first, second, suffix = unpack(first), unpack(second), Path(old.stem).suffix
    else:
        suffix = old.suffix
    if suffix == ".docx":
        first, second = _document_xml(first), _document_xml(second)
    if first == second:
        return
    is_kept = "kept" in Path(name).parts
    if suffix not in TABLES or (is_kept and suffix not in (".parquet", ".arrow")):
        lines = [data.decode("utf-8", "backslashreplace").splitlines(keepends=True) for data in (first, second)]
        compare_values(name, lines[0], lines[1], found)
        return
    (old_schema, old_rows), (new_schema, new_rows) = _table(first, suffix), _table(second, suffix)
    compare_values(f"{name}: columns", old_schema, new_schema, found)
    compare_values(name, old_rows, new_rows, found)


def _document_xml(data: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return re.sub(rb'w:date="[^"]*"', b"", archive.read("word/document.xml"))


def _table(data: bytes, suffix: str) -> tuple[Any, Any]:
    """Return the columns and the rows of a file."""
    if suffix in (".parquet", ".arrow"):
        table = pq.read_table(io.BytesIO(data)) if suffix == ".parquet" else _arrow(data)
        return {column.name: str(column.type) for column in table.schema}, table.to_pylist()
    text = data.decode("utf-8-sig")
    if suffix in (".csv", ".tsv"):
        rows = csv.reader(io.StringIO(text, newline=""), delimiter="," if suffix == ".csv" else "\t")
        header = next(rows, [])
        return dict.fromkeys(header, ""), [dict(zip(header, row)) for row in rows]
    return {}, [json.loads(line) for line in text.splitlines() if line] if suffix == ".jsonl" else json.loads(text)


def _arrow(data: bytes) -> pa.Table:
    try:
        return pa.ipc.open_file(data).read_all()
    except pa.ArrowInvalid:
        return pa.ipc.open_stream(data).read_all()


def _all_steps(job: Job) -> list[Any]:
    """The steps of a job and of those that ran before it, on which its answers depend."""
    needed = {job.name, *job.needs}
    for one in reversed(JOBS):
        needed |= one.needs if one.name in needed else set()
    return [[one.name, *one.steps] for one in JOBS if one.name in needed]


def _has_run(folder: Path, job: Job) -> bool:
    record = folder / job.room / job.out / RECORD
    return record.exists() and json.loads(record.read_text())["steps"] == _all_steps(job)


def answer(environment: Environment, job: Job, is_kept: bool) -> list[dict[str, Any]]:
    """Run a job, or read what an earlier run with ``--keep`` left."""
    record = environment.folder / job.room / job.out / RECORD
    if is_kept and _has_run(environment.folder, job):
        ran: list[dict[str, Any]] = json.loads(record.read_text())["ran"]
        return ran
    shutil.rmtree(record.parent, ignore_errors=True)
    ran = [environment.run(step, job) for step in job.steps]
    record.write_text(json.dumps({"steps": _all_steps(job), "ran": ran}))
    return ran


def compare(job: Job, old: Environment, new: Environment) -> tuple[str, list[str]]:
    """Run a job with both; return the verdict and the lines below it."""
    with ThreadPoolExecutor(2) as pool:
        olds, news = pool.map(lambda one: answer(one, job, one is old), (old, new))
    found, failed = Differences([change for change in CHANGES if re.fullmatch(change.jobs, job.name)]), list[str]()
    for step, first, second in zip(job.steps, olds, news):
        if first["code"] not in CODES and second["code"] == first["code"]:
            failed += [
                f"{step}: exit code {first['code']} with both: {_short((first['errors'] or first['said'])[-300:])}"
            ]
        elif first["code"] != second["code"]:
            found.add(f"{step}: exit code", *(f"{ran['code']} {ran['errors'][-200:]!r}" for ran in (first, second)))
        else:
            _compare_printed(step, first["said"], second["said"], found)
    folders = [one.folder / job.room / job.out for one in (old, new)]
    files = [{str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} for folder in folders]
    for name in sorted(files[0] | files[1]):
        if name in files[0] and name in files[1]:
            compare_files(name, folders[0] / name, folders[1] / name, found)
        else:
            found.add(f"{name}: only in {'OLD' if name in files[0] else 'NEW'}", name in files[0], name in files[1])
    notes = [f"{count} because {reason}" for reason, count in found.reasons.items()]
    if found.counts:
        return "DIFFERS", [*found.lines, *notes, *failed]
    if failed:
        return "FAILED", failed
    return "changed" if notes else "equal", notes


def _compare_printed(step: str, old: str, new: str, found: Differences) -> None:
    """Compare what a step printed, if it is JSON or asked for as it is: all else is text for people."""
    if "--json" in step or step.startswith(("python ", "get ")):
        values = [[json.loads(line) for line in said.splitlines() if line.strip()] for said in (old, new)]
        compare_values(step[:60], *values, found)
    elif "--text-only" in step or step.startswith("psql "):
        compare_values(step[:60], old.splitlines(), new.splitlines(), found)


def _environment(
    name: str, root: Path, folder: Path, server: postgresql.Server | None, needed: list[Job]
) -> Environment:
    """Prepare the folders of one of the two; OLD keeps the answers of rooms whose jobs have all run."""
    binaries = next((root / one for one in (".venv/bin", "bin") if (root / one / "nearkin").exists()), None)
    if binaries is None:
        sys.exit(f"{root}: has neither .venv/bin/nearkin nor bin/nearkin")
    database = f"{name}_{os.getpid()}"
    if server:
        server.sql(f"CREATE DATABASE {database}")
    for room in {job.room for job in needed}:
        own = folder / room
        is_chain = not room.endswith("jobs")
        if is_chain and not all(_has_run(folder, job) for job in needed if job.room == room):
            shutil.rmtree(own, ignore_errors=True)
        own.mkdir(parents=True, exist_ok=True)
        if not (own / "in").exists():
            (own / "in").symlink_to(folder.parent / "in")
    return Environment(name, binaries.absolute(), folder, server.url(database) if server else None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--only", action="append", help="only jobs with this word in their name; repeatable")
    parser.add_argument("--data", type=Path, default=HERE.parent / "../shared/data", help="folder of the real sets")
    parser.add_argument("--keep", type=Path, help="folder for the answers; OLD does not run again")
    given = parser.parse_args()
    has = {"real": given.data.is_dir(), "postgresql": postgresql.is_there()}
    possible = {job.name: job for job in JOBS if has.get(job.room.partition(" ")[0], True)}
    chosen = [name for name in possible if not given.only or any(word in name for word in given.only)]
    print(f"{len(chosen)} of {len(JOBS)} jobs", *(f"without {name}" for name in has if not has[name]), sep=", ")
    needed = set(chosen)
    for job in reversed(possible.values()):
        needed |= job.needs if job.name in needed else set()
    is_served = any(possible[name].is_postgresql for name in chosen)
    verdicts: Counter[str] = Counter()
    started = time.monotonic()
    jobs = [job for job in possible.values() if job.name in needed]
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(postgresql.running()) if is_served else None
        temporary = stack.enter_context(tempfile.TemporaryDirectory(prefix="answers-"))
        folder = given.keep.resolve() / "answers-kept" if given.keep else Path(temporary)
        corpora(folder / "in", given.data if has["real"] else None)
        shutil.rmtree(folder / "new", ignore_errors=True)
        old = _environment("old", given.old, folder / "old", server, jobs)
        new = _environment("new", given.new, folder / "new", server, jobs)
        for job in jobs:
            verdict, lines = compare(job, old, new)
            if job.name in chosen or verdict not in FINE:
                verdicts[verdict] += 1
                print(f"{job.name:40} {verdict}", *(f"    {line}" for line in lines), sep="\n", flush=True)
    print(
        *(f"{count} {verdict}" for verdict, count in verdicts.items()), f"{time.monotonic() - started:.0f} s", sep=", "
    )
    sys.exit(0 if set(verdicts) <= FINE else 1)


if __name__ == "__main__":
    main()
