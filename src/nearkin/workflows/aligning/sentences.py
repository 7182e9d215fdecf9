"""Summaries of ``nearkin align``: the sentence pairs that were read, and the table that was learned."""

from __future__ import annotations

from collections.abc import Iterator

from nearkin.nouns import counted
from nearkin.reports.sentences.exceptions import damage_sentences
from nearkin.reports.sentences.sentence import Sentence
from nearkin.stages.translation.model_1 import MAX_WORDS
from nearkin.stages.translation.table import TranslationTable
from nearkin.workflows.aligning.dictionary import DictionaryRead
from nearkin.workflows.aligning.training import Aligned


def aligned_sentences(aligned: Aligned) -> Iterator[Sentence]:
    """Count the pairs of sentences and the omitted ones, say how well the model fits, and describe the table."""
    word_pairs = counted(aligned.n_word_pairs, "pair")
    yield Sentence(f", {word_pairs} of words", strong=f"{counted(aligned.n_pairs, 'pair')} of sentences")
    for n, why in (
        (aligned.n_empty, "one side is empty"),
        (aligned.n_too_long, f"one side has more than {MAX_WORDS} words"),
        (aligned.n_unreadable, "unreadable"),
    ):
        if n:
            yield Sentence(f"{counted(n, 'pair')} skipped: {why}", "warning")
    yield from damage_sentences(aligned.damaged_files, "The table has")
    origin = aligned.table.origin
    for language, perplexities in zip((origin.target, origin.source), aligned.perplexities):
        steps = " → ".join(f"{one:,.1f}" for one in perplexities)
        yield Sentence(f"perplexity per word ({language}), by iteration: {steps}")
    yield Sentence(f"{aligned.elapsed_s:.1f} s ({aligned.align_s:.1f} s of alignment)")
    yield table_sentence(aligned.table)


def dictionary_sentences(made: DictionaryRead) -> Iterator[Sentence]:
    """Count the entries and the omitted ones, and describe the table."""
    yield Sentence("", strong=counted(made.n_entries, "entry", "entries"))
    for n, why in (
        (made.n_of_several_words, "more than one word on a side"),
        (made.n_repeated, "repeated entries"),
        (made.n_without_tab, "lines without a tab"),
    ):
        if n:
            yield Sentence(f"{n:,} skipped: {why}")
    yield table_sentence(made.table)


def table_sentence(table: TranslationTable) -> Sentence:
    """Count the translations and the words of a table."""
    source = f"{counted(len(table.source_words), 'word')} of {table.origin.source}"
    target = f"{len(table.target_words):,} of {table.origin.target}"
    return Sentence(f" of {source} and {target}", strong=counted(len(table), "translation"))
