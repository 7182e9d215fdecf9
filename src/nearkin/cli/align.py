"""``nearkin align``: translation tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from nearkin.cli.command_line import CommandEntry, CommandGroup
from nearkin.cli.options.definitions import Encoding, Json, Memory, OutFile, Overwrite, Quiet, Threads
from nearkin.cli.parameters import argument, option
from nearkin.stages.documents.formats import WITH_COLUMNS

if TYPE_CHECKING:
    from nearkin.cli.printing import Printer
    from nearkin.reports.facts.fact import Fact
    from nearkin.stages.translation.table import TranslationTable
    from nearkin.workflows.aligning.dictionary import DictionaryRead, LookedUp
    from nearkin.workflows.aligning.training import Aligned


_FORMATS = f"tmx, {', '.join(WITH_COLUMNS[:-1])} or {WITH_COLUMNS[-1]}"


_A_TABLE = "a translation table"
_HELP = """
Learn translation tables from parallel sentences, and look words up in them. A table holds p(target | source) and \
p(source | target) of every word pair. The word train is optional: nearkin align news.de news.en --source de ...
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
            CommandEntry("train", "Learn a table from parallel sentences", "align", "TRAIN_HELP"),
            CommandEntry("dictionary", "Make a table from a dictionary", "align", "DICTIONARY_HELP"),
            CommandEntry("merge", "Merge tables of several corpora", "align", "MERGE_HELP"),
            CommandEntry("prune", "Drop unlikely translations from a table", "align", "PRUNE_HELP"),
            CommandEntry("show", "List the translations of a word", "align", "SHOW_HELP"),
        )
    },
    default="train",
)
_input = partial(option, panel="Input")
_learning = partial(option, panel="The table")
_Parallel = Annotated[
    list[str],
    argument(
        metavar="PARALLEL...",
        help="Two text files whose lines translate each other; or one TMX, CSV, TSV, Parquet or JSON Lines file.",
    ),
]
_Table = Annotated[Path, argument(metavar="TABLE", help="Translation table from nearkin align.")]
_Tables = Annotated[
    list[Path],
    argument(metavar="TABLE...", help="At least two translation tables of the same languages."),
]
_Dictionary = Annotated[Path, argument(metavar="FILE", help="Lines of a word, a tab, and a word.")]
_Word = Annotated[str, argument(metavar="WORD", help="Word to look up.")]
_Source = Annotated[str, _input("--source", metavar="LANG", help="Language code of the first side, such as de.")]
_Target = Annotated[str, _input("--target", metavar="LANG", help="Language code of the second side.")]
_SourceIfAny = Annotated[
    str | None, _input("--source", metavar="LANG", help="Refuse a table that translates from another language.")
]
_TargetIfAny = Annotated[
    str | None, _input("--target", metavar="LANG", help="Refuse a table that translates to another language.")
]
_SourceColumn = Annotated[
    str | None,
    _input(
        "--source-column",
        metavar="COLUMN",
        help="Column of the first language. [default: the column with its code]",
    ),
]
_TargetColumn = Annotated[
    str | None,
    _input(
        "--target-column",
        metavar="COLUMN",
        help="Column of the second language. [default: the column with its code]",
    ),
]
_Format = Annotated[
    str | None,
    _input("--format", help=f"tmx, {', '.join(WITH_COLUMNS[:-1])} or {WITH_COLUMNS[-1]}. [default: from the name]"),
]
_OnError = Annotated[
    str,
    option(
        "--on-error",
        help="stop: stop at a broken line or a damaged file, and write nothing. skip-documents: skip and count "
        "broken lines. skip: also use the lines before the damage of a file.",
        panel="Input",
    ),
]
_OnErrorLine = Annotated[
    str,
    option(
        "--on-error",
        help="stop: stop at a line that is not an entry. skip-documents: skip and count such lines. skip: also use "
        "the lines before the damage of a file.",
        panel="Input",
    ),
]
_Iterations = Annotated[int, _learning("--iterations", help="Iterations of IBM Model 1.")]
_Ignore = Annotated[
    Path | None, _learning("--ignore", metavar="FILE", help="File of passages to remove from the sentences.")
]
_IgnoreNumbers = Annotated[bool, _learning("--ignore-numbers", help="Remove digits from the sentences.")]
_Stem = Annotated[bool, _learning("--stem", help="Learn from Snowball stems instead of words.")]
_MinProbability = Annotated[
    float, _learning("--min-probability", help="Minimum probability of a translation, in each direction.")
]
_MaxTranslations = Annotated[
    int, _learning("--max-translations", help="Maximum number of translations of a word, in each direction.")
]
_Reverse = Annotated[bool, _learning("--reverse", help="WORD is in the target language.")]


def train(
    parallel: _Parallel,
    source: _Source,
    target: _Target,
    out: OutFile,
    source_column: _SourceColumn = None,
    target_column: _TargetColumn = None,
    file_format: _Format = None,
    encoding: Encoding = "utf-8",
    on_error: _OnError = "stop",
    iterations: _Iterations = 5,
    stem: _Stem = False,
    ignore: _Ignore = None,
    ignore_numbers: _IgnoreNumbers = False,
    min_probability: _MinProbability = 0.005,
    max_translations: _MaxTranslations = 20,
    as_json: Json = False,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
    threads: Threads = 0,
    memory: Memory = "2GiB",
) -> None:
    """Learn a table."""
    from nearkin.cli.bars import bars_shown
    from nearkin.cli.result_file import check_free
    from nearkin.stages.documents.ignoring import Ignored
    from nearkin.stages.documents.rules import ReadingRules
    from nearkin.stages.translation.model_1 import Model1
    from nearkin.stages.translation.rows import Pruning
    from nearkin.workflows.aligning.parallel import ParallelCorpus
    from nearkin.workflows.aligning.training import AlignOptions
    from nearkin.workflows.aligning.training import train as learn
    from nearkin.workflows.resources import Resources

    check_free(out, overwrite=overwrite, holds=_A_TABLE)
    corpus = ParallelCorpus(
        paths=parallel,
        source=source,
        target=target,
        source_column=source_column,
        target_column=target_column,
        file_format=file_format,
        encoding=encoding,
    )
    pruning = Pruning(min_probability, max_translations)
    rules = ReadingRules.of(on_error)
    options = AlignOptions(
        iterations=iterations,
        stem=stem,
        pruning=pruning,
        rules=rules,
        ignored=Ignored.of(ignore, numbers=ignore_numbers),
    )
    with bars_shown(is_quiet=quiet or as_json) as bars:
        bars.say(f"aligned by {Model1(options.iterations).fingerprint}")
        resources = Resources.of(threads, memory)
        aligned = learn(corpus, options, resources=resources, progress=bars)
    _write(aligned.table, out, aligned.summary, _aligned_facts(aligned), as_json=as_json, quiet=quiet)


def _write(
    table: TranslationTable, out: Path, summary: Callable[[], object], facts: Iterable[Fact] = (), *,
    as_json: bool, quiet: bool,
) -> None:  # fmt: skip
    """Write a table, and tell what was read to make it."""
    from nearkin.cli.printing import tell
    from nearkin.runs.files import published

    with published(out) as aside:
        table.write(aside)
    tell(summary, lambda console: _show_table(console, facts, table, out), as_json=as_json, quiet=quiet)


def _show_table(console: Printer, facts: Iterable[Fact], table: TranslationTable, out: Path) -> None:
    """Print what was read, the translations and words of the table, and its place."""
    from nearkin.cli.printing import say_place
    from nearkin.reports.facts.fact import Fact

    source, target = table.origin.source, table.origin.target
    words = f"words: {len(table.source_words):,} of {source}, {len(table.target_words):,} of {target}"
    console.say([*facts, Fact("translations", len(table), words)])
    say_place(console, f"Table {table.fingerprint}", out)


def _aligned_facts(aligned: Aligned) -> Iterator[Fact]:
    from nearkin.reports.facts.fact import Fact, damage_facts, warnings_if
    from nearkin.stages.translation.model_1 import MAX_WORDS

    yield Fact("pairs of sentences", aligned.n_pairs)
    yield Fact("pairs of words", aligned.n_word_pairs)
    origin = aligned.table.origin
    for language, perplexities in zip((origin.target, origin.source), aligned.perplexities):
        steps = " → ".join(f"{one:,.1f}" for one in perplexities)
        yield Fact(f"perplexity, {language}", steps, "per word, by iteration")
    yield Fact("time", f"{aligned.elapsed_s:.1f} s", f"{aligned.align_s:.1f} s of alignment")
    yield from damage_facts(aligned.damaged_files)
    yield from warnings_if(
        {
            ("skipped: one side is empty", ""): aligned.n_empty,
            (f"skipped: more than {MAX_WORDS} words", ""): aligned.n_too_long,
            ("skipped: unreadable", ""): aligned.n_unreadable,
        }
    )


def _dictionary_facts(made: DictionaryRead) -> Iterator[Fact]:
    from nearkin.reports.facts.fact import Fact

    yield Fact("entries", made.n_entries)
    yield Fact("skipped", made.n_of_several_words, "more than one word on a side")
    yield Fact("skipped", made.n_repeated, "repeated entries")
    yield Fact("skipped", made.n_without_tab, "lines without a tab")


def dictionary(
    file: _Dictionary,
    source: _Source,
    target: _Target,
    out: OutFile,
    encoding: Encoding = "utf-8",
    on_error: _OnErrorLine = "stop",
    stem: _Stem = False,
    as_json: Json = False,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
) -> None:
    """Make a table from a dictionary."""
    from nearkin.cli.result_file import check_free
    from nearkin.workflows.aligning.dictionary import read_dictionary

    check_free(out, overwrite=overwrite, holds=_A_TABLE)
    made = read_dictionary(
        file,
        source=source,
        target=target,
        stem=stem,
        encoding=encoding,
        on_error=on_error,  # type: ignore[arg-type]  # it checks it
    )
    _write(made.table, out, made.summary, _dictionary_facts(made), as_json=as_json, quiet=quiet)


def merge(
    tables: _Tables, out: OutFile, as_json: Json = False, quiet: Quiet = False, overwrite: Overwrite = False
) -> None:
    """Merge tables."""
    from nearkin.cli.result_file import check_free
    from nearkin.stages.translation.table import TranslationTable
    from nearkin.workflows.aligning.training import table_summary

    check_free(out, overwrite=overwrite, holds=_A_TABLE)
    made = TranslationTable.merged([TranslationTable.read(path) for path in tables])
    _write(made, out, lambda: {"command": "align merge", **table_summary(made)}, as_json=as_json, quiet=quiet)


def prune(
    table: _Table,
    out: OutFile,
    min_probability: _MinProbability = 0.005,
    max_translations: _MaxTranslations = 20,
    as_json: Json = False,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
) -> None:
    """Leave out unlikely translations."""
    from nearkin.cli.result_file import check_free
    from nearkin.stages.translation.rows import Pruning
    from nearkin.stages.translation.table import TranslationTable
    from nearkin.workflows.aligning.training import table_summary

    pruning = Pruning(min_probability, max_translations)
    check_free(out, overwrite=overwrite, holds=_A_TABLE)
    made = TranslationTable.read(table).pruned(pruning)
    _write(made, out, lambda: {"command": "align prune", **table_summary(made)}, as_json=as_json, quiet=quiet)


def show(
    table: _Table,
    word: _Word,
    reverse: _Reverse = False,
    source: _SourceIfAny = None,
    target: _TargetIfAny = None,
    as_json: Json = False,
) -> None:
    """Show the translations of a word."""
    from nearkin.cli.printing import tell
    from nearkin.workflows.aligning.dictionary import look_up

    found = look_up(table, word, is_reverse=reverse, source=source, target=target)
    tell(
        found.summary,
        lambda console: _show_translations(console, found),
        as_json=as_json,
    )


def _show_translations(console: Printer, found: LookedUp) -> None:
    from nearkin.cli.printing import shown
    from nearkin.cli.printing import table as lines

    word, language, into = found.word, found.language, found.into
    if not found.translations:
        console.print(f"The table has no translation of {shown(word)} ({shown(language)})", highlight=False)
        return
    given = shown(f"p({into} given {language})"), shown(f"p({language} given {into})")
    rows = lines(*given, "count", shown(word), numbers=3)
    for one in found.translations:
        rows.add_row(f"{one.probability:.3f}", f"{one.back_probability:.3f}", f"{one.count:,.1f}", shown(one.word))
    console.print(rows)
