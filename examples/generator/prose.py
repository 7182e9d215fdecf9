"""Composing documents from the sentences in ``prose/``: chance that is the same on every machine, and slots to fill."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

PROSE = Path(__file__).with_name("prose")
T = TypeVar("T")


def _read_slots() -> dict[str, list[str]]:
    lines = (PROSE / "slots.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.split(": ", 1) for line in lines if line and not line.startswith("#"))
    return {name: values.split("|") for name, values in pairs}


SLOTS = _read_slots()
NUMBERS = {
    "number": (2, 40), "months": (2, 18), "days": (3, 60), "years": (2, 12), "hours": (2, 72), "percent": (2, 25),
    "day": (1, 28),
}  # fmt: skip
AMOUNTS = {"amount": (400, 9800, 10), "small": (5, 90, 1), "deposit": (10_000, 90_000, 500)}


class Chance:
    """Choices from a seed. Only ``random()`` is used: Python promises its values, not those of ``choice``."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed).random

    def below(self, n: int) -> int:
        """A whole number from 0 to n - 1."""
        return int(self._random() * n)

    def pick(self, of: Sequence[T]) -> T:
        """One of them."""
        return of[self.below(len(of))]

    def happens(self, probability: float) -> bool:
        """True with this probability."""
        return self._random() < probability

    def shuffled(self, of: Sequence[T]) -> list[T]:
        """All of them in another order."""
        left = list(of)
        return [left.pop(self.below(len(left))) for _ in range(len(left))]

    def name(self) -> str:
        """A person."""
        return f"{self.pick(SLOTS['first'])} {self.pick(SLOTS['last'])}"

    def company(self) -> str:
        """A company."""
        return f"{self.pick(SLOTS['last'])} {self.pick(SLOTS['trade'])}"

    def date(self) -> str:
        """A day in one of twenty years."""
        return f"{1 + self.below(28)} {self.pick(SLOTS['month'])} {2004 + self.below(20)}"


@dataclass(frozen=True, slots=True)
class Block:
    """One clause or subject: ``sentences[i]`` holds the ways to say its sentence ``i``."""

    kind: str
    title: str
    sentences: tuple[tuple[str, ...], ...]


def read_blocks(name: str) -> list[Block]:
    """The blocks of ``prose/name``; the notation is explained at the top of contracts.txt."""
    blocks = []
    for chunk in (PROSE / name).read_text(encoding="utf-8").split("\n== ")[1:]:
        head, *lines = [line for line in chunk.splitlines() if line]
        kind, _, title = head.rpartition(": ")
        sentences: list[list[str]] = []
        for line in lines:
            if line.startswith("/ "):
                sentences[-1].append(line[2:])
            else:
                sentences.append([line])
        blocks.append(Block(kind, title, tuple(map(tuple, sentences))))
    return blocks


def fill(sentence: str, chance: Chance, filled: dict[str, str]) -> str:
    """The sentence with its choices made; slots are filled from ``filled``, which grows by what was new."""

    def slot(match: re.Match[str]) -> str:
        name = match[1]
        if name not in filled:
            filled[name] = _new_value(name, chance)
        return filled[name]

    sentence = re.sub(r"\[([^]]*)\]", lambda match: chance.pick(match[1].split("|")), sentence)
    sentence = re.sub(r"\{(\w+)\}", slot, sentence)
    return sentence[0].upper() + sentence[1:]


def _new_value(name: str, chance: Chance) -> str:
    if name in SLOTS:
        return chance.pick(SLOTS[name])
    if name in NUMBERS:
        low, high = NUMBERS[name]
        return str(low + chance.below(high - low + 1))
    if name in AMOUNTS:
        low, high, step = AMOUNTS[name]
        return f"{low + step * chance.below((high - low) // step):,} crowns"
    if name == "evening":
        return f"{6 + chance.below(5)} in the evening"
    if name == "nth":
        day = 1 + chance.below(28)
        return f"{day}{ {1: 'st', 2: 'nd', 3: 'rd', 21: 'st', 22: 'nd', 23: 'rd'}.get(day, 'th') }"
    if name == "claim":
        return f"{chance.pick('ABCDEFGH')}-{1000 + chance.below(9000)}"
    if name == "date":
        return chance.date()
    raise KeyError(f"no way to fill the slot {{{name}}}")
