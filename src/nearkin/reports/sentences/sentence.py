"""Sentence of an answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Tone = Literal["plain", "quiet", "warning", "damage"]


def not_shown(what: str | int, *, has_out: bool = True) -> str:
    """Count the rows that a list omits, and say how to see them; ``has_out``: the command has --out, not used yet.

    Examples
    --------
    >>> not_shown(1_200), not_shown("3 groups", has_out=False)
    ('1,200 not shown; raise --limit, or use --out for all', '3 groups not shown; raise --limit')
    """
    said = f"{what:,}" if isinstance(what, int) else what
    return f"{said} not shown; raise --limit" + ", or use --out for all" * has_out


@dataclass(frozen=True, slots=True)
class Sentence:
    """Unescaped text of an answer, with names of documents in it; the code that shows it must escape it.

    Parameters
    ----------
    text : str
    tone : {"plain", "quiet", "warning", "damage"}, default "plain"
        "quiet" for details that few need, "warning" for what the answer lacks, "damage" for damaged data.
    strong : str, default ""
        Beginning of the sentence, shown in bold.
    """

    text: str
    tone: Tone = "plain"
    strong: str = ""

    @property
    def is_warning(self) -> bool:
        """Whether ``--quiet`` prints it: the one definition of a warning among the sentences of answers."""
        return self.tone in ("warning", "damage")

    def __str__(self) -> str:
        """Return the whole sentence."""
        return self.strong + self.text


def missing_sentences(name: str, missing: str | None) -> Iterator[Sentence]:
    """Warn about a text that is only a part of the text of its file; no sentence if ``missing`` is None."""
    if missing is not None:
        yield Sentence(f"Only a part of {name} was read: {missing}", "warning")
