"""``nearkin align``: translation tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from nearkin.cli.answering import answer, check_free, place_line, working
from nearkin.cli.command_line import CommandEntry, CommandGroup
from nearkin.errors import ParameterError
from nearkin.options.declared import Option, Options, Same, argument, option
from nearkin.options.dedup import IgnoringOptions
from nearkin.options.reading import EncodingOptions
from nearkin.options.running import FileCommand, PrintOptions, ResourceOptions
from nearkin.reports.facts.fact import Fact, Table, damage_facts, warning
from nearkin.stages.documents.formats import WITH_COLUMNS
from nearkin.stages.documents.rules import OnError, ReadingRules
from nearkin.workflows.resources import Resources

if TYPE_CHECKING:
    from nearkin.stages.translation.rows import Pruning
    from nearkin.stages.translation.table import TranslationTable
    from nearkin.workflows.aligning.dictionary import DictionaryRead, LookedUp
    from nearkin.workflows.aligning.training import Aligned


_HELP = """
Learn translation tables from parallel sentences, and look words up in them. A table holds p(target | source) and \
p(source | target) of every word pair.
"""
TRAIN_HELP = """
Learn a translation table from parallel sentences: two text files, line by line, or one TMX, CSV, TSV, Parquet or \
JSON Lines file.

Examples:

  nearkin align train news.de news.en --source de --target en --out de-en.table

  nearkin align train memory.tmx --source de --target en --out de-en.table

  nearkin align train pairs.parquet --source de --target en --stem --out de-en.table
"""
DICTIONARY_HELP = """
Make a translation table from a dictionary: lines of a word, a tab, and its translation. Entries with one word on \
each side are used, the others are counted. All translations of a word get the same probability.

Example:

  nearkin align dictionary en-de.tsv --source en --target de --out en-de.table
"""
MERGE_HELP = """
Merge tables of several corpora. Each word's translations are weighted by its frequency in each corpus.

Example:

  nearkin align merge news.table laws.table --out both.table
"""
PRUNE_HELP = """
Drop unlikely translations: in each direction those below --min-probability, and all but the --max-translations most \
likely ones of a word. The remaining probabilities of a word sum to 1 again.

Example:

  nearkin align prune de-en.table --max-translations 5 --out small.table
"""
SHOW_HELP = """
List the translations of a word, the most likely first.

Examples:

  nearkin align show de-en.table Haus

  nearkin align show de-en.table house --reverse
"""
align = CommandGroup(
    "align",
    _HELP,
    {
        "Commands": (
            CommandEntry("train", "Learn a table from parallel sentences", "align"),
            CommandEntry("dictionary", "Make a table from a dictionary", "align"),
            CommandEntry("merge", "Merge tables of several corpora", "align"),
            CommandEntry("prune", "Drop unlikely translations from a table", "align"),
            CommandEntry("show", "List the translations of a word", "align"),
        )
    },
)
_input = partial(option, panel="Input")
_learning = partial(option, panel="The table")
_TABLE = argument("TABLE", kind=Path, help="Translation table from nearkin align.")


class TableCommand(FileCommand):
    """A command that writes a table."""

    overwrite: Same[bool] = option(False, panel="The run", help="Replace the file of --out.")

    def check_out(self) -> None:
        """Refuse a file that cannot be written, before any work is done."""
        check_free(self.out, overwrite=self.overwrite, holds="a translation table")


class SentenceOptions(EncodingOptions):
    """Languages of what is read, and what to do with a broken line."""

    source: Same[str] = _input(required=True, metavar="LANG", help="Language code of the first side, such as de.")
    target: Same[str] = _input(required=True, metavar="LANG", help="Language code of the second side.")
    on_error: Same[OnError] = _input(
        "stop",
        help="stop: stop at a broken line or a damaged file. skip-documents: skip and count broken lines. skip: also "
        "use the lines before the damage of a file.",
    )
    stem: Same[bool] = _learning(False, help="Learn Snowball stems instead of words.")


class PruningOptions(Options):
    """Translations that a table holds."""

    min_probability: Same[float] = _learning(0.005, help="Minimum probability of a translation, in each direction.")
    max_translations: Same[int] = _learning(20, help="Maximum number of translations of a word, in each direction.")

    def pruning(self) -> Pruning:
        """Return the rule by which translations are dropped."""
        from nearkin.stages.translation.rows import Pruning

        return Pruning(self.min_probability, self.max_translations)


def _columns(given: str) -> tuple[str, str]:
    source, comma, target = given.partition(",")
    if not (source and comma and target):
        raise ParameterError.of("text", "two columns with a comma between them", given)
    return source, target


class TrainCommand(TableCommand, ResourceOptions, PruningOptions, IgnoringOptions, SentenceOptions):
    """Options of the command."""

    parallel: Same[Sequence[str]] = argument(
        "PARALLEL...", kind=list,
        help="Two text files whose lines translate each other; or one TMX, CSV, TSV, Parquet or JSON Lines file.",
    )  # fmt: skip
    text: Option[tuple[str, str] | None, str] = _input(
        metavar="COLUMN,COLUMN", parse=_columns,
        help="Columns of the two languages. [default: the columns with their codes]",
    )  # fmt: skip
    file_format: Same[str | None] = _input(
        names=("--format",),
        help=f"tmx, {', '.join(WITH_COLUMNS[:-1])} or {WITH_COLUMNS[-1]}. [default: from the name]",
    )


def train(job: TrainCommand) -> None:
    """Learn a table."""
    from nearkin.stages.documents.ignoring import Ignored
    from nearkin.stages.translation.model_1 import Model1
    from nearkin.workflows.aligning.parallel import ParallelCorpus
    from nearkin.workflows.aligning.training import AlignOptions
    from nearkin.workflows.aligning.training import train as learn

    job.check_out()
    source_column, target_column = job.text or (None, None)
    corpus = ParallelCorpus(
        paths=job.parallel, source=job.source, target=job.target, source_column=source_column,
        target_column=target_column, file_format=job.file_format, encoding=job.encoding,
    )  # fmt: skip
    options = AlignOptions(
        stem=job.stem, pruning=job.pruning(), rules=ReadingRules.of(job.on_error),
        ignored=Ignored.of(job.ignore, numbers=job.ignore_numbers),
    )  # fmt: skip
    with working(job) as bars:
        bars.say(f"aligned by {Model1(options.iterations).fingerprint}")
        aligned = learn(corpus, options, resources=Resources.of(job.threads, job.memory), progress=bars)
    _write(job, aligned.summary(), _aligned_facts(aligned), aligned.table)


def _write(job: TableCommand, summary: object, facts: Iterable[Fact], table: TranslationTable) -> None:
    from nearkin.runs.files import published

    with published(job.out) as aside:
        table.write(aside)

    source, target = table.origin.source, table.origin.target
    words = f"words: {len(table.source_words):,} of {source}, {len(table.target_words):,} of {target}"
    place = place_line(f"Table {table.fingerprint}", job.out)
    answer(job, summary, [*facts, Fact("translations", len(table), words), place])


def _aligned_facts(aligned: Aligned) -> Iterator[Fact]:
    from nearkin.stages.translation.model_1 import MAX_WORDS

    yield Fact("pairs of sentences", aligned.n_pairs)
    yield Fact("pairs of words", aligned.n_word_pairs)
    origin = aligned.table.origin
    for language, perplexities in zip((origin.target, origin.source), aligned.perplexities):
        steps = " → ".join(f"{perplexity:,.1f}" for perplexity in perplexities)
        yield Fact(f"perplexity, {language}", steps, "per word, by iteration")
    yield Fact("time", f"{aligned.elapsed_s:.1f} s", f"{aligned.align_s:.1f} s of alignment")
    yield from damage_facts(aligned.damaged_files)
    yield from warning("skipped: one side is empty", aligned.n_empty, "")
    yield from warning(f"skipped: more than {MAX_WORDS} words", aligned.n_too_long, "")
    yield from warning("skipped: unreadable", aligned.n_unreadable, "")


def _dictionary_facts(made: DictionaryRead) -> Iterator[Fact]:
    yield Fact("entries", made.n_entries)
    yield Fact("skipped", made.n_of_several_words, "more than one word on a side")
    yield Fact("skipped", made.n_repeated, "repeated entries")
    yield Fact("skipped", made.n_without_tab, "lines without a tab")


class DictionaryCommand(TableCommand, SentenceOptions):
    """Options of the command."""

    file: Same[Path] = argument("FILE", kind=Path, help="Lines of a word, a tab, and a word.")


def dictionary(job: DictionaryCommand) -> None:
    """Make a table from a dictionary."""
    from nearkin.workflows.aligning.dictionary import read_dictionary

    job.check_out()
    made = read_dictionary(
        job.file, source=job.source, target=job.target, stem=job.stem, encoding=job.encoding, on_error=job.on_error
    )
    _write(job, made.summary(), _dictionary_facts(made), made.table)


class MergeCommand(TableCommand):
    """Options of the command."""

    tables: Same[Sequence[str]] = argument(
        "TABLE...", kind=list, help="At least two translation tables of the same languages."
    )


def merge(job: MergeCommand) -> None:
    """Merge tables."""
    from nearkin.stages.translation.table import TranslationTable

    job.check_out()
    _write_made(job, "merge", TranslationTable.merged([TranslationTable.read(Path(path)) for path in job.tables]))


def _write_made(job: TableCommand, command: str, table: TranslationTable) -> None:
    from nearkin.workflows.aligning.training import table_summary

    _write(job, {"command": f"align {command}", **table_summary(table)}, [], table)


class PruneCommand(TableCommand, PruningOptions):
    """Options of the command."""

    table: Same[Path] = _TABLE


def prune(job: PruneCommand) -> None:
    """Leave out unlikely translations."""
    from nearkin.stages.translation.table import TranslationTable

    pruning = job.pruning()
    job.check_out()
    _write_made(job, "prune", TranslationTable.read(job.table).pruned(pruning))


class TranslationsCommand(PrintOptions):
    """Options of the command."""

    table: Same[Path] = _TABLE
    word: Same[str] = argument("WORD", help="Word to look up.")
    reverse: Same[bool] = _learning(False, help="WORD is in the target language.")


def show(job: TranslationsCommand) -> None:
    """Show the translations of a word."""
    from nearkin.workflows.aligning.dictionary import look_up

    translations = look_up(job.table, job.word, is_reverse=job.reverse)
    answer(job, translations.summary(), [_translations_table(translations)])


def _translations_table(looked_up: LookedUp) -> Table:
    word, language, into = looked_up.word, looked_up.language, looked_up.into
    columns = f"p({into} given {language})", f"p({language} given {into})", "count", word
    rows = [
        (f"{made.probability:.3f}", f"{made.back_probability:.3f}", f"{made.count:,.1f}", made.word)
        for made in looked_up.translations
    ]
    return Table(columns, rows, 3, empty=f"The table has no translation of {word} ({language})")
