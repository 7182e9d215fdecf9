"""Dumps of Wikipedia, and of other editions of MediaWiki."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING

from nearkin.stages.documents.formats.format import StreamFormat
from nearkin.stages.documents.source import OpenedSource, Source

if TYPE_CHECKING:
    import pyarrow as pa

    from nearkin.stages.documents.head import Head
    from nearkin.stages.documents.streams import ByteStream
    from nearkin.stages.documents.table_columns import RowMask

_ROOT_OF_DUMP = re.compile(rb"<mediawiki[\s>]")


class Wikipedia(StreamFormat):
    """XML with one page per article."""

    name = "wikipedia"
    listed = "dumps of Wikipedia"
    in_words = a_file = "a dump of Wikipedia"
    kept_suffix = ".xml"
    is_unmistakable = True
    declares_encoding = True

    def is_begun_by(self, head: Head) -> bool:
        """Whether this is the beginning of a MediaWiki export.

        Examples
        --------
        >>> from nearkin.stages.documents.head import Head
        >>> dump = b'<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/">'
        >>> Wikipedia().is_begun_by(Head(data=dump, compression="none", is_all=False))
        True
        >>> prose = b"The element <mediawiki> is the outermost."
        >>> Wikipedia().is_begun_by(Head(data=prose, compression="none", is_all=True))
        False
        """
        begins_so = head.data.lstrip().startswith((b"<mediawiki", b"<?xml", b"<!"))
        return begins_so and bool(_ROOT_OF_DUMP.search(head.data))

    def batches(self, stream: ByteStream, opened: OpenedSource) -> Iterator[pa.RecordBatch]:
        """Yield batches of documents; see `StreamFormat`."""
        from nearkin.stages.documents.wikipedia.dump import read_wikipedia

        return read_wikipedia(stream, opened)

    def copy_stream(self, source: Source, is_kept: RowMask, stream: ByteStream, sink: IO[bytes]) -> None:
        """Copy the pages of kept articles."""
        import numpy as np

        from nearkin.stages.documents.wikipedia.dump import copy_kept_pages

        copy_kept_pages(stream, source.name, lambda line: bool(is_kept(np.array([line]))[0]), sink.write)
