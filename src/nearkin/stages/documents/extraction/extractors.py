"""Extractors by kind; a module is imported when its first file comes."""

from __future__ import annotations

from nearkin.stages.documents.extraction.kinds import OFFICE
from nearkin.stages.documents.extraction.reading import Extractor, Given


def extractor_of(given: Given) -> Extractor:
    """Return the extractor of a file."""
    kind = given.kind
    if kind == "text":
        from nearkin.stages.documents.extraction.plain import PlainText

        return PlainText(given)
    if kind == "html":
        from nearkin.stages.documents.extraction.html import HtmlPage

        return HtmlPage(given)
    if kind == "eml":
        from nearkin.stages.documents.extraction.mail import Mail

        return Mail(given)
    if kind == "msg":
        from nearkin.stages.documents.extraction.msg import OutlookMessage

        return OutlookMessage(given)
    if kind == "mbox":
        from nearkin.stages.documents.extraction.mailbox import Mailbox

        return Mailbox(given)
    if kind == "pst":
        from nearkin.stages.documents.extraction.pst import OutlookMailbox

        return OutlookMailbox(given)
    if kind in ("zip", "tar"):
        from nearkin.stages.documents.extraction.archives import TarArchive, ZipArchive

        return ZipArchive(given) if kind == "zip" else TarArchive(given)
    if kind == "pdf":
        from nearkin.stages.documents.extraction.pdf import Pdf

        return Pdf(given)
    if kind in OFFICE:
        from nearkin.stages.documents.extraction.office import OfficeFile

        return OfficeFile(given)
    if kind == "image" and given.ocr is not None:
        from nearkin.stages.documents.extraction.ocr import ImageFile

        return ImageFile(given, given.ocr)
    from nearkin.stages.documents.extraction.plain import Unread

    return Unread(given)
