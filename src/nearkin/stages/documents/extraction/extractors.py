"""Extractors by kind; a module is imported when its first file comes."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from nearkin.stages.documents.extraction.kinds import OFFICE
from nearkin.stages.documents.extraction.reading import Extractor, Given


def extractor_of(given: Given) -> Extractor:
    """Return the extractor of a file."""
    if given.kind == "image" and given.ocr is not None:
        from nearkin.stages.documents.extraction.ocr import ImageFile

        return ImageFile(given, given.ocr)
    return _class_of(given.kind)(given)


@lru_cache  # an import costs as much as a message
def _class_of(kind: str) -> Callable[[Given], Extractor]:
    """Return the class for a kind of files."""
    if kind == "text":
        from nearkin.stages.documents.extraction.plain import PlainText

        return PlainText
    if kind == "html":
        from nearkin.stages.documents.extraction.html import HtmlPage

        return HtmlPage
    if kind == "eml":
        from nearkin.stages.documents.extraction.mail import Mail

        return Mail
    if kind == "msg":
        from nearkin.stages.documents.extraction.msg import OutlookMessage

        return OutlookMessage
    if kind == "mbox":
        from nearkin.stages.documents.extraction.mailbox import Mailbox

        return Mailbox
    if kind == "pst":
        from nearkin.stages.documents.extraction.pst import OutlookMailbox

        return OutlookMailbox
    if kind in ("zip", "tar"):
        from nearkin.stages.documents.extraction.archives import TarArchive, ZipArchive

        return ZipArchive if kind == "zip" else TarArchive
    if kind == "pdf":
        from nearkin.stages.documents.extraction.pdf import Pdf

        return Pdf
    if kind in OFFICE:
        from nearkin.stages.documents.extraction.office import OfficeFile

        return OfficeFile
    from nearkin.stages.documents.extraction.plain import Unread

    return Unread
