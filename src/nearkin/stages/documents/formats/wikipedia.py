"""Dumps of Wikipedia, and of other editions of MediaWiki."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from nearkin.stages.documents.formats.format import StreamFormat
from nearkin.stages.documents.source import OpenedSource

if TYPE_CHECKING:
    import pyarrow as pa

    from nearkin.stages.documents.head import Head
    from nearkin.stages.documents.streams import ByteStream

_ROOT_OF_DUMP = re.compile(rb"<mediawiki[\s>]")


class Wikipedia(StreamFormat):
    """XML with one page per article."""

    name = "wikipedia"
    listed = "dumps of Wikipedia"
    in_words = a_file = "a dump of Wikipedia"
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
