"""A sentence of an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Tone = Literal["plain", "quiet", "warning", "damage"]


@dataclass(frozen=True, slots=True)
class Sentence:
    """Words as they are, names of documents in them too: who shows them escapes them.

    Parameters
    ----------
    text : str
    tone : {"plain", "quiet", "warning", "damage"}, default "plain"
        "quiet" is of use to few, "warning" says what the answer lacks, "damage" what is broken.
    strong : str, default ""
        What stands before the text and matters most.
    """

    text: str
    tone: Tone = "plain"
    strong: str = ""

    def __str__(self) -> str:
        """All of it."""
        return self.strong + self.text
