"""Show a few groups of a finished run in the terminal: their members, and what differs between two of them.

::

    python examples/show_groups.py demo-out

It reads what the run wrote (groups.parquet, documents.parquet) and the text files that the run read.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from nearkin.reports.comparison import to_terminal
from nearkin.stages.differences.comparing import compare_texts
from nearkin.wording import share_text

N_GROUPS = 4
MEMBERS_SHOWN = 6
CHARACTERS_SHOWN = 1000


@dataclass(frozen=True, slots=True)
class Member:
    """A document of a group."""

    name: str
    source: str
    similarity: float
    reason: str


def chosen_groups(run: Path, n: int) -> list[dict[str, object]]:
    """The largest group in which texts differ, and others spread over the range from alike to just alike enough."""
    groups = pq.read_table(run / "groups.parquet").to_pylist()
    differing = [group for group in groups if group["lowest_similarity"] < 1.0]
    differing.sort(key=lambda group: (-group["size"], group["group_row"]))
    rest = sorted(differing[1:], key=lambda group: (-group["lowest_similarity"], group["group_row"]))
    spread = [rest[i * (len(rest) - 1) // max(n - 2, 1)] for i in range(n - 1)] if rest else []
    return [*differing[:1], *{group["group_row"]: group for group in spread}.values()]


def members(run: Path, group_row: object) -> list[Member]:
    """The documents of a group, the principal first, then the least similar."""
    columns = ["name", "group_row", "is_principal", "similarity_to_principal", "reason", "source"]
    table = pq.read_table(run / "documents.parquet", columns=columns)
    rows = table.filter(pc.equal(table["group_row"], group_row)).to_pylist()
    rows.sort(key=lambda row: (not row["is_principal"], row["similarity_to_principal"] or 0.0, row["name"]))
    return [Member(r["name"], r["source"], r["similarity_to_principal"] or 0.0, r["reason"]) for r in rows]


def show(run: Path, console: Console, n_groups: int = N_GROUPS) -> None:
    """Print the groups."""
    for group in chosen_groups(run, n_groups):
        found = members(run, group["group_row"])
        console.print(_table(group, found))
        principal, other = found[0], found[1]
        console.print(
            Padding(f"[dim]What differs between the principal and[/] {escape(_short(other.name))}", (0, 0, 0, 1))
        )
        console.print(Padding(_differences(principal, other), (0, 2, 1, 3)))


def _table(group: dict[str, object], found: list[Member]) -> Table:
    title = f"{group['size']} documents, the two least alike {share_text(group['lowest_similarity'])}"
    table = Table(title=title, title_justify="left", title_style="bold", expand=True)
    table.add_column("document", overflow="fold", ratio=1)
    table.add_column("similarity", justify="right")
    table.add_column("verdict", no_wrap=True)
    for member in found[:MEMBERS_SHOWN]:
        verdict = "[green]kept[/] (principal)" if member is found[0] else f"dropped: {member.reason}"
        table.add_row(escape(_short(member.name)), share_text(member.similarity), verdict)
    if len(found) > MEMBERS_SHOWN:
        table.add_row(f"[dim]and {len(found) - MEMBERS_SHOWN} more[/]", "", "")
    return table


def _short(name: str) -> str:
    """A path without the folders that all installed packages share."""
    return name.rpartition("/site-packages/")[2].replace(".dist-info/licenses/", ": ").replace(".dist-info/", ": ")


def _differences(a: Member, b: Member) -> Text:
    texts = [Path(member.source).read_text(encoding="utf-8", errors="replace") for member in (a, b)]
    spans = _shortened(to_terminal(compare_texts(texts[0], texts[1])))
    return Text.assemble(*((text, style) for style, text in spans))


def _shortened(spans: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """The spans up to where a reader has seen enough."""
    shown = 0
    for style, text in spans:
        if shown > CHARACTERS_SHOWN:
            yield "dim", " … (more in report.html)"
            return
        shown += len(text)
        yield style, text


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("run", type=Path, metavar="DIR", help="results of nearkin dedup")
    run = parser.parse_args().run
    if not (run / "groups.parquet").exists():
        parser.error(f"{run} holds no results of nearkin dedup")
    show(run, Console(highlight=False))
