"""XML files (parts) inside an office file that hold its text: whether each is complete, and its words were extracted.

If the XML of a document of Word is truncated, xberg returns its first part and reports nothing; the same holds for some
sheets of Excel. It omits text in some encodings, in entities or CDATA sections, or with unusual namespaces, and a slide
or a header that it cannot read.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Mapping
from functools import cache
from typing import NamedTuple
from xml.parsers import expat

from nearkin.nouns import counted
from nearkin.stages.documents.extraction.office_further_text import FurtherText, add_package
from nearkin.stages.documents.extraction.office_missing_words import TextToFind
from nearkin.stages.documents.extraction.office_packages import (
    MAIN,
    ROLES,
    UNREADABLE,
    PartsInUse,
    attributes,
    declared_roles,
    parts_in_use,
    relationships_of,
    resolved,
)
from nearkin.stages.documents.extraction.office_part_reading import (
    MISSING,
    OfficePart,
    PartLacking,
    ReadPart,
    expanding,
)
from nearkin.stages.documents.extraction.office_xml import (
    ExpansionError,
    ExpansionLimit,
    StartTag,
    in_known_encoding,
    start_tags,
)
from nearkin.stages.documents.extraction.open_document_further_text import (
    add_open_document,
    remarks,
    tags_of_open_document,
)

_WITH_TEXT = re.compile(
    r"word/(?:document|header|footer|footnotes|endnotes|comments)\w*\.xml"
    r"|xl/(?:workbook|sharedStrings|comments\w*|(?:comments|worksheets|threadedComments)/[^/]+)\.xml"
    r"|ppt/(?:slides|notesSlides|comments|diagrams|charts)/[^/]+\.xml"
    r"|content\.xml|styles\.xml"
)
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
_ROLES_WITHOUT_COMMENTS = tuple(one for one in ROLES if one != "comments")
"""Roles of parts that xberg reads of workbooks and presentations."""
_PAGE = re.compile(r".+\.x?html?", re.IGNORECASE)
_OPEN_DOCUMENTS = ("odt", "ods", "odp")
_STYLES = {"odt": "styles", "odp": "masters"}
"""Roles of the styles of open documents with headers and footers that are read."""
_REFERRING = {
    "worksheet": ("drawing", "legacyDrawing"),
    **dict.fromkeys(("document", "header", "footer", "slide"), ("chart", "relIds")),
}
"""Elements that refer to other parts with text, by the roles of the parts that have them."""
_WITH_WORD_ART = frozenset(("document", "header", "footer"))


class PartsChecked(NamedTuple):
    """Result of a look at the parts of an office file.

    Parameters
    ----------
    lacking : PartLacking or None
        None if all XML is complete, and all its words are in the text or in ``further``.
    is_unusual : bool
        Whether xberg may lose or repeat text of a valid file: it has CDATA sections, entities, another encoding than
        UTF-8, or other names of parts, prefixes or namespaces.
    further : tuple of str
        Lines that xberg does not read (`office_further_text`).
    """

    lacking: PartLacking | None
    is_unusual: bool
    further: tuple[str, ...] = ()


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
    used = parts_in_use(archive, kind) if kind in MAIN else PartsInUse([], [])
    check = _PartsCheck(archive, kind, text, used)
    fault = check.read(parts_of(archive, kind, used, is_suspect=is_suspect))
    if fault is not None:
        return PartsChecked(fault, is_unusual=False)
    lacking = check.lacking_words()
    further = check.further()
    lines = () if further.is_page_number and not text.strip() else tuple(further.lines)
    return PartsChecked(lacking or further.lacking or check.lost or _repeated(archive), check.is_unusual, lines)


def _repeated(archive: zipfile.ZipFile) -> PartLacking | None:
    """Return the reason for an archive with two different files of one name, of which one alone is read."""
    names = archive.namelist()
    if len(set(names)) == len(names):
        return None
    sums: dict[str, int] = {}
    for one in archive.infolist():
        if sums.setdefault(one.filename, one.CRC) != one.CRC:
            return PartLacking("corrupt", f"it has two files named {one.filename}: text may be missing")
    return None


class _PartsCheck:
    """Comparison of the parts of an office file with the text that was extracted."""

    def __init__(self, archive: zipfile.ZipFile, kind: str, text: str, used: PartsInUse) -> None:
        self._archive = archive
        self._names = frozenset(name.lower() for name in archive.namelist())
        self._used = used
        self._kind = kind
        self._text = TextToFind(text)
        self._not_found: list[tuple[OfficePart, list[str]]] = []
        self._headers: dict[str, list[str]] = {}
        self._tags: dict[str, list[StartTag]] = {}
        self._beside: list[str] = []
        self.is_unusual = False
        self.lost: PartLacking | None = None

    def read(self, parts: list[OfficePart]) -> PartLacking | None:
        """Read the parts and look for their text; return what is wrong with the first one that cannot be read."""
        shown = cache(lambda: used_strings(self._archive, [one.name for one in parts if one.role == "worksheet"]))
        for part in parts:
            read = ReadPart(self._archive, part)
            if read.fault == MISSING and part.role == "sharedStrings" and not shown():
                continue
            if read.fault is not None:
                return PartLacking("corrupt", f"its {part.name} {read.fault}: text may be missing")
            self.is_unusual |= read.is_unusual
            try:
                if self._kind in _OPEN_DOCUMENTS and part.name in ("content.xml", "styles.xml"):
                    self._tags[part.name] = tags_of_open_document(read, self._kind)
                if part.role in _REFERRING:
                    self._look_for_relationships(part, read)
                if part.role == "worksheet" and (headers := read.headers()):
                    self._headers[part.name] = headers
                if part.role in _WITH_WORD_ART:
                    self._beside += read.word_art()
                elif part.role == "content" and self._kind == "ods":
                    self._beside = remarks(read)
                if read.is_found(self._text):
                    continue
                paragraphs = read.not_found(self._text, shown() if part.role == "sharedStrings" else None)
                if part.role == "content" and self._kind != "ods":
                    self._beside = remarks(read)
            except ExpansionError:
                return expanding(part.name)
            if paragraphs is not None:
                self._not_found.append((part, paragraphs))
        return None

    def _look_for_relationships(self, part: OfficePart, read: ReadPart) -> None:
        """Note the first part that refers to others by relationships that are missing."""
        name = relationships_of(part.name)
        if self.lost is None and name.lower() not in self._names and start_tags(read.data, *_REFERRING[part.role]):
            self.lost = PartLacking("corrupt", f"its {name} is missing: text may be missing")

    def lacking_words(self) -> PartLacking | None:
        """Return the part in use that lacks most words, or a document inside this one that is not read."""
        missing = {part: self._text.n_missing(told, take=part.is_once) for part, told in self._not_found}
        if any(missing.values()) and (missing := self._in_use(missing)):
            most = max(missing, key=missing.__getitem__)
            what = f"{counted(missing[most], 'word')} of its {most.name} not extracted"
        elif self._kind == "docx" and (chunk := self._chunk()) is not None:
            what = f"its {chunk}, a document inside it, was not read"
        else:
            return None
        return PartLacking("unsupported", f"{what}: text may be missing")

    def _in_use(self, n_missing: Mapping[OfficePart, int]) -> dict[OfficePart, int]:
        """Return the parts that lack words, without those that are not in use, if there are relationships at all."""
        lacking = {part: n for part, n in n_missing.items() if n}
        if self._kind not in MAIN:
            return lacking
        used = {one.name for one in self._used.parts}
        always = ("document", "notesSlide", "sharedStrings")
        return {part: n for part, n in lacking.items() if len(used) == 1 or part.role in always or part.name in used}

    def _chunk(self) -> str | None:
        """Return the name of a document that Word shows as a part of this one, in HTML for example."""
        names = frozenset(self._archive.namelist())
        return next((one.name for one in self._used.parts if one.role == "aFChunk" and one.name in names), None)

    def further(self) -> FurtherText:
        """Return the text that xberg does not read."""
        further = FurtherText(self._archive, self._kind, self._text)
        # Word repeats WordArt in each header; of workbooks, xberg reads no remarks
        beside = dict.fromkeys(self._beside) if self._kind == "docx" else self._beside
        further.lines += beside if self._kind == "ods" else further.not_read(beside)
        if self._kind in MAIN:
            add_package(further, self._kind, self._used, self._headers)
        elif self._kind in _OPEN_DOCUMENTS:
            add_open_document(further, self._archive, self._kind, self._tags)
        return further


def parts_of(
    archive: zipfile.ZipFile, kind: str, used: PartsInUse | None = None, *, is_suspect: bool = False
) -> list[OfficePart]:
    """Return the parts with text, also those that are missing; the usual names suffice if nothing is suspect."""
    names = archive.namelist()
    if kind == "epub":
        roles = _roles_in_book(archive, names)
    elif kind in MAIN:
        roles = {name: match.lastgroup for name in names if (match := _USUAL_NAME.fullmatch(name)) and match.lastgroup}
        expected = {MAIN[kind]} | ({"xl/sharedStrings.xml"} if kind == "xlsx" else set())
        expected_roles = ROLES if kind == "docx" else _ROLES_WITHOUT_COMMENTS
        related = (used or parts_in_use(archive, kind)).parts
        told = {one.name: one.role for one in related if one.role in expected_roles}
        has_usual_names = all(map(_KNOWN_NAME.match, names)) and told.items() <= roles.items()
        if is_suspect or not has_usual_names or not expected <= roles.keys():
            roles |= _roles_in_ooxml(archive, kind, told)
            roles = {name: role for name, role in roles.items() if role in expected_roles or role == "document"}
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


def _roles_in_ooxml(archive: zipfile.ZipFile, kind: str, told: Mapping[str, str]) -> dict[str, str]:
    """Return the roles of parts by the relationships, and by the content types."""
    roles = declared_roles(archive)
    main = next((name for name, role in roles.items() if role == "main"), MAIN[kind])
    return {**told, **roles, main: "document" if kind == "docx" else "main"}


def _roles_in_book(archive: zipfile.ZipFile, names: Iterable[str]) -> dict[str, str]:
    """Return the pages of a book that are read one behind the other."""
    for root in attributes(archive, "META-INF/container.xml", "rootfile"):
        package = root.get("full-path", "")
        items = {one.get("id"): one for one in attributes(archive, package, "item")}
        read = [items.get(one.get("idref"), {}) for one in attributes(archive, package, "itemref")]
        pages = [one for one in read if "html" in one.get("media-type", "")]
        return {resolved(package, one.get("href", "")): "page" for one in pages}
    return dict.fromkeys(filter(_PAGE.fullmatch, names), "page")


_PREFIX = rb"(?:[^\s<>/:]++:)?"
_SHARED_STRING = re.compile(
    rb"<" + _PREFIX + rb"""c\b(?=[^<]*?\bt\s*+=\s*+["']s["'])(?:[^<>"']++|"[^"<]*+"|'[^'<]*+')*+>\s*+"""
    rb"(?:<" + _PREFIX + rb"f\b[^<]*+(?:</[^<]*+)?+)?+<" + _PREFIX + rb"v[^<>]*+>\s*+(\d{1,9})"
)
"""Cell with a shared string; no sign is read from many places, which a hostile sheet could make costly."""
_NOT_ONLY_TAGS = (b"\0", b"<!", b"<?")


def used_strings(archive: zipfile.ZipFile, sheets: Iterable[str]) -> set[int] | None:
    """Return the positions of the shared strings that cells show; None if a sheet cannot be searched for them."""
    used: set[int] = set()
    for name in sheets:
        try:
            used.update(strings_in_sheet(archive.read(name)))
        except (*UNREADABLE, expat.ExpatError, ExpansionError):
            return None
    return used


def strings_in_sheet(sheet: bytes) -> list[int]:
    """Return the positions of the shared strings that the cells of a sheet show.

    Raises
    ------
    ExpatError, ExpansionError, LookupError, ValueError

    Examples
    --------
    >>> strings_in_sheet(b"<c t='s'><v>3</v></c><c t='s'><f>A1</f><v>4</v></c><c><v>5</v></c>")
    [3, 4]
    >>> strings_in_sheet(b"<x><c t='s'><!-- 1 --><v><![CDATA[3]]></v></c><c><v>5</v></c></x>")
    [3]
    """
    behind_declaration = max(0, sheet.find(b"?>", 0, 200))
    if not any(sheet.find(one, behind_declaration) >= 0 for one in _NOT_ONLY_TAGS):
        return [int(one) for one in _SHARED_STRING.findall(sheet)]
    known = in_known_encoding(sheet)
    found: list[list[str]] = []
    is_shared, limit, parser = False, ExpansionLimit(known), expat.ParserCreate()

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal is_shared
        limit.take(1)
        local = name.rpartition(":")[2]
        if local == "c":
            is_shared = attributes.get("t") == "s"
        elif local == "v" and is_shared:
            found.append([])
            parser.CharacterDataHandler = found[-1].append

    def end(_name: str) -> None:
        parser.CharacterDataHandler = None

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.Parse(known, True)
    return [int(told) for one in found if (told := "".join(one).strip()).isdecimal()]
