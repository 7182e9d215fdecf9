"""``nearkin warm-up``: compile the kernels before they are needed."""

from __future__ import annotations

import contextlib
import io
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from nearkin.cli.options.definitions import JsonSummary, Quiet

HELP = """
Compile the kernels ahead of the first run.

Numba compiles a kernel when it is first used and stores the code for later runs, so in each installation \
(Python environment) the first run of each kind of job takes longer. This command runs these jobs on a few made-up \
texts, which compiles what they use. Use it when you build an image, or before you measure.

[bold]Example[/]

  nearkin warm-up
"""
_STEPS = {
    "dedup": [
        "dedup texts.txt --out out --no-report",
        "dedup texts.txt --out out --overwrite --no-report --measure containment --against others.txt",
        "dedup texts.txt --out out --overwrite --no-report --shingle chars:5 --group component",
    ],
    "collections": [
        "add matter texts.txt",
        "add matter others.txt",
        "similar matter texts:1 --gamma 0.2",
        "check matter one.txt",
        "groups matter --gamma 0.1",
        "groups matter",
        "similar matter texts:1",
    ],
    "signatures": [
        *(f"sign texts.txt --out {method}.sig --method {method}" for method in ("minhash", "topsig", "simhash-fast")),
        "sign texts.txt --out weighted.sig --method weighted-topsig",
        *(f"neighbours minhash.sig --out near-{bits}.parquet --distance {bits}" for bits in (0, 1, 3, 8, 32)),
    ],
    "two languages": [
        "align train parallel.tsv --source de --target en --out de-en.table",
        "pairs --left texts.txt --right others.txt --out pairs --no-report --no-stems",
        "pairs --left texts.txt --right others.txt --out window --no-report --no-stems --method window",
    ],
}
_N_TEXTS = 200


def warm_up(as_json: JsonSummary = False, quiet: Quiet = False) -> None:
    """Compile the kernels."""
    from nearkin.cli.bars import bars_shown
    from nearkin.cli.printing import tell

    started = time.perf_counter()
    with bars_shown(is_quiet=quiet or as_json) as bars, _in_a_folder(), _compiled_loops():
        for job, commands in _STEPS.items():
            bars.start(job, len(commands), "steps")
            for command in commands:
                _run(command)
                bars.advance(1)
            bars.finish()
    elapsed_s = round(time.perf_counter() - started, 1)
    tell(
        lambda: {"elapsed_s": elapsed_s},
        lambda console: console.print(f"The kernels are compiled ({elapsed_s} s)."),
        as_json=as_json,
        quiet=quiet,
    )


@contextlib.contextmanager
def _in_a_folder() -> Iterator[None]:
    """Write made-up texts in the working directory."""
    chance = random.Random(1)  # nothing is secret
    words = [f"word{i}" for i in range(400)]
    texts = [" ".join(chance.choices(words, k=chance.choice([12, 60, 300]))) for _ in range(_N_TEXTS)]
    with tempfile.TemporaryDirectory(prefix="nearkin-warm-up-") as name, contextlib.chdir(name):
        for file, some in (("texts.txt", texts), ("others.txt", [f"{one} more" for one in texts])):
            stem = file.removesuffix(".txt")
            Path(file).write_text("".join(f"{stem}:{i}\t{one}\n" for i, one in enumerate(some)), "utf-8")
        Path("one.txt").write_text(texts[1], "utf-8")
        Path("parallel.tsv").write_text("de\ten\n" + "".join(f"{one[:200]}\t{one[:200]}\n" for one in texts), "utf-8")
        yield


@contextlib.contextmanager
def _compiled_loops() -> Iterator[None]:
    """Send even small inputs through the compiled loops."""
    from nearkin.kernels import choosing

    before, choosing.ALWAYS = choosing.ALWAYS, "compiled"
    try:
        yield
    finally:
        choosing.ALWAYS = before


def _run(command: str) -> None:
    """Run a command of Nearkin in this process, without output."""
    from nearkin.cli.app import app

    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        app(command.split(), standalone_mode=False)
