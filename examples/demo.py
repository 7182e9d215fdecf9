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

from show_groups import show

NAMES = ("LICEN[SC]E*", "[Ll]icen[sc]e*", "COPYING*", "NOTICE*", "AUTHORS*")


def patterns() -> list[str]:
    """Globs for the notices of the packages in this environment and, on Debian, of the system's; those that match."""
    here = Path(sys.prefix)
    here = here.relative_to(Path.cwd()) if here.is_relative_to(Path.cwd()) else here
    wanted = [f"{here}/lib/python*/site-packages/**/{name}" for name in NAMES] + ["/usr/share/doc/*/copyright"]
    return [pattern for pattern in wanted if any(map(_is_file, glob.iglob(pattern, recursive=True)))]


def _is_file(path: str) -> bool:
    return Path(path).is_file()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("demo-out"))
    out = parser.parse_args().out
    command = ["nearkin", "dedup", *patterns(), "--format", "file", "--out", str(out), "--overwrite"]
    console = Console(highlight=False)
    console.print(f"[bold]$ {shlex.join(command)}[/]\n", soft_wrap=True)
    code = subprocess.run([Path(sys.executable).with_name(command[0]), *command[1:]], check=False).returncode
    if code:
        return code
    console.rule("Some of the groups")
    show(out, console)
    console.rule("Where to look")
    for name, what in (
        ("report.html", "everything in one page: figures, groups, pairs with their differences; open it in a browser"),
        ("documents.parquet", "each document: its group, its similarity to the principal, kept or dropped, why"),
        ("pairs.parquet", "each pair of near-duplicates with its exact similarity"),
        ("groups.parquet", "each group: its size, its lowest similarity, the bridges that were refused"),
        ("manifest.json", "parameters, counts, seconds, memory, the recall that was predicted"),
    ):
        console.print(f"  [bold]{out / name}[/]\n      {what}")
    console.print(f"\nOther groups, without reading a file again:  [bold]nearkin regroup {out} --threshold 0.95[/]")
    return 0


if __name__ == "__main__":
    sys.exit(main())
