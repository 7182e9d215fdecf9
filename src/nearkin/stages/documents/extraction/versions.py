"""Names of extractors: the program that extracts a text, and its version."""

from __future__ import annotations

from functools import lru_cache

ARCHIVE = "nearkin archive 1"
HTML = "nearkin html 1"
MAIL = "nearkin mail 1"
MAILBOX = "nearkin mailbox 1"
MSG = "nearkin msg 1"
PST = "nearkin pst 1"
TEXT = "nearkin text 1"
OCR = "xberg OCR"
"""Beginning of the name for OCR; the languages, the digests of their data and the version of xberg follow."""
_REVISION_OF_XBERG = "nearkin.1"
"""Revision of what Nearkin adds to the texts of xberg and removes from them; raised when that changes a text."""
_OWN = {one.rpartition(" ")[0]: one for one in (ARCHIVE, HTML, MAIL, MAILBOX, MSG, PST, TEXT)}


def is_older(extractor: str) -> bool:
    """Whether this installation has another version of an extractor; False if the extractor is not installed.

    Examples
    --------
    >>> is_older("nearkin mail 0"), is_older("nearkin mail 1"), is_older("another program 3")
    (True, False, False)
    """
    now = current_name(extractor.rpartition(" ")[0])
    return now is not None and now != extractor


def is_ocr(extractor: str) -> bool:
    """Whether a text, or a part of it, was recognised in images.

    Examples
    --------
    >>> is_ocr("xberg OCR eng (data 7d4322bd) 1.3.9"), is_ocr("xberg 1.3.9")
    (True, False)
    """
    return extractor.startswith(f"{OCR} ")


@lru_cache
def current_name(program: str) -> str | None:
    """Return a program and its installed version; None if it is not installed."""
    if program in _OWN:
        return _OWN[program]
    from importlib.metadata import PackageNotFoundError, version  # 30 modules, for texts of such a program alone

    package = "xberg" if is_ocr(program) else program
    try:
        installed = version(package)  # without an import: libraries that parse run in workers alone
    except (PackageNotFoundError, ValueError):
        return None
    return f"{program} {of_xberg(installed) if package == 'xberg' else installed}"


def of_xberg(version: str) -> str:
    """Return a version of xberg with the revision of what Nearkin does with its texts.

    Examples
    --------
    >>> of_xberg("1.3.9")
    '1.3.9+nearkin.1'
    """
    return f"{version}+{_REVISION_OF_XBERG}"
