"""Load files of review tools."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

import pyarrow as pa

from nearkin.errors import SourceError
from nearkin.stages.documents.columns import Columns, ColumnSample, choose_columns, listed_columns, sample_of_records
from nearkin.stages.documents.encodings import is_told_by_line
from nearkin.stages.documents.faults import StreamFault
from nearkin.stages.documents.head import Head, sniffed
from nearkin.stages.documents.load_files.columns import columns_of, folded_name, is_for_review
from nearkin.stages.documents.load_files.reading import (
    digest_of_texts,
    latest_change_of_texts,
    read_load_file,
    sample_records,
)
from nearkin.stages.documents.load_files.records import SEPARATOR, Dialect, dialect_of, is_utf8_so_far, names_in
from nearkin.stages.documents.reader import StreamReader, stream_of
from nearkin.stages.documents.source import OpenedSource, Source
from nearkin.stages.documents.streams import ByteStream

Told = TypeVar("Told")


class LoadFile(StreamReader):
    """Concordance DAT, or CSV with the columns of one: control numbers, paths of texts, families."""

    def dialect(self, head: Head) -> Dialect | None:
        """Return the dialect of a file from its beginning; None if it is not a load file."""
        return dialect_of(head.data, head.encoding)

    def begins(self, head: Head) -> bool:
        r"""Whether the first line is a header with the separator of Concordance.

        Examples
        --------
        >>> data = "þDOCIDþ\x14þTEXTPATHþ\n".encode("cp1252")
        >>> LoadFile().begins(Head(data=data, compression="none", is_all=True))
        True
        """
        found = self.dialect(head)
        return found is not None and found.separator == SEPARATOR

    def settled(self, head: Head, text: str | None) -> str:
        """Return this format for a header of a load file; a .dat file may be anything."""
        found = self.dialect(head)
        names = names_in(head.data)
        if found is None:
            is_one = False
        elif found.is_csv:
            is_one = is_for_review(names)
        else:
            is_one = found.separator == SEPARATOR or (len(names) > 1 and columns_of(names).control is not None)
        return "load-file" if is_one else sniffed(head) or "file"

    def evidence(self, head: Head) -> str:
        """Return the encoding and the delimiters; fields in UTF-8 are read as such whatever encoding was named."""
        found = self.dialect(head)
        if found is None:
            return ""
        is_by_line = head.encoding is not None and is_told_by_line(head.encoding)
        if is_by_line and not head.mark and is_utf8_so_far(head.data):
            found = replace(found, encoding="utf-8")
        return f": {found.in_words()}"

    def sample(self, source: Source, head: Head) -> ColumnSample | None:
        """Return the columns of the header, each with an empty value, and of the first records."""
        dialect = self.dialect(head)
        records = [] if dialect is None else list(sample_records(head.data, dialect))
        return sample_of_records(records, header=names_in(head.data)) if records else None

    def choose_columns(self, sample: ColumnSample, label: str, *, text: str | None, doc_id: str | None) -> Columns:
        """Return the columns by the names that review tools use; see `Format`."""
        known = columns_of(sample.names)
        guesses = []
        if doc_id is None and known.control is not None:
            doc_id = known.control
            guesses.append(f"control number: '{doc_id}'")
        if text is None:
            has_text = known.text is not None and bool(sample.columns[known.text].mean_length)
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

    def encoding(self, encoding: str) -> str:
        """Return the encoding in which the whole file is decoded: fields are judged one by one unless it is wide."""
        return "utf-8" if is_told_by_line(encoding) else encoding

    def read(self, stream: ByteStream, opened: OpenedSource) -> Iterator[pa.RecordBatch]:
        """Yield batches of documents; see `StreamReader`."""
        return read_load_file(stream, opened)

    def latest_change(self, source: Source) -> int:
        """Return the time of the latest change of the text files that a load file names, in nanoseconds, otherwise 0.

        What is wrong with the load file is reported when it is read.
        """
        return self._of_texts(source, "utf-8", latest_change_of_texts) or 0

    def digest_of_texts(self, source: Source, encoding: str) -> str | None:
        """Return the SHA-256 of the texts in the files that a load file names; None if there are none."""
        return self._of_texts(source, encoding, digest_of_texts)

    def _of_texts(self, source: Source, encoding: str, told: Callable[[OpenedSource, ByteStream], Told]) -> Told | None:
        try:
            with open(source.path, "rb", buffering=0) as raw:
                opened = OpenedSource(source=source, raw=raw, encoding=encoding)
                stream = stream_of(opened, self.encoding(encoding))
                return told(replace(opened, source=self.with_columns(opened, stream)), stream)
        except (SourceError, StreamFault, OSError):
            return None
