"""Pairs of sentences, and bulletins of a harbour town, in German and English, from ``prose/bulletins.txt``."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from generator.prose import PROSE, Chance

LANGUAGES = ("de", "en")
FORMS = ({"nom": 0, "acc": 1, "dat": 2, "in": -1}, {"": 0, "in": -1})
NUMBERS = {"n": (2, 60), "price": (2, 90), "hour": (6, 12), "year": (1780, 1960)}
PARAGRAPHS = 3
Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Prose:
    """What the file holds: for each slot its values, and for each heading its pairs of sentences.

    A value is its forms in German and its forms in English.
    """

    slots: dict[str, list[tuple[list[str], list[str]]]] = field(default_factory=dict)
    blocks: dict[str, list[Pair]] = field(default_factory=dict)

    @property
    def topics(self) -> list[str]:
        """The headings of paragraphs."""
        return [name for name in self.blocks if name != "sentences"]


@dataclass(frozen=True, slots=True)
class Bulletin:
    """A document in both languages: paragraph ``i`` of one is the translation of paragraph ``i`` of the other."""

    topics: tuple[str, ...]
    paragraphs: tuple[Pair, ...]

    def text(self, language: str) -> str:
        """All paragraphs in one language."""
        return "\n\n".join(paragraph[LANGUAGES.index(language)] for paragraph in self.paragraphs)


def read_prose() -> Prose:
    """The slots and sentences of ``prose/bulletins.txt``; the notation is explained at its top."""
    prose, block = Prose(), []
    for line in (PROSE / "bulletins.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("== "):
            block = prose.blocks.setdefault(line[3:], [])
        elif line.startswith("= "):
            block[-1] = (block[-1][0], line[2:])
        elif line and prose.blocks:
            block.append((line, ""))
        elif line and not line.startswith("#"):
            name, _, value = line.partition(": ")
            german, english = (side.split(", ") for side in value.split(" = "))
            prose.slots.setdefault(name, []).append((german, english))
    return prose


class Filler:
    """Fills the slots of the sentences of one paragraph, the same in both languages."""

    def __init__(self, prose: Prose, chance: Chance) -> None:
        self._prose = prose
        self._chance = chance
        self._filled: dict[str, tuple[list[str], list[str]]] = {}

    def fill(self, pair: Pair) -> Pair:
        """Both sentences."""
        german, english = (self._one(sentence, side) for side, sentence in enumerate(pair))
        return german, english

    def _one(self, sentence: str, side: int) -> str:
        def slot(match: re.Match[str]) -> str:
            forms = self._value(match[1])[side]
            return forms[0] if len(forms) == 1 else forms[FORMS[side][match[2] or ""]]

        filled = re.sub(r"\{(\w+)(?::(\w+))?\}", slot, sentence)
        return filled[0].upper() + filled[1:]

    def _value(self, name: str) -> tuple[list[str], list[str]]:
        if name not in self._filled:
            kind = name.rstrip("0123456789")
            taken = [value for other, value in self._filled.items() if other.rstrip("0123456789") == kind]
            self._filled[name] = self._new(kind)
            while self._filled[name] in taken:
                self._filled[name] = self._new(kind)
        return self._filled[name]

    def _new(self, kind: str) -> tuple[list[str], list[str]]:
        if kind in NUMBERS:
            low, high = NUMBERS[kind]
            number = str(low + self._chance.below(high - low + 1))
            return [number], [number]
        return self._chance.pick(self._prose.slots[kind])


def compose_sentences(prose: Prose, n: int) -> list[Pair]:
    """``n`` different pairs of sentences, every template as often as the others."""
    chance, found = Chance("sentences"), dict[Pair, None]()
    templates = prose.blocks["sentences"]
    while len(found) < n:
        for template in chance.shuffled(templates)[: n - len(found)]:
            found[Filler(prose, chance).fill(template)] = None
    return list(found)


def compose_bulletin(prose: Prose, number: int, earlier: list[Bulletin]) -> Bulletin:
    """A bulletin whose topics are as different from those of each earlier one as they can easily be."""
    chance = Chance(f"bulletin {number}")
    drafts = [tuple(chance.shuffled(prose.topics)[:PARAGRAPHS]) for _ in range(50)]
    shared = [max((len(set(draft) & set(one.topics)) for one in earlier), default=0) for draft in drafts]
    topics = drafts[shared.index(min(shared))]
    date = (1 + chance.below(28), *chance.pick(prose.slots["month"]))
    title = (f"Mitteilungen vom {date[0]}. {date[1][0]}", f"Notices of {date[0]} {date[2][0]}")
    return Bulletin(topics, (title, *(compose_paragraph(prose, topic, chance) for topic in topics)))


def compose_paragraph(prose: Prose, topic: str, chance: Chance) -> Pair:
    """Three or four sentences on a topic, in order."""
    filler, sentences = Filler(prose, chance), prose.blocks[topic]
    kept = sorted(chance.shuffled(list(range(len(sentences))))[: 3 + chance.below(2)])
    filled = [filler.fill(sentences[i]) for i in kept]
    return " ".join(pair[0] for pair in filled), " ".join(pair[1] for pair in filled)
