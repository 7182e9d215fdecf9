"""Formats of documents that are extracted: office files, PDF, pages, mail, mailboxes, archives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from nearkin.stages.documents.formats.members import MembersFormat
from nearkin.stages.documents.members import InnerDocument
from nearkin.stages.documents.source import OpenedSource


class Extracted(MembersFormat):
    """Any document; its content decides the kind."""

    name = "document"
    hint = "office files, PDF, mail, HTML and archives, by their content"
    listed = "documents (PDF, Word, Excel, PowerPoint, OpenDocument, RTF, EPUB, HTML, mail, ZIP, tar)"
    in_words = "documents"
    a_file = "a document whose text is extracted"
    suffixes: ClassVar[tuple[str, ...]] = (
        ".pdf", ".docx", ".docm", ".dotx", ".dotm", ".doc", ".dot", ".xlsx", ".xlsm", ".xltx", ".xls", ".xlt", ".pptx",
        ".pptm", ".ppsx", ".ppt", ".pps", ".odt", ".ott", ".ods", ".odp", ".rtf", ".epub", ".mbox", ".msg", ".pst",
        ".ost", ".zip", ".tar", ".tgz", ".tbz2", ".txz",
    )  # fmt: skip
    kept_suffix = ".pdf"
    kind: ClassVar[str | None] = None
    """Kind of every file in this format; None: by its content."""

    def documents(self, opened: OpenedSource) -> Iterator[InnerDocument]:
        """Yield the documents of a file; see `MembersFormat`."""
        from nearkin.stages.documents.extraction.documents import as_documents, documents_of
        from nearkin.stages.documents.extraction.workers import FileToExtract

        source = opened.source
        if opened.nodes is not None:
            yield from as_documents(source.name, opened.nodes)
        else:
            file = FileToExtract(source.path, source.name, self.kind, opened.encoding)
            yield from documents_of(file, source.limits, source.ocr)
        opened.progress(source.size_bytes)


class Html(Extracted):
    """Web pages."""

    name = "html"
    hint = "the text of a page"
    listed = ""
    in_words = a_file = "an HTML page"
    suffixes = (".html", ".htm", ".xhtml")
    kept_suffix = ".html"
    kind = "html"


class Eml(Extracted):
    """Mails, one per file."""

    name = "eml"
    hint = "a mail with its attachments"
    listed = ""
    in_words = a_file = "a mail"
    suffixes = (".eml", ".emlx")
    kept_suffix = ".eml"
    kind = "eml"
