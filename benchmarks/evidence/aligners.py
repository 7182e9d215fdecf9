"""Translation tables against a dictionary: how often its translation of a word is the likeliest, or among five.

``python benchmarks/evidence/aligners.py --data FOLDER``
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from pathlib import Path

from pairs import data_folder, print_table

from nearkin.stages.translation.table import TranslationTable
from nearkin.workflows.aligning.dictionary import read_dictionary
from nearkin.workflows.aligning.parallel import ParallelCorpus
from nearkin.workflows.aligning.training import AlignOptions, train
from nearkin.workflows.table_words import TableWords

MIN_OCCURRENCES = 5


def frequent_words(corpus: ParallelCorpus) -> tuple[set[str], set[str]]:
    """The words of each language that occur often enough to be learned."""
    words = TableWords(corpus.source, corpus.target)
    counts: tuple[Counter[str], Counter[str]] = Counter(), Counter()
    for pair in corpus.batches(progress=lambda n: None, say=lambda message: None):
        for counted, batch, split in zip(counts, pair, (words.of_source, words.of_target), strict=True):
            found = split(batch["text"].cast("large_string"))
            counted.update(found.words.take(found.ids).to_pylist())
    source, target = ({word for word, n in counted.items() if n >= MIN_OCCURRENCES} for counted in counts)
    return source, target


def known_translations(
    dictionary: TranslationTable, source: set[str], target: set[str], *, is_reverse: bool
) -> dict[str, set[str]]:
    """Of each frequent word its translations in the dictionary that are frequent too."""
    known = defaultdict(set)
    rows = dictionary.rows
    ours = rows.source_words.take(rows.source).to_pylist(), rows.target_words.take(rows.target).to_pylist()
    for one, other in zip(*(ours[::-1] if is_reverse else ours), strict=True):
        if one in source and other in target:
            known[one].add(other)
    return known


def hits(table: TranslationTable, known: dict[str, set[str]], *, is_reverse: bool) -> tuple[str, str, str]:
    """How many words, and the share of them with a known translation at the top, among the first five."""
    best = five = 0
    for word, translations in known.items():
        found = [one.word for one in table.lookup(word, is_reverse=is_reverse)[:5]]
        best += found[:1] != [] and found[0] in translations
        five += not translations.isdisjoint(found)
    return f"{len(known):,}", f"{best / len(known):.3f}", f"{five / len(known):.3f}"


def print_aligners(folder: Path) -> None:
    corpus = ParallelCorpus(paths=[str(folder / "sentence_pairs.parquet")], source="de", target="en")
    dictionary = read_dictionary(folder / "wiktionary_en_de.tsv", source="en", target="de").table.turned()
    source, target = frequent_words(corpus)
    rows = []
    for iterations in (5, 10):
        started = time.perf_counter()
        aligned = train(corpus, AlignOptions(iterations=iterations))
        elapsed_s = time.perf_counter() - started
        for is_reverse in (False, True):
            sides = (target, source) if is_reverse else (source, target)
            known = known_translations(dictionary, *sides, is_reverse=is_reverse)
            rows.append((
                aligned.table.origin.aligner, "en → de" if is_reverse else "de → en",
                *hits(aligned.table, known, is_reverse=is_reverse), f"{aligned.align_s:.1f}", f"{elapsed_s:.1f}",
                f"{aligned.n_pairs / elapsed_s:,.0f}",
            ))  # fmt: skip
    print_table(
        f"Words that occur {MIN_OCCURRENCES} times or more, whose translation in the dictionary does too",
        ("aligner", "direction", "words", "the likeliest", "among five", "aligning, s", "all, s", "pairs a second"),
        rows,
    )


if __name__ == "__main__":
    print_aligners(data_folder(__doc__))
