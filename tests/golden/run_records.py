"""What a run writes about itself: the identity by which it is resumed, and its manifest.

``python tests/golden/run_records.py`` writes ``run_records.json`` with the records of this version. Do that when a
record gets a new field; from the first release on, a field that goes or changes its meaning is another format of runs.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
RECORDS = FOLDER / "run_records.json"
INPUTS = ("mixed.jsonl", "integers.jsonl")
COMMANDS = {
    "dedup": ["dedup", "mixed.jsonl", "--threshold", "0.5", "--shingle", "words:3", "--no-report", "--out", "OUT"],
    "dedup by default": ["dedup", *INPUTS, "--write-kept", "--no-report", "--out", "OUT"],
    "dedup by containment": [
        "dedup", "mixed.jsonl", "--against", "integers.jsonl", "--measure", "containment", "--drop", "either",
        "--no-report", "--out", "OUT",
    ],
    "dedup of a run": ["dedup", "dedup", "integers.jsonl", "--no-report", "--out", "OUT"],
    "dedup without unreadable documents": ["dedup", "mixed.jsonl", "--on-error", "skip", "--no-report", "--out", "OUT"],
    "families": ["families", *INPUTS, "--out", "OUT"],
    "pairs": ["pairs", "--left", INPUTS[0], "--right", INPUTS[1], "--threshold", "0.2", "--no-report", "--out", "OUT"],
    "signatures": ["sign", "mixed.jsonl", "--out", "OUT"],
}  # fmt: skip
CHANGED_NS = 1_767_225_600 * 10**9
OF_THE_MACHINE = {
    "checksum", "made_with", "memory", "stages", "inode", "created", "elapsed_s", "digests", "unicode",
}  # fmt: skip
"""Fields whose values depend on the machine, the versions of libraries, or the moment."""


def steady(value: Any, name: str = "") -> Any:
    """A record without the values of one machine or moment; its fields stay."""
    if name in OF_THE_MACHINE or (value is not None and name.endswith(("_ns", "_s"))):
        return f"<{type(value).__name__}>"
    if isinstance(value, dict):
        return {key: steady(one, key) for key, one in value.items()}
    if isinstance(value, list):
        return [steady(one, name) for one in value]
    if isinstance(value, str):
        return value.replace(os.getcwd(), "<folder>")
    if isinstance(value, float):
        return float(f"{value:.6g}")
    return value


def without_states(value: Any, name: str = "") -> Any:
    """A record without the states of its inputs."""
    if name in ("digest", "files", "sha256", "size_bytes"):
        return f"<{type(value).__name__}>"
    if isinstance(value, dict):
        return {key: without_states(one, key) for key, one in value.items()}
    return [without_states(one) for one in value] if isinstance(value, list) else value


def copy_inputs(folder: Path) -> None:
    """The inputs, as if changed at a moment that stays: identities have it."""
    for one in INPUTS:
        shutil.copy(FOLDER / "inputs" / one, folder)
        os.utime(folder / one, ns=(CHANGED_NS, CHANGED_NS))


def made() -> dict[str, dict[str, Any]]:
    """Identity and manifest of each command, run in the current folder, which has the inputs."""
    from functional.conftest import nearkin_here

    records = {}
    for name, arguments in COMMANDS.items():
        out = name.replace(" ", "-")
        with _identities() as identities:
            ended = nearkin_here(*[out if one == "OUT" else one for one in arguments])
        assert ended.code == 0, ended.err
        record = steady({"identity": identities, "manifest": _manifest(Path(out))})
        # a run has a state of its own: when it was made is in it
        records[name] = without_states(record) if name == "dedup of a run" else record
    return records


@contextlib.contextmanager
def _identities() -> Iterator[list[Any]]:
    """Whatever is stored to recognise a run, as JSON gives it back."""
    from nearkin.runs.run import JobRun

    seen: list[Any] = []
    begin = JobRun._begin

    def watched(self: JobRun, identity: Any, **options: Any) -> Any:
        seen.append(json.loads(json.dumps(identity)))
        return begin(self, identity, **options)

    JobRun._begin = watched  # type: ignore[method-assign]
    try:
        yield seen
    finally:
        JobRun._begin = begin  # type: ignore[method-assign]


def _manifest(out: Path) -> Any:
    if out.is_dir():
        return json.loads((out / "manifest.json").read_text("utf-8"))
    from dataclasses import asdict

    from nearkin.workflows.signing.signature_file import SignatureFile

    return json.loads(json.dumps(asdict(SignatureFile.load(out).about)))


if __name__ == "__main__":
    sys.path.insert(0, str(FOLDER.parent))
    with tempfile.TemporaryDirectory() as place:
        copy_inputs(Path(place))
        with contextlib.chdir(place):
            text = json.dumps(made(), ensure_ascii=False, indent=1, sort_keys=True)
    RECORDS.write_text(text + "\n", encoding="utf-8")
