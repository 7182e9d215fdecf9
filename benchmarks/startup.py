"""How long commands take from start to end on little input, in processes of their own.

The median of ten runs of each, beside a Python that does nothing; commands take turns, so that all meet the same
machine. Beside it stands the fastest run's processor time, which other programs on the machine disturb less. Bytecode
is compiled before the first run, as an installation does it::

    python benchmarks/startup.py
    python benchmarks/startup.py --repeats 30
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

COMMANDS: dict[str, tuple[list[str], float]] = {
    "nearkin --help": (["--help"], 0.12),
    "nearkin info": (["info", "matter"], 0.45),
    "nearkin check": (["check", "matter", "question.txt"], 0.45),
    "nearkin similar": (["similar", "matter", "1"], 0.45),
    "nearkin compare": (["compare", "matter", "1", "2"], 0.45),
    "nearkin dedup, no report": (["dedup", "file.txt", "--out", "out", "--overwrite", "--no-report", "-q"], 0.7),
    "nearkin dedup, with report": (["dedup", "file.txt", "--out", "out", "--overwrite", "-q"], 1.2),
}
"""Arguments, and the goal in seconds."""
DONE = (0, 10, 11, 12)
"""Exit codes of commands that did their work; `nearkin check` answers by its code."""


def prepare(folder: Path) -> None:
    """Write 100 documents of 80 words, a question, and a collection; run each command once, for its bytecode."""
    chance = random.Random(1)
    words = [f"word{i}" for i in range(3000)]
    lines = [" ".join(chance.choices(words, k=80)) for _ in range(100)]
    (folder / "file.txt").write_text("".join(f"{i}\t{line}\n" for i, line in enumerate(lines, 1)))
    (folder / "question.txt").write_text(lines[0])
    run(folder, ["add", "matter", "file.txt", "-q"])
    for arguments, _ in COMMANDS.values():
        run(folder, arguments)


def run(folder: Path, arguments: list[str]) -> tuple[float, float]:
    """Run a command, or Python alone; return the seconds, and those of processor time.

    A command that fails ends the benchmark.
    """
    command = [sys.executable, "-m", "nearkin", *arguments] if arguments else [sys.executable, "-c", "pass"]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    before, started = _processor_s(), time.perf_counter()
    done = subprocess.run(command, cwd=folder, check=False, stdout=subprocess.DEVNULL, env=environment)
    elapsed_s = time.perf_counter() - started
    if done.returncode not in DONE:
        sys.exit(f"{' '.join(command)} ended with code {done.returncode}")
    return elapsed_s, _processor_s() - before


def _processor_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=10)
    repeats = parser.parse_args().repeats
    taken: dict[str, list[tuple[float, float]]] = {"python -c pass": [], **{name: [] for name in COMMANDS}}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        for _ in range(repeats):
            for command, seconds in taken.items():
                seconds.append(run(folder, COMMANDS[command][0] if command in COMMANDS else []))
    table = Table("command", "median s", "fastest s", "processor s", "goal s", title=f"{repeats} runs of each, in turn")
    for command, seconds in taken.items():
        goal = f"{COMMANDS[command][1]:.2f}" if command in COMMANDS else ""
        elapsed, processor = zip(*seconds, strict=True)
        figures = (statistics.median(elapsed), min(elapsed), min(processor))
        table.add_row(command, *(f"{figure:.2f}" for figure in figures), goal)
    Console().print(table)


if __name__ == "__main__":
    main()
