"""The demo: find the near-duplicates among the licence and notice files that this machine has, and show some.

::

    python examples/demo.py --out demo-out
"""

from __future__ import annotations

import argparse
import glob
import shlex
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from show_groups import show

NAMES = ("LICEN[SC]E*", "[Ll]icen[sc]e*", "COPYING*", "NOTICE*", "AUTHORS*")


def patterns() -> list[str]:
    """Globs for the notices of the packages in this environment and, on Debian, of the system's; those that match."""
    wanted = [f"{_nearby(Path(sys.prefix))}/lib/python*/site-packages/**/{name}" for name in NAMES] + [
        "/usr/share/doc/*/copyright"
    ]
    return [pattern for pattern in wanted if any(map(_is_file, glob.iglob(pattern, recursive=True)))]


def _nearby(path: Path) -> Path:
    """The path as one would type it here."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def _is_file(path: str) -> bool:
    return Path(path).is_file()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("demo-out"))
    out = parser.parse_args().out
    nearkin = str(_nearby(Path(sys.executable).with_name("nearkin")))
    command = [nearkin, "dedup", *patterns(), "--format", "file", "--out", str(out), "--overwrite"]
    console = Console(highlight=False)
    console.print(f"[bold]$ {shlex.join(command)}[/]\n", soft_wrap=True)
    code = subprocess.run(command, check=False).returncode
    if code:
        return code
    console.rule("Some of the groups")
    show(out, console)
    console.rule("Where to look")
    table = Table.grid(padding=(0, 2))
    for name, what in (
        ("report.html", "all of it on one page: open it in a browser"),
        ("documents.parquet", "each document: its group, kept or dropped, why"),
        ("pairs.parquet", "each pair of near-duplicates, its exact similarity"),
        ("groups.parquet", "each group: size, lowest similarity, bridges"),
        ("manifest.json", "parameters, counts, seconds, predicted recall"),
    ):
        table.add_row(f"[bold]{out / name}[/]", what)
    console.print(table)
    console.print("\nOther groups, without reading a file again:")
    console.print(f"[bold]$ {nearkin} regroup {out} --threshold 0.9[/]", soft_wrap=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
