"""What every peer's runner shares: reading the corpus, the stop-watch, and the form in which answers are handed over.

A runner is called as ``run_<peer>.py CORPUS OUT`` inside the peer's own environment. It leaves ``answer.json`` in the
folder OUT, and what it found as native 64-bit integers: ``pairs.bin`` (row, row, row, row, ...), with
``candidates.bin`` where the pairs were picked from more; or ``clusters.bin`` (a label for each row); or ``flags.bin``
(1 for each row that is called a duplicate). A row is a line of the corpus, from 0. Only the standard library is used
here.
"""

from __future__ import annotations

import json
import re
import sys
import time
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

THRESHOLD = 0.8
PERMUTATIONS = 128
BANDS, ROWS = 16, 8
SHINGLE_WORDS = 5
PROCESSES = 2

_WORD = re.compile(r"[^\W_]+")


def arguments() -> tuple[Path, Path]:
    """The corpus, and the folder for answers."""
    if len(sys.argv) < 3:
        raise SystemExit(f"usage: {sys.argv[0]} CORPUS OUT")
    out = Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    return Path(sys.argv[1]), out


def read_texts(corpus: Path) -> list[str]:
    """The texts, in order."""
    with corpus.open(encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines]


def shingles(text: str) -> list[str]:
    """Word 5-grams of the lower-cased text as strings, in the quickest way plain Python has."""
    words = _WORD.findall(text.lower())
    if len(words) < SHINGLE_WORDS:
        return [" ".join(words)] if words else []
    return list(map(" ".join, zip(*(words[start:] for start in range(SHINGLE_WORDS)), strict=False)))


class Stopwatch:
    """Seconds of each stage; their sum is the work, imports and the writing of answers apart."""

    def __init__(self) -> None:
        self.stages: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time what is inside."""
        began = time.perf_counter()
        yield
        self.stages[name] = self.stages.get(name, 0.0) + time.perf_counter() - began

    @property
    def elapsed_s(self) -> float:
        """All stages together."""
        return sum(self.stages.values())


def hand_over(
    out: Path,
    package: str,
    n_documents: int,
    watch: Stopwatch,
    how: str,
    *,
    pairs: Iterable[tuple[int, int]] | None = None,
    candidates: Iterable[tuple[int, int]] | None = None,
    clusters: Sequence[int] | None = None,
    flags: Sequence[bool] | None = None,
) -> None:
    """Write the answer; with nothing found handed in, only the time is printed."""
    for name, found in (("pairs", pairs), ("candidates", candidates)):
        if found is not None:
            _write(out, name, (row for pair in found for row in pair))
    if clusters is not None:
        _write(out, "clusters", clusters)
    if flags is not None:
        _write(out, "flags", map(int, flags))
    answer = {
        "package": package,
        "version": version(package),
        "documents": n_documents,
        "elapsed_s": watch.elapsed_s,
        "stages": watch.stages,
        "how": how,
    }
    (out / "answer.json").write_text(json.dumps(answer, indent=1) + "\n", "utf-8")


def _write(out: Path, name: str, numbers: Iterable[int]) -> None:
    """One file of native 64-bit integers."""
    (out / f"{name}.bin").write_bytes(array("q", numbers).tobytes())
