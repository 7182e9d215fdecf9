"""XML files (parts) inside an office file that hold its text: whether each is complete, and its words were extracted.

If the XML of a document of Word is truncated, xberg returns its first part and reports nothing; the same holds for some
sheets of Excel. It omits text in some encodings, in entities or CDATA sections, or with unusual namespaces, and a slide
or a header that it cannot read.
"""

from __future__ import annotations

import posixpath
import re
import struct
import zipfile
import zlib
from collections.abc import Container, Iterable, Mapping
from functools import cache, partial
from typing import NamedTuple
from urllib.parse import unquote
from xml.parsers import expat

from nearkin.nouns import counted
from nearkin.stages.documents.extraction.office_missing_words import TextToFind
from nearkin.stages.documents.extraction.office_xml import (
    MASTER_PAGES,
    MAX_EXPANSION,
    OOXML,
    OPEN_DOCUMENT,
    PAGE_OF_BOOK,
    STYLES,
    ExpansionError,
    ExpansionLimit,
    TextListener,
    elements_of,
    in_known_encoding,
    is_in_other_encoding,
    quick_pieces,
    without_omitted,
)
from nearkin.stages.documents.origin import ExceptionKind

UNREADABLE = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError,
    LookupError,
)  # fmt: skip
"""Errors of an archive that is damaged."""
CONTENT_TYPES = "[Content_Types].xml"
MAIN = {"docx": "word/document.xml", "xlsx": "xl/workbook.xml", "pptx": "ppt/presentation.xml"}
"""Usual names of the main parts."""
_WITH_TEXT = re.compile(
    r"word/(?:document|header|footer|footnotes|endnotes|comments)\w*\.xml"
    r"|xl/(?:workbook|sharedStrings|comments\w*|(?:comments|worksheets|threadedComments)/[^/]+)\.xml"
    r"|ppt/(?:slides|notesSlides|comments|diagrams|charts)/[^/]+\.xml"
    r"|content\.xml|styles\.xml"
)
_ROLES = (
    "main", "header", "footer", "footnotes", "endnotes", "comments", "worksheet", "sharedStrings", "slide",
    "notesSlide",
)  # fmt: skip
"""Last words of the content types and of the kinds of relationships of parts."""
_ELEMENTS = {
    "content": OPEN_DOCUMENT, "styles": STYLES, "masters": MASTER_PAGES, "page": PAGE_OF_BOOK,
    **dict.fromkeys((one for one in _ROLES if one != "main"), OOXML), "document": OOXML,
}  # fmt: skip
"""Elements with text, by the role of a part."""
_USUAL_NAME = re.compile(
    r"(?P<main>word/document\.xml|xl/workbook\.xml|ppt/presentation\.xml)"
    r"|word/(?:(?P<header>header)|(?P<footer>footer))\d*\.xml"
    r"|word/(?:(?P<footnotes>footnotes)|(?P<endnotes>endnotes)|(?P<comments>comments))\.xml"
    r"|(?P<worksheet>xl/worksheets/sheet\d+\.xml)|(?P<sharedStrings>xl/sharedStrings\.xml)"
    r"|(?P<slide>ppt/slides/slide\d+\.xml)|(?P<notesSlide>ppt/notesSlides/notesSlide\d+\.xml)"
)
_KNOWN_NAME = re.compile(
    rf"(?:{_USUAL_NAME.pattern})\Z|(?!.*\.xml\Z)|\[Content_Types\]\.xml|docProps/|customXml/"
    r"|(?:word|xl|ppt)/(?:theme|glossary|charts|drawings|diagrams|media|embeddings|ink|slideLayouts|slideMasters"
    r"|notesMasters|handoutMasters|tables|pivotTables|pivotCache|printerSettings|tags|externalLinks|queryTables)/"
    r"|word/(?:styles|stylesWithEffects|settings|webSettings|fontTable|numbering|people|comments\w+)\.xml"
    r"|xl/(?:styles|calcChain|metadata|connections|persons/.*)\.xml"
    r"|ppt/(?:presProps|viewProps|tableStyles|commentAuthors|comments/.*)\.xml"
)
"""Names of parts whose role the name tells; if there are others, content types and relationships tell it."""
USUAL_SLIDE = re.compile(r"ppt/slides/slide\d+\.xml")
_PAGE = re.compile(r".+\.x?html?", re.IGNORECASE)
_END_OF_PAGE = re.compile(rb"</(?:\w+:)?html\s*>", re.IGNORECASE)
_CHUNKS = (".mht", ".mhtml", ".htm", ".html", ".xhtml", ".rtf", ".docx", ".docm", ".dotx", ".txt")
_STYLES = {"odt": "styles", "odp": "masters"}
"""Roles of the styles of open documents with headers and footers that are read."""
_OF_WORD = frozenset(("document", "header", "footer", "footnotes", "endnotes"))
_MISSING = "is missing"
_STRICT = b"//purl.oclc.org/ooxml/"
_HEAD_BYTES = 4096
_SHARED_STRING = re.compile(
    rb"""<(?:[\w.-]++:)?c\b(?=[^<]*?\bt=["']s["'])(?:[^<>"']++|"[^<"]*+"|'[^<']*+')*+>"""
    rb"""\s*+<(?:[\w.-]++:)?v[^<>]*+>\s*+(\d{1,9})"""
)
"""Cell with a shared string; no sign is read from many places, which a hostile sheet could make costly."""
_AT_END = frozenset(
    expat.errors.codes[one]
    for one in (
        expat.errors.XML_ERROR_NO_ELEMENTS,
        expat.errors.XML_ERROR_UNCLOSED_TOKEN,
        expat.errors.XML_ERROR_PARTIAL_CHAR,
        expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION,
    )
)
"""Errors that only the end of a file causes."""


class OfficePart(NamedTuple):
    """A part of an office file.

    Parameters
    ----------
    name : str
        Its name in the archive.
    role : str
        One of `_ROLES`, "document" (the main part of a file of Word), "content", "styles", "masters" or "page";
        empty if only its XML is looked at.
    """

    name: str
    role: str

    @property
    def is_once(self) -> bool:
        """Whether its text is no repetition, as that of headers of several sections may be."""
        return self.role not in ("header", "footer")


class PartLacking(NamedTuple):
    """Reason why text of an office file may be missing."""

    exception: ExceptionKind
    sentence: str


class PartsChecked(NamedTuple):
    """Result of a look at the parts of an office file.

    Parameters
    ----------
    lacking : PartLacking or None
        None if all XML is complete, and all its words are in the text.
    is_unusual : bool
        Whether xberg may lose or repeat text of a valid file: it has CDATA sections, entities, another encoding than
        UTF-8, or other names of parts, prefixes or namespaces.
    """

    lacking: PartLacking | None
    is_unusual: bool


def checked_parts(archive: zipfile.ZipFile, kind: str, text: str, *, is_suspect: bool = False) -> PartsChecked:
    """Check whether the XML of an office file is complete, and its words were extracted.

    Parameters
    ----------
    archive : ZipFile
    kind : str
        Pages of a book (``epub``) are often HTML that is not XML, and are read nevertheless. They are incomplete only
        if they are truncated.
    text : str
        Text that was extracted.
    is_suspect : bool
        Whether the extractor gave warnings: parts may be missing.

    Examples
    --------
    >>> import io
    >>> with zipfile.ZipFile(io.BytesIO(), "w") as archive:
    ...     archive.writestr("word/document.xml", "<w:document><w:t>It was.</w:t>")
    ...     checked_parts(archive, "docx", "It was.").lacking.sentence
    'its word/document.xml is truncated: text may be missing'
    """
    to_find = TextToFind(text)
    deferred: list[tuple[OfficePart, list[str]]] = []
    is_unusual = False
    parts = parts_of(archive, kind, is_suspect=is_suspect)
    used_strings = cache(lambda: _used_strings(archive, parts))
    for part in parts:
        read = _ReadPart(archive, part)
        if read.fault == _MISSING and part.role == "sharedStrings" and not used_strings():
            continue
        if read.fault is not None:
            return PartsChecked(PartLacking("corrupt", f"its {part.name} {read.fault}: text may be missing"), False)
        is_unusual |= read.is_unusual
        if read.is_found(to_find):
            continue
        used = used_strings() if part.role == "sharedStrings" else None
        try:
            paragraphs = read.not_found(to_find, used)
        except ExpansionError:
            what = f"entities of its {part.name} expand to more than {MAX_EXPANSION} times its size"
            return PartsChecked(PartLacking("unsupported", f"{what}: text may be missing"), False)
        if paragraphs is not None:
            deferred.append((part, paragraphs))
    n_missing = {part: to_find.n_missing(paragraphs, take=part.is_once) for part, paragraphs in deferred}
    if any(n_missing.values()) and (n_missing := _in_use(archive, kind, n_missing)):
        most = max(n_missing, key=n_missing.__getitem__)
        what = f"{counted(n_missing[most], 'word')} of its {most.name} not extracted"
    elif kind == "docx" and (chunk := _chunk_in(archive)) is not None:
        what = f"its {chunk}, a document inside it, was not read"
    else:
        return PartsChecked(None, is_unusual)
    return PartsChecked(PartLacking("unsupported", f"{what}: text may be missing"), is_unusual)


def parts_of(archive: zipfile.ZipFile, kind: str, *, is_suspect: bool = True) -> list[OfficePart]:
    """Return the parts with text, also those that are missing; the usual names suffice if nothing is suspect."""
    names = archive.namelist()
    if kind == "epub":
        roles = _roles_in_book(archive, names)
    elif kind in MAIN:
        roles = {name: match.lastgroup for name in names if (match := _USUAL_NAME.fullmatch(name)) and match.lastgroup}
        expected = {MAIN[kind]} | ({"xl/sharedStrings.xml"} if kind == "xlsx" else set())
        if is_suspect or not expected <= roles.keys() or not all(map(_KNOWN_NAME.match, names)):
            roles |= _roles_in_ooxml(archive, kind)
        elif kind == "docx" and MAIN[kind] in roles:
            roles[MAIN[kind]] = "document"
    else:
        roles = {"content.xml": "content"}
        if "styles.xml" in names and kind in _STYLES:
            roles["styles.xml"] = _STYLES[kind]
    present = {name.lower(): name for name in names}
    found = {present.get(name.lower(), name): role for name, role in roles.items()}
    if kind != "epub":
        found |= {name: "" for name in names if name not in found and _WITH_TEXT.fullmatch(name)}
    return [OfficePart(name, role) for name, role in found.items()]


def _chunk_in(archive: zipfile.ZipFile) -> str | None:
    """Return the name of a document that Word shows as a part of this one, in HTML for example."""
    names = [name for name in archive.namelist() if name.lower().endswith(_CHUNKS)]
    if not names:
        return None
    roles = targets(archive, main_part(archive, "docx"))
    return next((name for role, name in roles if role == "aFChunk" and name in names), None)


def _in_use(archive: zipfile.ZipFile, kind: str, n_missing: Mapping[OfficePart, int]) -> dict[OfficePart, int]:
    """Return the parts that lack words, without those to which the main part does not refer, if it refers to any."""
    lacking = {part: n for part, n in n_missing.items() if n}
    if kind not in MAIN:
        return lacking
    referred = {name.lower() for _, name in targets(archive, main_part(archive, kind))}
    always = ("document", "notesSlide", "sharedStrings")
    return {
        part: n for part, n in lacking.items() if not referred or part.role in always or part.name.lower() in referred
    }


def main_part(archive: zipfile.ZipFile, kind: str) -> str:
    """Return the name of the main part of a file of Word, Excel or PowerPoint; its usual name if none is declared."""
    roles = _declared_roles(archive)
    return next((name for name, role in roles.items() if role == "main"), MAIN[kind])


def relationships_of(name: str) -> str:
    """Return the name of the file with the relationships of a part.

    Examples
    --------
    >>> relationships_of("word/document.xml")
    'word/_rels/document.xml.rels'
    """
    folder, _, own = name.rpartition("/")
    return posixpath.join(folder, "_rels", f"{own}.rels")


def targets(archive: zipfile.ZipFile, name: str) -> Iterable[tuple[str, str]]:
    """Yield the roles and the names of the parts that another part refers to."""
    for one in attributes(archive, relationships_of(name), "Relationship"):
        if one.get("TargetMode") != "External":
            yield one.get("Type", "").rpartition("/")[2], resolved(name, one.get("Target", ""))


def resolved(name: str, target: str) -> str:
    """Return the name of the part that a part means with a target.

    Examples
    --------
    >>> resolved("ppt/slides/slide1.xml", "../notes/notes1.xml"), resolved("word/document.xml", "/word/a.xml")
    ('ppt/notes/notes1.xml', 'word/a.xml')
    """
    return posixpath.normpath(posixpath.join("/", posixpath.dirname(name), unquote(target))).lstrip("/")


def _roles_in_ooxml(archive: zipfile.ZipFile, kind: str) -> dict[str, str]:
    roles = _declared_roles(archive)
    main = next((name for name, role in roles.items() if role == "main"), MAIN[kind])
    roles = {name: role for role, name in targets(archive, main) if role in _ROLES} | roles
    return roles | {main: "document" if kind == "docx" else "main"}


def _declared_roles(archive: zipfile.ZipFile) -> dict[str, str]:
    """Return the roles of the parts of the archive by the content types, which may name parts that never were."""
    found, names = {}, {name.lower() for name in archive.namelist()}
    for one in attributes(archive, CONTENT_TYPES, "Override"):
        role, name = one.get("ContentType", "").rpartition(".")[2].removesuffix("+xml"), one.get("PartName", "")
        if role in _ROLES and name.lstrip("/").lower() in names:
            found[name.lstrip("/")] = role
    return found


def _roles_in_book(archive: zipfile.ZipFile, names: Iterable[str]) -> dict[str, str]:
    """Return the pages of a book that are read one behind the other."""
    for root in attributes(archive, "META-INF/container.xml", "rootfile"):
        package = root.get("full-path", "")
        items = {one.get("id"): one for one in attributes(archive, package, "item")}
        read = [items.get(one.get("idref"), {}) for one in attributes(archive, package, "itemref")]
        pages = [one for one in read if "html" in one.get("media-type", "")]
        return {resolved(package, one.get("href", "")): "page" for one in pages}
    return dict.fromkeys(filter(_PAGE.fullmatch, names), "page")


def attributes(archive: zipfile.ZipFile, name: str, local: str) -> list[Mapping[str, str]]:
    """Return the attributes of the elements of one name; none if the part cannot be read."""
    try:
        found = elements_of(archive.read(name))
    except (*UNREADABLE, expat.ExpatError, ExpansionError):
        return []
    return [own for told, own in found if told == local]


def _used_strings(archive: zipfile.ZipFile, parts: Iterable[OfficePart]) -> set[int] | None:
    """Return the positions of the shared strings that cells show; None if a sheet cannot be searched for them."""
    used: set[int] = set()
    for part in parts:
        if part.role != "worksheet":
            continue
        try:
            sheet = archive.read(part.name)
        except UNREADABLE:
            return None
        if b"\0" in sheet:  # UTF-16
            return None
        used.update(map(int, _SHARED_STRING.findall(sheet)))
    return used


class _ReadPart:
    """A part that was parsed once; its text is gathered in a second pass, if the first one does not suffice.

    Attributes
    ----------
    fault : str or None
        What is wrong with its XML.
    is_unusual : bool
        See `PartsChecked`.
    """

    def __init__(self, archive: zipfile.ZipFile, part: OfficePart) -> None:
        self._part = part
        self._is_page = part.role == "page"
        self._is_sheet = part.role == "worksheet"
        self._needs_parser = self._is_page
        self._has_entities = False
        self._pieces: list[bytes] | None = None
        self._data = b""
        self.is_unusual = False
        self.fault = self._fault(archive)

    def is_found(self, text: TextToFind) -> bool:
        """Whether a part without words, or all its text as it is, is found quickly."""
        if self._part.role not in _ELEMENTS or self._data == b"":
            return True
        if self._is_sheet and not any(one in self._data for one in (b'"inlineStr"', b'"str"', b"\0")):
            return True
        if self._is_sheet and b'"str"' in self._data:
            return False
        take = self._part.is_once
        if self._pieces is not None:
            return text.holds(self._pieces, take=take)
        if self._needs_parser:
            return False
        pieces = quick_pieces(self._data)
        if pieces is None or not text.holds(pieces, take=take):
            rest = without_omitted(self._data)
            pieces = None if rest is self._data else quick_pieces(rest)
            return pieces is not None and text.holds(pieces, take=take)
        return True

    def not_found(self, text: TextToFind, used: Container[int] | None) -> list[str] | None:
        """Return the paragraphs of a part that is not found as it is; None if it is found.

        ``used`` are the shared strings that cells show; None if this is not known.

        Raises
        ------
        ExpansionError
        """
        parser = self._parser()
        listener = TextListener(parser, _ELEMENTS[self._part.role], ExpansionLimit(self._data), used)
        parser.Parse(self._data, True)
        paragraphs = listener.paragraphs()
        is_found = text.holds([one.encode() for one in paragraphs], take=self._part.is_once)
        return None if is_found else paragraphs

    def _parser(self) -> expat.XMLParserType:
        parser = expat.ParserCreate()
        if self._is_page:
            parser.UseForeignDTD()  # unknown entities, such as &nbsp;, are no errors
        return parser

    def _fault(self, archive: zipfile.ZipFile) -> str | None:
        parser = self._parser()
        texts: list[str] = []
        is_quick = self._part.role in ("content", "styles", "masters")
        if is_quick:
            parser.buffer_text = True
            parser.CharacterDataHandler = texts.append
        if not self._is_page:
            parser.StartCdataSectionHandler = parser.StartDoctypeDeclHandler = self._note_unusual
            parser.EntityDeclHandler = partial(self._note_entity, parser)
            parser.CommentHandler = self._note_comment
        try:
            data = archive.read(self._part.name)
            self.is_unusual = is_in_other_encoding(data)
            data = in_known_encoding(data) if self.is_unusual else data
            parser.Parse(data, True)
        except expat.ExpatError as error:
            if error.code in _AT_END:
                return "is truncated"
            if not self._is_page:
                return f"is not well-formed XML ({expat.errors.messages[error.code]})"
            return "is truncated" if _is_truncated_page(data) else None
        except KeyError:
            return _MISSING
        except (LookupError, ValueError):
            return "is in an unknown encoding"
        except UNREADABLE:
            return "cannot be read"
        self._data = data
        self.is_unusual |= self._has_other_names(data[:_HEAD_BYTES])
        if is_quick and not self._has_entities:
            self._pieces = [one.encode() for one in texts]
        return None

    def _has_other_names(self, head: bytes) -> bool:
        """Whether the name of the part, or the names in it, are not those that xberg looks for."""
        role = self._part.role
        if role == "slide":
            return _STRICT in head or USUAL_SLIDE.fullmatch(self._part.name) is None
        if role == "sharedStrings":
            return self._part.name.lower() != "xl/sharedstrings.xml"
        return role in _OF_WORD and b"<w:" not in head

    def _note_unusual(self, *_told: object) -> None:
        self.is_unusual = self._needs_parser = True

    def _note_entity(self, parser: expat.XMLParserType, *_told: object) -> None:
        self._has_entities = True
        parser.CharacterDataHandler = None

    def _note_comment(self, _comment: str) -> None:
        self._needs_parser = True


def _is_truncated_page(page: bytes) -> bool:
    """Whether a page that claims to be XML, but is not, has no end; HTML may omit the end."""
    is_xhtml = page.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"<?xml") or b"xmlns=" in page[:4096]
    return _END_OF_PAGE.search(page) is None and (is_xhtml or page.rfind(b"<") > page.rfind(b">"))
