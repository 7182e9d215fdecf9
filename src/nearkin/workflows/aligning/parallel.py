"""Parallel corpus → batches of sentences and their translations, from two text files, a TMX file or a table."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from nearkin.errors import ParameterError, SourceError
from nearkin.nouns import counted
from nearkin.paths import STDIN
from nearkin.stages.documents.columns import check_unique, listed_columns, missing_column
from nearkin.stages.documents.encodings import check_encoding
from nearkin.stages.documents.finding import by_suffix
from nearkin.stages.documents.formats import FORMATS, WITH_COLUMNS
from nearkin.stages.documents.reader import head_of_file, opened_text, read_batches
from nearkin.stages.documents.readers.lines import read_plain_lines
from nearkin.stages.documents.rows import legible, without_illegible
from nearkin.stages.documents.source import Source
from nearkin.stages.documents.sources import resolve_sources
from nearkin.stages.documents.streams import ByteStream
from nearkin.stages.documents.tmx import TmxReader

Pair = tuple[pa.RecordBatch, pa.RecordBatch]
_BATCH_BYTES = 8 << 20
_FORMATS = ("tmx", *WITH_COLUMNS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParallelCorpus:
    """Sentences of two languages, and their files.

    Parameters
    ----------
    paths
        Two text files whose lines are translations of each other; or one TMX file or table.
    """

    paths: Sequence[str]
    source: str
    target: str
    source_column: str | None = None
    target_column: str | None = None
    file_format: str | None = None
    encoding: str = "utf-8"

    def __post_init__(self) -> None:
        if not 1 <= len(self.paths) <= 2 or STDIN in self.paths:
            raise ParameterError(
                "The parallel corpus (PARALLEL) must be two text files, or one TMX file or table. "
                f"Got {', '.join(self.paths)} instead."
            )
        if self.file_format is not None and (self.file_format not in _FORMATS or len(self.paths) == 2):
            raise ParameterError.of(
                "format",
                f"one of {', '.join(_FORMATS)}, for one file; two files are read as lines of text",
                self.file_format,
            )
        check_encoding(self.encoding)
        for name, column in (("source_column", self.source_column), ("target_column", self.target_column)):
            if column is not None and not self._is_table:
                raise ParameterError(
                    "names a column, which neither two text files nor TMX have: omit it.", parameter=name
                )

    @property
    def size_bytes(self) -> int:
        """Size of the files; 0 if unknown; twice that of a table, which is read once per column."""
        try:
            total = sum(Path(path).stat().st_size for path in self.paths)
        except OSError:
            return 0
        return 2 * total if self._is_table else total

    @property
    def name(self) -> str:
        """Names of the files, for messages."""
        return " and ".join(self.paths)

    @property
    def _is_table(self) -> bool:
        return len(self.paths) == 1 and not self._is_tmx

    @property
    def _is_tmx(self) -> bool:
        stem = re.sub(r"\.(gz|zst|zstd|bz2|xz)$", "", self.paths[0].lower())
        return self.file_format == "tmx" or (self.file_format is None and stem.endswith(".tmx"))

    def batches(self, *, progress: Callable[[int], None], say: Callable[[str], None]) -> Iterator[Pair]:
        """Yield batches of `DOCUMENTS_SCHEMA` of both languages, with aligned rows; texts are valid UTF-8 or null."""
        if len(self.paths) == 2:
            yield from self._two_files(progress)
        elif self._is_tmx:
            yield from self._tmx(progress)
        else:
            yield from self._table(progress, say)

    def _two_files(self, progress: Callable[[int], None]) -> Iterator[Pair]:
        with self._stream(self.paths[0], progress) as source, self._stream(self.paths[1], progress) as other:
            sides = (
                legible(read_plain_lines(stream, batch_bytes=_BATCH_BYTES), stream, self.encoding)
                for stream in (source, other)
            )
            pairs = _InStep(*sides)
            yield from pairs.pairs()
            if pairs.n_left[0] or pairs.n_left[1]:
                counts = [pairs.n_rows + n for n in pairs.n_left]
                raise SourceError(
                    f"{self.paths[0]} has {counted(counts[0], 'line')} and {self.paths[1]} has {counts[1]:,}: both "
                    "need the same number of lines, since line N of one translates line N of the other. Check where "
                    "they begin to differ; a line break inside a sentence is a common cause."
                )

    def _tmx(self, progress: Callable[[int], None]) -> Iterator[Pair]:
        path = self.paths[0]
        with self._stream(path, progress) as stream:
            reader = TmxReader(stream, path, self.source, self.target)
            n_rows = 0
            for pair in reader.batches():
                n_rows += pair[0].num_rows
                yield pair
        if not n_rows:
            seen = ", ".join(f"{language or '(none)'} ({n:,})" for language, n in reader.languages.most_common(10))
            raise SourceError(
                f"{path}: none of its {counted(reader.n_units, 'unit')} has a text in both {self.source} and "
                f"{self.target}. Its languages are: {seen or 'none'}."
            )

    def _table(self, progress: Callable[[int], None], say: Callable[[str], None]) -> Iterator[Pair]:
        path = self.paths[0]
        if self.file_format is None and by_suffix(path)[0] is None:
            raise SourceError(
                f"{path}: one file must be TMX or a table (CSV, TSV, Parquet, Arrow, JSON Lines), and its name does "
                "not show which. Name two text files, or add --format."
            )
        file_format = self.file_format or by_suffix(path)[0]
        source = resolve_sources(
            [path], file_format=file_format, has_columns_later=True, encoding=self.encoding
        ).sources
        if len(source) != 1:
            raise SourceError(f"{path} is a folder. Name a file.")
        columns = self._columns(source[0], say)
        sides = [replace(source[0], text=column, id=None) for column in columns]
        readers = [
            read_batches(side, batch_bytes=_BATCH_BYTES, progress=progress, damage_is_row=False) for side in sides
        ]
        for one, other in _InStep(*readers).pairs():
            yield without_illegible(one, self.encoding), without_illegible(other, self.encoding)

    def _columns(self, source: Source, say: Callable[[str], None]) -> tuple[str, str]:
        head = head_of_file(source.path, source.name, self.encoding)
        sample = FORMATS[source.format].reader.sample(source, head)
        names = [] if sample is None else list(sample.header or sample.names)
        columns = []
        for role, language, named in (
            ("source", self.source, self.source_column),
            ("target", self.target, self.target_column),
        ):
            if named is not None and named not in names:
                raise missing_column(source.name, f"{role}_column", named, names)
            column = named or guessed_column(names, language, role)
            if column is None:
                header = "" if source.format not in ("csv", "tsv") else " The first row must have the column names."
                raise SourceError(
                    f"{source.name}: no column is named after {language}. Name it with --{role}-column. "
                    f"The columns are: {listed_columns(names)}.{header}"
                )
            check_unique(source.name, {f"{role}_column": column}, names)
            if named is None:
                say(f"{role} column: '{column}' (guessed from the columns {listed_columns(names)})")
            columns.append(column)
        if columns[0] == columns[1]:
            raise ParameterError(f"{source.name}: both languages would be read from the column '{columns[0]}'.")
        return columns[0], columns[1]

    def _stream(self, path: str, progress: Callable[[int], None]) -> AbstractContextManager[ByteStream]:
        return opened_text(path, self.encoding, progress)


def guessed_column(names: Sequence[str], language: str, role: str) -> str | None:
    """Guess the column of a language, by its code or its role.

    Examples
    --------
    >>> guessed_column(["id", "text_de", "text_en"], "en", "target"), guessed_column(["src", "trg"], "de", "source")
    ('text_en', 'src')
    """
    code = re.escape(language.lower().replace("_", "-"))
    by_code = [name for name in names if re.fullmatch(rf"(.*[^a-z])?{code}([^a-z].*)?", name.lower().replace("_", "-"))]
    exact = [name for name in by_code if name.lower().replace("_", "-") == language.lower().replace("_", "-")]
    if exact or len(by_code) == 1:
        return (exact or by_code)[0]
    of_roles = {
        side: next((name for name in names if name.lower() in likely), None)
        for side, likely in {"source": ("source", "src"), "target": ("target", "tgt", "trg")}.items()
    }
    # both must exist: "source" alone often names the origin of a pair
    return None if None in of_roles.values() else of_roles[role]


class _InStep:
    """Two streams of batches, cut into batches with equal numbers of rows."""

    def __init__(self, one: Iterator[pa.RecordBatch], other: Iterator[pa.RecordBatch]) -> None:
        self._streams = one, other
        self.n_rows = 0
        self.n_left = [0, 0]
        """Number of rows of each stream that have no counterpart."""

    def pairs(self) -> Iterator[Pair]:
        waiting: list[pa.RecordBatch | None] = [None, None]
        while True:
            for i, stream in enumerate(self._streams):
                while waiting[i] is None or not waiting[i].num_rows:  # type: ignore[union-attr]
                    waiting[i] = next(stream, None)
                    if waiting[i] is None:
                        break
            source, other = waiting
            if source is None or other is None:
                break
            n = min(source.num_rows, other.num_rows)
            yield source.slice(0, n), other.slice(0, n)
            self.n_rows += n
            waiting = [source.slice(n), other.slice(n)]
        for i, stream in enumerate(self._streams):
            here = waiting[i]
            self.n_left[i] = (0 if here is None else here.num_rows) + sum(batch.num_rows for batch in stream)
