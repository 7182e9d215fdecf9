"""Write a training set and an evaluation set, some of whose items leaked into the training set.

::

    python examples/benchmark.py benchmark

Everything is invented, and the same on every machine: pages and questions are made of words that mean nothing.
"""

from __future__ import annotations

import json
from pathlib import Path

from generator.command import target_folder
from generator.prose import Chance

N_PAGES, N_NOTES = 300, 30
N_QUESTIONS = 40
LEAKED_WHOLE, LEAKED_IN_PART, SHORT = range(12), range(12, 18), range(36, 40)
"""Numbers of questions: those that stand in a page, those of which one half does, those of three words."""
_CONSONANTS, _VOWELS = "bdfgklmnprst", "aeio"


def _words(chance: Chance, n: int) -> list[str]:
    def syllable() -> str:
        return chance.pick(_CONSONANTS) + chance.pick(_VOWELS)

    return ["".join(syllable() for _ in range(2 + chance.below(3))) for _ in range(n)]


def questions() -> dict[str, str]:
    """The items of the evaluation set by their ids."""
    found = {}
    for number in range(N_QUESTIONS):
        chance = Chance(f"question {number}")
        n_words = 3 if number in SHORT else 30 + chance.below(30)
        found[f"question-{number:02d}"] = " ".join(_words(chance, n_words)).capitalize() + "?"
    return found


def training() -> dict[str, str]:
    """Pages and short notes by their ids; each leaked question, or half of it, stands in the middle of a page."""
    found = {}
    items = list(questions().values())
    for number in range(N_PAGES):
        chance = Chance(f"page {number}")
        words = _words(chance, 80 + chance.below(120))
        question, is_leak = divmod(number, 10)
        if not is_leak and question in (*LEAKED_WHOLE, *LEAKED_IN_PART):
            quoted = items[question].rstrip("?").upper().split()
            words[40:40] = quoted if question in LEAKED_WHOLE else quoted[: len(quoted) // 2]
        found[f"page-{number:03d}"] = " ".join(words)
    for number in range(N_NOTES):
        found[f"note-{number:02d}"] = " ".join(_words(Chance(f"note {number}"), 6))
    return found


def write_benchmark(folder: Path) -> dict[str, str]:
    """Write the files into ``folder``; returns what is in each."""
    folder.mkdir(parents=True, exist_ok=True)
    written = {}
    for name, texts in (("train.jsonl", training()), ("eval.jsonl", questions())):
        lines = [json.dumps({"id": doc_id, "text": text}) + "\n" for doc_id, text in texts.items()]
        (folder / name).write_text("".join(lines), encoding="utf-8", newline="\n")
        written[name] = f"{len(texts)} documents"
    return written


if __name__ == "__main__":
    target = target_folder(__doc__, "examples/benchmark")
    for part, what in write_benchmark(target).items():
        print(f"{target / part}  {what}")
