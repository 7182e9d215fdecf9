"""Contracts composed of clauses, and the ways in which versions of a contract come about."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from generator.prose import Block, Chance, fill

TITLES = {"nda": "Agreement on silence", "lease": "Contract of lease", "service": "Contract for service"}
MISREADINGS = {"l": "1", "O": "0", "e": "c", "h": "b", "m": "rn", "i": "l", "u": "n", "t": "f", "S": "5", "a": "o"}


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause as it stands in one contract; ``block`` and ``ways`` say how it came about."""

    block: Block
    ways: tuple[int, ...]
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Contract:
    """A contract, with what its slots were filled with; ``unused`` are clauses that fit and were not taken."""

    kind: str
    clauses: tuple[Clause, ...]
    unused: tuple[Block, ...]
    filled: dict[str, str]


def compose_contract(kind: str, blocks: Sequence[Block], chance: Chance) -> Contract:
    """A new contract of this kind."""
    fitting = chance.shuffled([block for block in blocks if block.kind in (kind, "any")])
    taken = fitting[: 8 + chance.below(4)]
    filled = {"A": chance.company(), "B": chance.company() if kind != "lease" else chance.name()}
    clauses = tuple(_clause(block, chance, filled) for block in taken)
    return Contract(kind, clauses, tuple(fitting[len(taken) :]), filled)


def _clause(block: Block, chance: Chance, filled: dict[str, str]) -> Clause:
    ways = tuple(chance.below(len(sentence)) for sentence in block.sentences)
    said = [fill(sentence[way], chance, filled) for sentence, way in zip(block.sentences, ways, strict=True)]
    return Clause(block, ways, tuple(said))


def render(contract: Contract, width: int = 88) -> str:
    """The text: a title, the parties, the clauses in paragraphs, lines to sign on."""
    head = f"{TITLES[contract.kind]}\n\nbetween {contract.filled['A']} and {contract.filled['B']}"
    paragraphs = [f"{clause.block.title}. {' '.join(clause.sentences)}" for clause in contract.clauses]
    foot = "For the one side: ____________    For the other: ____________"
    return "\n\n".join([head, *(textwrap.fill(paragraph, width) for paragraph in paragraphs), foot]) + "\n"


def signed(contract: Contract, chance: Chance) -> str:
    """The blanks at the end filled in."""
    text = render(contract)
    body = text[: text.index("For the one side")]
    hands = [f"{chance.name()} ({contract.filled[side]}), on {chance.date()}" for side in "AB"]
    return f"{body}For the one side: {hands[0]}\nFor the other: {hands[1]}\n"


def other_parties(contract: Contract, chance: Chance) -> str:
    """The same form filled in for somebody else: new names, places, dates and sums, the same sentences."""
    text = render(contract, width=10_000)
    fresh: dict[str, str] = {
        "A": chance.company(),
        "B": chance.company() if contract.kind != "lease" else chance.name(),
    }
    for name, value in sorted(contract.filled.items(), key=lambda item: -len(item[1])):
        if len(value) > 3:
            fill(f"{{{name}}}", chance, fresh)
            text = text.replace(value, fresh[name])
    return _wrapped(text)


def scanned(contract: Contract, chance: Chance) -> str:
    """Read back from paper: some letters misread, narrow lines."""
    one_in = chance.pick((60, 150, 400))
    text = "".join(MISREADINGS.get(c, c) if chance.below(one_in) == 0 else c for c in render(contract, width=10_000))
    return _wrapped(text, width=56)


def clause_inserted(contract: Contract, chance: Chance) -> str:
    """A clause more, somewhere in the middle."""
    at = 1 + chance.below(len(contract.clauses) - 1)
    new = _clause(chance.pick(contract.unused), chance, dict(contract.filled))
    return render(replace(contract, clauses=(*contract.clauses[:at], new, *contract.clauses[at:])))


def clause_removed(contract: Contract, chance: Chance) -> str:
    """A clause less."""
    at = chance.below(len(contract.clauses))
    return render(replace(contract, clauses=contract.clauses[:at] + contract.clauses[at + 1 :]))


def reordered(contract: Contract, chance: Chance) -> str:
    """The same clauses in another order."""
    return render(replace(contract, clauses=tuple(chance.shuffled(contract.clauses))))


def revised(contract: Contract, chance: Chance) -> str:
    """One or two clauses said in other words."""
    revising = chance.shuffled(range(len(contract.clauses)))[: 1 + chance.below(2)]
    clauses = [_reworded(c, chance, contract.filled) if i in revising else c for i, c in enumerate(contract.clauses)]
    return render(replace(contract, clauses=tuple(clauses)))


def _reworded(clause: Clause, chance: Chance, filled: dict[str, str]) -> Clause:
    ways = tuple((way + 1) % len(said) for way, said in zip(clause.ways, clause.block.sentences, strict=True))
    sentences = zip(clause.block.sentences, ways, strict=True)
    return Clause(clause.block, ways, tuple(fill(said[way], chance, dict(filled)) for said, way in sentences))


def retyped(contract: Contract, chance: Chance) -> str:
    """The same words with other line ends, spaces and capitals: an exact copy once normalised."""
    text = render(contract, width=40 + chance.below(20)).replace("\n", "\r\n")
    return text.upper() if chance.happens(0.5) else text.replace("  ", " \u00a0 ")


def copied(contract: Contract, chance: Chance) -> str:
    """The very same bytes."""
    return render(contract)


def drafts(contract: Contract, n: int, chance: Chance) -> list[str]:
    """The next ``n`` drafts of a contract under negotiation, one clause more reworded in each."""
    clauses = list(contract.clauses)
    texts = []
    for at in chance.shuffled(range(len(clauses)))[:n]:
        clauses[at] = _reworded(clauses[at], chance, contract.filled)
        texts.append(render(replace(contract, clauses=tuple(clauses))))
    return texts


def _wrapped(text: str, width: int = 88) -> str:
    paragraphs = text.rstrip("\n").split("\n\n")
    return "\n\n".join(textwrap.fill(paragraph, width) for paragraph in paragraphs) + "\n"


CONTRACT_EDITS: dict[str, Callable[[Contract, Chance], str]] = {
    "signed": signed,
    "other parties": other_parties,
    "scanned": scanned,
    "clause inserted": clause_inserted,
    "clause removed": clause_removed,
    "reordered": reordered,
    "revised": revised,
    "retyped": retyped,
    "exact copy": copied,
}
