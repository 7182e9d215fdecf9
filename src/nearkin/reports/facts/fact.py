"""Line of an answer, the same in the terminal and on a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from nearkin.manifests.stored import DamagedFile

Tone = Literal["plain", "quiet", "warning", "damage"]
RAISE_LIMIT = "raise --limit, or use --out for all"
_MAX_NAMED = 5


@dataclass(frozen=True, slots=True)
class Fact:
    """Label with its value and a note; unescaped, with names of documents in it: what shows it must escape it.

    Parameters
    ----------
    value
        A count is an int; any other number is written with its unit. "" if the label says all.
    tone : {"plain", "quiet", "warning", "damage"}, default "plain"
        "quiet" for what few need, "warning" for what the answer lacks, "damage" for damaged data.

    Examples
    --------
    >>> print(Fact("documents", 1_200, "in 2 waves"))
    documents: 1,200 (in 2 waves)
    """

    label: str
    value: str | int = ""
    note: str = ""
    tone: Tone = "plain"

    @property
    def text(self) -> str:
        """The value in words."""
        return f"{self.value:,}" if isinstance(self.value, int) else self.value

    @property
    def is_warning(self) -> bool:
        """Whether ``--quiet`` prints it."""
        return self.tone in ("warning", "damage")

    def __str__(self) -> str:
        """Return the line."""
        words = self.text if self.value == "" or not self.note else f"{self.text} ({self.note})"
        return ": ".join(filter(None, (self.label, words or self.note)))


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of an answer, unescaped; the first ``n_numbers`` columns are right-aligned.

    In the terminal a column without any value, only None, is left out, and ``empty`` stands for a table without rows.
    """

    columns: tuple[str, ...]
    rows: Sequence[Sequence[object]]
    n_numbers: int = 0
    caption: str = ""
    empty: str = ""


@dataclass(frozen=True, slots=True)
class StyledText:
    """Line for the terminal: pairs of a style and an unescaped text; several lines if it may break."""

    spans: Sequence[tuple[str, str]]
    may_break: bool = False


Part = Fact | Table | StyledText
"""Part of an answer as the terminal shows it; facts that follow one another are aligned, warnings last."""
BY_DIFFERENCE = {
    "numbers": "differ in numbers or dates only",
    "words and numbers": "differ in words and numbers",
    "passage added": "differ by one passage more",
    "passage replaced": "differ in one passage only",
    "names": "differ in names only",
    "fields": "differ in fields of a form",
}
"""Label for documents that differ in this way from the one beside them."""


def nonzero(label: str, n: int | None, note: str = "", tone: Tone = "plain") -> Iterator[Fact]:
    """Yield a count unless it is 0 or unknown."""
    if n:
        yield Fact(label, n, note, tone)


def warning(label: str, n: int | None, note: str) -> Iterator[Fact]:
    """Yield a count as a warning unless it is 0 or unknown."""
    yield from nonzero(label, n, note, "warning")


def not_shown(n: int, how: str = RAISE_LIMIT) -> Iterator[Fact]:
    """Count the rows that a list omits, and say how to see them."""
    if n > 0:
        yield Fact("not shown", n, how, "quiet")


def counts_text(counts: Mapping[str, int]) -> str:
    """List counts with their names.

    Examples
    --------
    >>> counts_text({"damaged": 2, "encrypted": 0, "empty": 1_000})
    '2 damaged, 1,000 empty'
    """
    return ", ".join(f"{n:,} {name}" for name, n in counts.items() if n)


def missing_facts(name: str, missing: str | None) -> Iterator[Fact]:
    """Warn about a text that is only a part of the text of its file; nothing if ``missing`` is None."""
    if missing is not None:
        yield Fact("read in part", name, missing, "warning")


def damage_facts(damaged: Sequence[DamagedFile]) -> Iterator[Fact]:
    """Name the damaged files, of which only the beginning was read."""
    for file in damaged[:_MAX_NAMED]:
        place = file.path if file.line is None else f"{file.path}, line {file.line:,}"
        read = "none of its documents was read" if file.line == 1 else "only the documents before it were read"
        yield Fact("incomplete", place, f"{file.problem}; {read}", "damage")
    if len(damaged) > _MAX_NAMED:
        yield Fact("more incomplete files", len(damaged) - _MAX_NAMED, tone="damage")


def time_facts(elapsed_s: float, n_documents: int) -> Iterator[Fact]:
    """Give a time, and the documents per second unless kernels were compiled: later runs have another rate.

    Examples
    --------
    >>> print(*time_facts(2.0, 2468))
    time: 2.0 s (1,234 documents per second)
    """
    from nearkin.kernels.choosing import has_compiled

    rate = f"{round(n_documents / elapsed_s if elapsed_s else 0):,} documents per second"
    yield Fact("time", f"{elapsed_s:.1f} s", "with the one-time compilation of kernels" if has_compiled() else rate)
