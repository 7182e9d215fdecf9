"""Write a small collection of contracts, mails and notices with planted versions, and the truth about them.

::

    python examples/generate.py examples/collection

Everything is invented, and the same on every machine. truth.jsonl has a line for each document: its ``family``
(documents made from one another), the ``edit`` that made it, what it was made ``of``, and its true similarity to that.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from generator.command import target_folder
from generator.contracts import CONTRACT_EDITS, Contract, compose_contract, drafts, render
from generator.mails import compose_thread
from generator.prose import Chance, read_blocks
from generator.similarity import containment, jaccard, shingles

N_CONTRACTS_OF_A_KIND = 16
N_THREADS = 45
N_DRAFTS = 7
T = TypeVar("T")
STRANGERS_SHARE_AT_MOST = 0.35  # Jaccard of word 5-shingles, between documents that have nothing to do with each other


@dataclass(frozen=True, slots=True)
class Document:
    """One document of the collection and what is true of it."""

    id: str
    text: str
    family: str
    edit: str
    of: str = ""


@dataclass(frozen=True, slots=True)
class Truth:
    """A line of truth.jsonl; similarities are to ``of``, in [0, 1], on shingles of 5 and of 3 words."""

    id: str
    family: str
    edit: str
    of: str
    jaccard_words_5: float | None
    jaccard_words_3: float | None
    containment_words_5: float | None


def contracts() -> list[Document]:
    """Families of contracts; some are chains of drafts, whose ends differ more than their neighbours."""
    blocks = read_blocks("contracts.txt")
    found: list[Document] = []
    strangers = Strangers()
    for kind in ("nda", "lease", "service"):
        for number in range(N_CONTRACTS_OF_A_KIND):
            family = f"{kind}-{number:02d}"
            compose = partial(compose_contract, kind, blocks)
            contract = strangers.until_new(compose, render, family)
            found += _versions(family, contract, Chance(f"versions of {family}"))
    return found


def _versions(family: str, contract: Contract, chance: Chance) -> list[Document]:
    original = Document(f"{family}/original", render(contract), family, "original")
    found = [original]
    if family.endswith("-05"):
        for k, text in enumerate(drafts(contract, N_DRAFTS, chance), 1):
            found.append(Document(f"{family}/draft-{k}", text, family, "next draft", found[-1].id))
        return found
    for edit, make in chance.shuffled(list(CONTRACT_EDITS.items()))[: chance.below(5)]:
        name = edit.replace(" ", "-")
        found.append(Document(f"{family}/{name}", make(contract, chance), family, edit, original.id))
    return found


def mails() -> list[Document]:
    """Threads: replies that quote, forwards, copies to other people and to a list."""
    subjects = read_blocks("mails.txt")
    strangers = Strangers()
    found = []
    for number in range(N_THREADS):
        family = f"mail-{number:02d}"
        thread = strangers.until_new(partial(compose_thread, subjects), lambda thread: thread[0].text, family)
        for k, mail in enumerate(thread):
            of = f"{family}/{mail.of}" if mail.edit != "original" else ""
            found.append(Document(f"{family}/{k}", mail.text, family, mail.edit, of))
    return found


def notices() -> list[Document]:
    """Chinese, Japanese and Thai: each notice, one with a sentence more, one in other widths of the same characters."""
    blocks = read_blocks("languages.txt")
    found = []
    wide = {ord(a): ord(a) + 0xFEE0 for a in "0123456789,"}
    for number, block in enumerate(blocks):
        family = f"{block.kind}-{number:02d}"
        lines = [ways[0] for ways in block.sentences]
        other = blocks[(number + 1) % len(blocks)]
        extra = other.sentences[2][0] if other.kind == block.kind else block.sentences[0][0]
        gap = " " if block.kind == "th" else ""
        original = Document(f"{family}/original", gap.join(lines), family, "original")
        versions = {
            "sentence added": gap.join([*lines, extra]),
            "sentence removed": gap.join(lines[:2] + lines[3:]),
            "full width digits": gap.join(lines).translate(wide),
        }
        found.append(original)
        found += [Document(f"{family}/{e.replace(' ', '-')}", t, family, e, original.id) for e, t in versions.items()]
    return found


def passages(documents: list[Document]) -> list[Document]:
    """An evaluation set: half of its passages were cut from the documents, half are new."""
    chance = Chance("passages")
    sources = [document for document in documents if document.edit == "original" and len(document.text) > 1500]
    held = [shingles(document.text, 5) for document in documents]
    blocks = read_blocks("contracts.txt")
    found = []
    for number in range(24):
        family = f"passage-{number:02d}"
        if number % 2 == 0:
            source = chance.pick(sources)
            lines = source.text.split("\n\n")
            start = 1 + chance.below(len(lines) - 4)
            text = " ".join(" ".join(lines[start : start + 3]).split())
            found.append(Document(family, text, source.family, "excerpt", source.id))
            continue
        while True:
            contract = compose_contract(chance.pick(("nda", "lease", "service")), blocks, chance)
            text = " ".join(sentence for clause in contract.clauses[:3] for sentence in clause.sentences)
            cut = shingles(text, 5)
            if max(containment(cut, other) for other in held) < STRANGERS_SHARE_AT_MOST:
                break
        found.append(Document(family, text, family, "original"))
    return found


def oddities() -> list[Document]:
    """Empty, tiny, only punctuation, only numbers: duplicates of nothing unless they are equal."""
    texts = [
        "",
        "   \n\t ",
        "OK",
        "ok",
        "Thanks!",
        "…",
        "Received.",
        "4711",
        "4711 4712 4713",
        "\u200b",
        "Yes. No. Yes.",
        "鍵",
    ]
    return [Document(f"odd-{number:02d}", text, f"odd-{number:02d}", "odd") for number, text in enumerate(texts)]


BROKEN_LINES = (
    b'{"id": "broken-00", "text": "this line ends too early\n',
    b'{"id": "broken-01", "text": "Gr\xfc\xdfe: these bytes are Latin-1, not UTF-8"}\n',
    b'{"id": "broken-02", "text": null}\n',
    b'{"id": "broken-03"}\n',
    b'["broken-04", "a list where an object belongs"]\n',
)


class Strangers:
    """Draws again until a document shares little with those that came before."""

    def __init__(self) -> None:
        self._seen: list[frozenset[tuple[str, ...]]] = []

    def until_new(self, compose: Callable[[Chance], T], text: Callable[[T], str], name: str) -> T:
        """Return the first composition that is not by chance a near-duplicate of another."""
        for attempt in range(100):
            made = compose(Chance(f"{name} {attempt}"))
            found = shingles(text(made), 5)
            if all(jaccard(found, other) < STRANGERS_SHARE_AT_MOST for other in self._seen):
                self._seen.append(found)
                return made
        raise RuntimeError(f"{name}: a hundred drafts, each too near to an earlier document; the prose is too small")


def truth(documents: list[Document]) -> Iterable[Truth]:
    """What is true of each document."""
    sets = {d.id: (shingles(d.text, 5), shingles(d.text, 3)) for d in documents}
    for d in documents:
        if not d.of:
            yield Truth(d.id, d.family, d.edit, d.of, None, None, None)
            continue
        (five, three), (of_five, of_three) = sets[d.id], sets[d.of]
        measured = (jaccard(five, of_five), jaccard(three, of_three), containment(of_five, five))
        if d.edit == "excerpt":
            measured = (*measured[:2], containment(five, of_five))
        yield Truth(d.id, d.family, d.edit, d.of, *(round(value, 6) for value in measured))


def write_collection(folder: Path) -> dict[str, int]:
    """Write the files into ``folder``; returns the number of documents in each."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = {"contracts": contracts(), "mails": mails(), "notices": notices(), "oddities": oddities()}
    parts["passages"] = passages([*parts["contracts"], *parts["mails"]])
    everything = [document for part in parts.values() for document in part]
    for name, documents in parts.items():
        lines = [{"id": document.id, "text": document.text} for document in documents]
        _write_lines(folder / f"{name}.jsonl", lines)
    with (folder / "oddities.jsonl").open("ab") as odd:
        odd.writelines(BROKEN_LINES)
    _write_lines(folder / "truth.jsonl", map(asdict, truth(everything)))
    return {name: len(documents) for name, documents in parts.items()}


def _write_lines(path: Path, objects: Iterable[object]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in objects)


if __name__ == "__main__":
    target = target_folder(__doc__, "examples/collection")
    for part, count in write_collection(target).items():
        print(f"{target / part}.jsonl  {count} documents")
