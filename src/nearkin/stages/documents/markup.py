"""Text with markup, recognised by its beginning: HTML, XML, RTF, mail, web archives, load files of review software.

A false alarm would exclude a text, so each kind requires several signs: prose may begin with "<" or "From ".
"""

from __future__ import annotations

import re
from itertools import islice

Markup = tuple[str, str]
"""A kind with its article, and advice."""
EXTRACT = "extract its text first"
_CONVERT = "convert it to JSON Lines first"
_MIN_TAGS = 3
_WARC = re.compile(rb"WARC/\d\.\d+\r?\n")
_RTF = re.compile(rb"\{\\rtf\d?")
# Comments are matched atomically, (?>…): otherwise every way to split many of them would be tried if no page follows.
_HTML = re.compile(
    rb"(?:<\?xml[^>]*>\s*)?(?>(?:<!--.*?-->\s*)*)(?:<!doctype\s+html\b|<html[\s>])", re.IGNORECASE | re.DOTALL
)
_TAG = re.compile(
    rb"</?(?:html|head|body|title|meta|link|script|style|div|p|a|span|table|h1|main|section)\b", re.IGNORECASE
)
_XML = re.compile(rb"<\?xml\s[^>]*\?>")
_ELEMENT = re.compile(rb"<([A-Za-z_][\w.:-]*)[\s/>]")
_DOC = re.compile(rb"<doc(?: +[a-z_]+=|>)", re.IGNORECASE)
_DAYS, _MONTHS = b"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)", b"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_MBOX = re.compile(
    rb"From \S+ +" + _DAYS + rb",? +(?:" + _MONTHS + rb" +\d{1,2}|\d{1,2} +" + _MONTHS + rb")\b[^\r\n]*\r?\n[!-9;-~]+:"
)
_FIELD = re.compile(rb"([!-9;-~]+):[^\n]*\n(?:[ \t][^\n]*\n)*")
_OF_MAIL = frozenset((b"from", b"to", b"date", b"subject", b"message-id", b"received", b"mime-version", b"return-path"))
_MIN_FIELDS = 3
_ENCODED = re.compile(
    rb"content-transfer-encoding:\s*(?:base64|quoted-printable)|content-type:\s*multipart/", re.IGNORECASE
)
_DAT = re.compile(rb"(?:\xfe|\xc3\xbe)[^\r\n\x14]{0,200}(?:\xfe|\xc3\xbe)\x14")
# No control number or volume is longer: else a page in one long line would be searched to its end for a comma.
_OPTICON = re.compile(
    rb"[^,\r\n]{1,1000}+,[^,\r\n]{0,1000}+,"
    rb"[^,\r\n]+\.(?:tiff?|jpe?g|pdf|png),Y?,[^,\r\n]*,[^,\r\n]*,\d*[ \t]*(?:\r?\n|\Z)",
    re.IGNORECASE,
)
_MAX_FIELD_BYTES = 1000
_LFP = re.compile(rb"IM,[^,\r\n]+,[DSC ]?,\d+,@[^\r\n]*(?:\r?\n|\Z)")
_PEM = re.compile(rb"-----BEGIN (?:PKCS7|CMS)-----")
_ROOTS = {
    b"mediawiki": ("a dump of MediaWiki", "read it with --format wikipedia"),
    b"tmx": ("a translation memory, TMX", "read it with nearkin align train"),
    b"svg": ("an SVG image", EXTRACT),
}


def markup_of(data: bytes) -> Markup | None:
    """Return the kind of markup that a text begins with; None if it looks plain.

    Examples
    --------
    >>> markup_of(b"<html><head><title>News</title></head><body>It was")
    ('an HTML page', 'extract its text first')
    >>> markup_of(b"<html> is the outermost element of a page.")
    >>> markup_of(b"From the beginning: it was a dark night.")
    """
    text = data.removeprefix(b"\xef\xbb\xbf").lstrip()
    if _RTF.match(text):
        return "an RTF file", EXTRACT
    if _WARC.match(text):
        return "a web archive, WARC or WET", _CONVERT
    if text.startswith(b"%!PS"):
        return "a PostScript file", EXTRACT
    if _PEM.match(text):
        return "a signed or encrypted file, PKCS#7", "extract its content first, for example with openssl cms"
    if _DAT.match(text):
        return "a Concordance load file, DAT", "name it on its own, without its folder"
    if is_image_list(text):
        return "a load file of images, Opticon or LFP", "name the text files that go with it"
    return _mail(text) or (_angled(text) if text.startswith(b"<") else None)


def is_image_list(data: bytes) -> bool:
    r"""Whether a file lists images, as load files of Opticon and IPRO (LFP) do.

    Examples
    --------
    >>> is_image_list(b"A-1,V1,IMG\\A-1.tif,Y,,,1\nA-2,V1,IMG\\A-2.tif,Y,,,1\n"), is_image_list(b"It was, once.")
    (True, False)
    >>> is_image_list(b"A-1,V1,IMG\\A-1.tif,Y,,,1")
    True
    """
    text = data.removeprefix(b"\xef\xbb\xbf").lstrip()
    has_fields = text.find(b",", 0, _MAX_FIELD_BYTES + 1) >= 0  # found sooner than by the pattern, for each page
    return has_fields and (_is_of_lines(_OPTICON, text) or _is_of_lines(_LFP, text))


def _is_of_lines(line: re.Pattern[bytes], text: bytes) -> bool:
    """Whether the first two lines match a pattern, or the only line."""
    first = line.match(text)
    if first is None:
        return False
    return line.match(text, first.end()) is not None or not text[first.end() :].strip()


def _mail(text: bytes) -> Markup | None:
    """Recognise mailboxes, and messages with an encoded body; a message in plain text is a text."""
    if _MBOX.match(text):
        return "a mailbox, mbox", "extract the text of its messages first"
    names, place = set(), 0
    of_content = []
    while (field := _FIELD.match(text, place)) is not None:
        name = field[1].lower()
        names.add(name)
        if name.startswith(b"content-t"):
            of_content.append(place)
        place = field.end()
    # not searched for: that would cost more than all the rest
    if len(names & _OF_MAIL) >= _MIN_FIELDS and any(_ENCODED.match(text, start, place) for start in of_content):
        return "a mail message with an encoded body", EXTRACT
    return None


def _angled(text: bytes) -> Markup | None:
    """Recognise HTML, XML, and documents between tags."""
    if _HTML.match(text) and len(list(islice(_TAG.finditer(text), _MIN_TAGS))) == _MIN_TAGS:
        return "an HTML page", EXTRACT
    if _DOC.match(text) and re.search(rb"</doc>", text, re.IGNORECASE):
        return "a file of <doc> elements", _CONVERT
    root = _ELEMENT.search(text)
    if not _XML.match(text) and not (root is not None and root.start() == 0 and _is_declared(root, text)):
        return None
    if root is None:
        return "an XML file", EXTRACT
    return _ROOTS.get(root[1].lower(), (f"an XML file (<{root[1].decode('ascii', 'replace')[:40]}>)", EXTRACT))


def _is_declared(root: re.Match[bytes], text: bytes) -> bool:
    """Whether an element that begins a text has a known name or a namespace; prose may begin with a tag."""
    return root[1].lower() in _ROOTS or b"xmlns" in text[: text.find(b">")]
