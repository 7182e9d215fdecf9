"""Sentence of an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Tone = Literal["plain", "quiet", "warning", "damage"]


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

    def __str__(self) -> str:
        """Return the whole sentence."""
        return self.strong + self.text
