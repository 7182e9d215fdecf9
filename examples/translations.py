"""Write pairs of sentences in German and English, and bulletins in both languages, most of them translations.

::

    python examples/translations.py translations

Everything is invented, and the same on every machine. Bulletins that have the same id are translations of each other,
except for a paragraph more or less in some; a few stand on one side only.
"""

from __future__ import annotations

import json
from pathlib import Path

from generator.bulletins import LANGUAGES, Bulletin, compose_bulletin, compose_paragraph, compose_sentences, read_prose
from generator.command import target_folder
from generator.prose import Chance

N_SENTENCES = 600
N_BULLETINS = 60
ONLY_GERMAN, ONLY_ENGLISH = range(50, 55), range(55, 60)
ADDED_IN_GERMAN, MISSING_IN_ENGLISH = (7, 19, 31, 43), (11, 23, 37)


def bulletins() -> list[Bulletin]:
    """All of them, whole in both languages."""
    prose, found = read_prose(), list[Bulletin]()
    for number in range(N_BULLETINS):
        found.append(compose_bulletin(prose, number, found))
    return found


def texts(language: str) -> dict[str, str]:
    """The bulletins of one language by their ids, as they are in this language."""
    prose, found = read_prose(), {}
    for number, bulletin in enumerate(bulletins()):
        if number in (ONLY_ENGLISH if language == "de" else ONLY_GERMAN):
            continue
        text = bulletin.text(language)
        if language == "de" and number in ADDED_IN_GERMAN:
            chance = Chance(f"added to {number}")
            topic = chance.pick([topic for topic in prose.topics if topic not in bulletin.topics])
            text += "\n\n" + compose_paragraph(prose, topic, chance)[0]
        if language == "en" and number in MISSING_IN_ENGLISH:
            text = text.rpartition("\n\n")[0]
        found[f"bulletin-{number:02d}"] = text
    return found


def write_translations(folder: Path) -> dict[str, str]:
    """Write the files into ``folder``; returns what is in each."""
    folder.mkdir(parents=True, exist_ok=True)
    pairs = compose_sentences(read_prose(), N_SENTENCES)
    lines = ["\t".join(pair) for pair in (LANGUAGES, *pairs)]
    (folder / "sentences.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    written = {"sentences.tsv": f"{len(pairs)} pairs of sentences"}
    for language in LANGUAGES:
        name, documents = f"bulletins.{language}.jsonl", texts(language)
        with (folder / name).open("w", encoding="utf-8", newline="\n") as file:
            for doc_id, text in documents.items():
                file.write(json.dumps({"id": doc_id, "text": text}, ensure_ascii=False) + "\n")
        written[name] = f"{len(documents)} documents"
    return written


if __name__ == "__main__":
    target = target_folder(__doc__, "examples/translations")
    for part, what in write_translations(target).items():
        print(f"{target / part}  {what}")
