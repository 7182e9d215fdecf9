"""A translation table as this version learns it; see ``golden.py`` for when a new folder is written."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from nearkin.stages.translation.table import TranslationTable
from nearkin.workflows.aligning.parallel import ParallelCorpus
from nearkin.workflows.aligning.training import AlignOptions, train

PAIRS = [
    ("Das Haus ist grün.", "The house is green."),
    ("Das Buch ist ＡＬＴ!", "The book is old!"),
    ("Ein Haus, ein Buch: 1990", "A house, a book: 1990"),
    ("Überall soft\u00adhyphen", "everywhere a soft\u00adhyphen"),
    ("本契約", "this contract"),
    ("", "nothing"),
]


def made() -> TranslationTable:
    """By Model 1, of a few pairs of sentences."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, "a.de"), Path(folder, "a.en")]
        for side, path in enumerate(paths):
            path.write_text("".join(f"{pair[side]}\n" for pair in PAIRS), encoding="utf-8")
        corpus = ParallelCorpus(paths=[str(path) for path in paths], source="de", target="en")
        return train(corpus, AlignOptions()).table


if __name__ == "__main__":
    made().write(Path(__file__).parent / sys.argv[1] / "translation.table")
