"""Formats of load files of review tools."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from nearkin.errors import SourceError
from nearkin.stages.documents.encodings import is_told_by_line
from nearkin.stages.documents.formats.format import StreamFormat, stream_of
from nearkin.stages.documents.head import Head
from nearkin.stages.documents.source import OpenedSource, Source, no_note

if TYPE_CHECKING:
    import pyarrow as pa

    from nearkin.stages.documents.column_samples import ColumnSample
    from nearkin.stages.documents.columns import Columns
    from nearkin.stages.documents.load_files.records import Dialect
    from nearkin.stages.documents.streams import ByteStream

NAME = "load-file"
Told = TypeVar("Told")


class LoadFile(StreamFormat):
    """Concordance DAT, or CSV with the columns of one: control numbers, paths of texts, families."""

    name = NAME
    hint = "Concordance DAT, or CSV like it"
    listed = "load files (Concordance DAT)"
    in_words = "a load file"
    suffixes = (".dat",)
    has_columns = True
    is_settled = False
    is_unmistakable = True

    def dialect(self, head: Head) -> Dialect | None:
        """Return the dialect of a file from its beginning; None if it is not a load file."""
        from nearkin.stages.documents.load_files.records import dialect_of

        return dialect_of(head.data, head.encoding)

    def is_begun_by(self, head: Head) -> bool:
        r"""Whether the first line is a header with the separator of Concordance.

        Examples
        --------
        >>> data = "þDOCIDþ\x14þTEXTPATHþ\n".encode("cp1252")
        >>> LoadFile().is_begun_by(Head(data=data, compression="none", is_all=True))
        True
        """
        from nearkin.stages.documents.load_files.records import SEPARATOR

        found = self.dialect(head)
        return found is not None and found.separator == SEPARATOR

    def settled(self, head: Head, text: str | None) -> str:
        """Return this format for a header of a load file; a .dat file may be anything."""
        from nearkin.stages.documents.formats import sniffed
        from nearkin.stages.documents.load_files.columns import columns_of, is_for_review
        from nearkin.stages.documents.load_files.records import SEPARATOR, names_in

        found = self.dialect(head)
        names = names_in(head.data)
        if found is None:
            is_one = False
        elif found.is_csv:
            is_one = is_for_review(names)
        else:
            is_one = found.separator == SEPARATOR or (len(names) > 1 and columns_of(names).control is not None)
        return self.name if is_one else sniffed(head) or "file"

    def evidence(self, head: Head) -> str:
        """Return the encoding and the delimiters; fields in UTF-8 are read as such whatever encoding was named."""
        from nearkin.stages.documents.load_files.records import is_utf8_so_far

        found = self.dialect(head)
        if found is None:
            return ""
        is_by_line = head.encoding is not None and is_told_by_line(head.encoding)
        if is_by_line and not head.mark and is_utf8_so_far(head.data):
            found = replace(found, encoding="utf-8")
        return f": {found.in_words()}"

    def header(self, head: Head, delimiter: str | None) -> Sequence[str]:
        """Return the fields of the first line."""
        from nearkin.stages.documents.load_files.records import names_in

        return names_in(head.data)

    def records(self, head: Head, delimiter: str | None) -> Sequence[dict[str, object]]:
        """Return the header, each column with an empty value, and the first records."""
        from nearkin.stages.documents.load_files.reading import sample_records

        dialect = self.dialect(head)
        return [] if dialect is None else list(sample_records(head.data, dialect))

    def choose_columns(self, sample: ColumnSample, label: str, *, text: str | None, doc_id: str | None) -> Columns:
        """Return the columns by the names that review tools use; see `Format`."""
        from nearkin.stages.documents.columns import Columns, choose_columns, listed_columns
        from nearkin.stages.documents.load_files.columns import columns_of, folded_name

        known = columns_of(sample.names)
        guesses = []
        if doc_id is None and known.control is not None:
            doc_id = known.control
            guesses.append(f"control number: '{doc_id}'")
        if text is None:
            has_text = known.text is not None and sample.mean_length.get(known.text, 0.0) > 0
            text = known.text if has_text or known.path is None else known.path
            if text is not None:
                kind = "text files: named by" if folded_name(text) == folded_name(known.path or "") else "text:"
                guesses.append(f"{kind} the column '{text}'")
            elif doc_id is not None:
                raise SourceError(
                    f"{label}: this load file has no column of texts, and none of paths of text files. "
                    f"Name it. The columns are: {listed_columns(sample.names)}.",
                    parameter="text",
                )
        chosen = choose_columns(sample, label, text=text, doc_id=doc_id)
        return Columns(chosen.text, chosen.id, (*guesses, *chosen.guesses))

    def read(self, opened: OpenedSource) -> Iterator[pa.RecordBatch]:
        """Yield batches of documents; see `Format`."""
        from nearkin.stages.documents.legibility import legible
        from nearkin.stages.documents.load_files.reading import stream_encoding

        stream = stream_of(opened, stream_encoding(opened.encoding))
        opened = replace(opened, source=self._with_columns(opened, stream))
        yield from legible(self.batches(stream, opened), stream, opened.encoding)

    def batches(self, stream: ByteStream, opened: OpenedSource) -> Iterator[pa.RecordBatch]:
        """Yield batches of documents; see `StreamFormat`."""
        from nearkin.stages.documents.load_files.reading import read_load_file

        return read_load_file(stream, opened)

    def latest_change(self, source: Source) -> int:
        """Return the time of the latest change of the text files that a load file names, in nanoseconds, otherwise 0.

        What is wrong with the load file is reported when it is read.
        """
        from nearkin.stages.documents.load_files.reading import latest_change_of_texts

        return self._of_texts(source, "utf-8", latest_change_of_texts) or 0

    def digest_of_texts(self, source: Source, encoding: str) -> str | None:
        """Return the SHA-256 of the texts in the files that a load file names; None if there are none."""
        from nearkin.stages.documents.load_files.reading import digest_of_texts

        return self._of_texts(source, encoding, digest_of_texts)

    def _of_texts(self, source: Source, encoding: str, told: Callable[[OpenedSource, ByteStream], Told]) -> Told | None:
        from nearkin.stages.documents.load_files.reading import stream_encoding
        from nearkin.stages.documents.streams import StreamFault, no_progress

        try:
            with open(source.path, "rb", buffering=0) as raw:
                opened = OpenedSource(
                    source=source,
                    raw=raw,
                    batch_bytes=1,
                    keep=None,
                    progress=no_progress,
                    encoding=encoding,
                    note=no_note,
                )
                stream = stream_of(opened, stream_encoding(encoding))
                return told(replace(opened, source=self._with_columns(opened, stream)), stream)
        except (SourceError, StreamFault, OSError):
            return None
