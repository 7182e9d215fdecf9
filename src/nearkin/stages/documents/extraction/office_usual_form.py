"""Valid office files of an unusual make, written again as Word, Excel, PowerPoint and LibreOffice usually write them.

xberg looks for parts by their usual names, for elements by their usual prefixes and namespaces, and reads only UTF-8
without entities and CDATA sections. Word Online names the main part ``word/document2.xml``, and "Strict Open XML" of
Word and PowerPoint has other namespaces. The text is the same in both forms.
"""

from __future__ import annotations

import io
import posixpath
import zipfile
from collections.abc import Callable, Mapping
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from nearkin.stages.documents.extraction.office_packages import (
    CONTENT_TYPES,
    MAIN,
    UNREADABLE,
    attributes,
    main_part,
    relationships_of,
    resolved,
)
from nearkin.stages.documents.extraction.office_part_reading import USUAL_SLIDE
from nearkin.stages.documents.extraction.office_parts import parts_of
from nearkin.stages.documents.extraction.office_xml import (
    ExpansionError,
    ExpansionLimit,
    elements_of,
    in_known_encoding,
)
from nearkin.stages.documents.extraction.reading import FREE_BYTES

_STRICT = "http://purl.oclc.org/ooxml/"
_TRANSITIONAL = "http://schemas.openxmlformats.org/"
_OFFICE = f"{_TRANSITIONAL}officeDocument/2006/"
_XML = "http://www.w3.org/XML/1998/namespace"
_PREFIXES = {
    _XML: "xml",
    f"{_TRANSITIONAL}wordprocessingml/2006/main": "w",
    f"{_TRANSITIONAL}presentationml/2006/main": "p",
    f"{_TRANSITIONAL}spreadsheetml/2006/main": "",
    f"{_TRANSITIONAL}drawingml/2006/main": "a",
    f"{_TRANSITIONAL}drawingml/2006/wordprocessingDrawing": "wp",
    f"{_TRANSITIONAL}drawingml/2006/picture": "pic",
    f"{_TRANSITIONAL}markup-compatibility/2006": "mc",
    f"{_OFFICE}relationships": "r",
    f"{_OFFICE}math": "m",
    "urn:schemas-microsoft-com:vml": "v",
}
"""Usual prefixes of namespaces."""
_BETWEEN = "\x01"
"""Sign between the namespace, the name and the prefix of an element, as the parser reports it."""


def usual_form(archive: zipfile.ZipFile, kind: str, max_bytes: int, max_ratio: int) -> bytes | None:
    """Return an office file with usual names, prefixes, namespaces and encodings.

    Parameters
    ----------
    archive : ZipFile
    kind : str
    max_bytes, max_ratio : int
        Unpacked size, altogether, and as a multiple of the packed size of a part.

    Returns
    -------
    bytes or None
        None for a book, for a file that is too big or has entities that expand too far, and for one that cannot be
        read.
    """
    if kind == "epub" or is_too_big(archive, max_bytes, max_ratio):
        return None
    try:
        names = _usual_names(archive, kind)
        taken = set(names.values())
        sink = io.BytesIO()
        with zipfile.ZipFile(sink, "w", zipfile.ZIP_STORED) as written:
            for name in dict.fromkeys(archive.namelist()):
                new = names.get(name, name)
                if new == name and name in taken:
                    continue  # another part takes its name
                written.writestr(new, _usual_part(archive, name, names))
    except (*UNREADABLE, ExpansionError):
        return None
    return sink.getvalue()


def is_too_big(archive: zipfile.ZipFile, max_bytes: int, max_ratio: int) -> bool:
    """Whether the files in an archive are too big, altogether or as multiples of their packed sizes."""
    entries = {entry.filename: entry for entry in archive.infolist()}
    sizes = [(entry.file_size, entry.compress_size) for entry in entries.values()]
    is_bomb = any(size > FREE_BYTES and size > max_ratio * packed for size, packed in sizes)
    return is_bomb or sum(size for size, _ in sizes) > max_bytes


def usual_xml(part: bytes) -> bytes:
    """Return an XML file in UTF-8, with usual prefixes and namespaces, and without a DTD.

    Raises
    ------
    ExpatError, LookupError, ValueError
        It is not well-formed, or in an encoding that the parser does not know.
    ExpansionError

    Examples
    --------
    >>> usual_xml(b'<x:t xmlns:x="http://purl.oclc.org/ooxml/drawingml/main"><![CDATA[A & B]]></x:t>').decode()
    '<a:t xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main">A &amp; B</a:t>'
    """
    parser = expat.ParserCreate(namespace_separator=_BETWEEN)
    parser.namespace_prefixes = True
    parser.buffer_text = True
    known = in_known_encoding(part)
    writer = _UsualXmlWriter(parser, ExpansionLimit(known))
    parser.Parse(known, True)
    return "".join(writer.written).encode()


class _UsualXmlWriter:
    """Handlers of a parser that write what it reads."""

    def __init__(self, parser: expat.XMLParserType, limit: ExpansionLimit) -> None:
        self.written: list[str] = []
        self._limit = limit
        self._prefixes = dict(_PREFIXES)
        self._declared: dict[str, str] = {}
        self._is_tag_open = False
        parser.StartNamespaceDeclHandler = self._declare
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text

    def _declare(self, prefix: str | None, namespace: str | None) -> None:
        space = _transitional(namespace or "")
        if space not in self._prefixes:
            is_taken = (prefix or "") in self._prefixes.values()
            self._prefixes[space] = f"n{len(self._prefixes)}" if is_taken else prefix or ""
        self._declared[self._prefixes[space]] = space

    def _name(self, told: str) -> str:
        """Return the name with the usual prefix; one without a namespace stays as it is."""
        namespace, _, rest = told.partition(_BETWEEN)
        if not rest:
            return told
        local = rest.partition(_BETWEEN)[0]
        prefix = self._prefixes.get(_transitional(namespace), "")
        return f"{prefix}:{local}" if prefix else local

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        self._limit.take(1 + sum(map(len, attributes.values())))
        declared = {f"xmlns:{prefix}" if prefix else "xmlns": space for prefix, space in self._declared.items()}
        told = declared | {self._name(one): _transitional(value) for one, value in attributes.items()}
        self._declared = {}
        self._close_tag()
        self.written.append(f"<{self._name(name)}{''.join(f' {one}={quoteattr(told[one])}' for one in told)}")
        self._is_tag_open = True

    def _end(self, name: str) -> None:
        if self._is_tag_open:  # xberg ignores tabs and pictures that have an end tag
            self.written.append("/>")
            self._is_tag_open = False
        else:
            self.written.append(f"</{self._name(name)}>")

    def _text(self, text: str) -> None:
        self._limit.take(len(text))
        self._close_tag()
        self.written.append(escape(text, {"\r": "&#13;"}))

    def _close_tag(self) -> None:
        if self._is_tag_open:
            self.written.append(">")
            self._is_tag_open = False


def _transitional(namespace: str) -> str:
    """Return the usual name of a namespace, or of a kind of relationships or graphics, for one of Strict Open XML.

    Examples
    --------
    >>> _transitional("http://purl.oclc.org/ooxml/officeDocument/relationships/slide")
    'http://schemas.openxmlformats.org/officeDocument/2006/relationships/slide'
    """
    if not namespace.startswith(_STRICT):
        return namespace
    family, _, rest = namespace[len(_STRICT) :].partition("/")
    return f"{_TRANSITIONAL}{family}/2006/{rest}"


def _usual_names(archive: zipfile.ZipFile, kind: str) -> dict[str, str]:
    """Return new names of parts, and of the files with their relationships."""
    if kind not in MAIN:
        return {}
    names: dict[str, str] = {}
    main, usual = main_part(archive, kind), MAIN[kind]
    folder, usual_folder = posixpath.dirname(main), posixpath.dirname(usual)
    if folder and folder != usual_folder:
        inside = [name for name in archive.namelist() if name.startswith(f"{folder}/")]
        names |= {name: f"{usual_folder}{name[len(folder) :]}" for name in inside}
    own = {main: usual}
    if kind == "xlsx":
        own |= {part.name: "xl/sharedStrings.xml" for part in parts_of(archive, kind) if part.role == "sharedStrings"}
    elif kind == "pptx":
        own |= _names_of_slides(archive, main)
    own |= {relationships_of(name): relationships_of(new) for name, new in own.items()}
    return names | {name: new for name, new in own.items() if name != new}


def _names_of_slides(archive: zipfile.ZipFile, main: str) -> dict[str, str]:
    """Return the usual names of slides, in the order of the presentation; none if they have them."""
    related = {one.get("Id"): resolved(main, one.get("Target", "")) for one in _relationships(archive, main)}
    ids = [value for one in attributes(archive, main, "sldId") for name, value in one.items() if name.endswith("}id")]
    slides = [related[one] for one in ids if one in related]
    if all(map(USUAL_SLIDE.fullmatch, slides)):
        return {}
    return {name: f"ppt/slides/slide{at}.xml" for at, name in enumerate(slides, 1)}


def _relationships(archive: zipfile.ZipFile, name: str) -> list[Mapping[str, str]]:
    return attributes(archive, relationships_of(name), "Relationship")


def _usual_part(archive: zipfile.ZipFile, name: str, names: Mapping[str, str]) -> bytes:
    """Return a part as it is in the usual form; one that is no well-formed XML stays as it is."""
    part = archive.read(name)
    change = _CHANGES.get(posixpath.splitext(name)[1].lower())
    if change is None:
        return part
    try:
        return change(part, name, names)
    except (expat.ExpatError, LookupError, ValueError):
        return part


def _usual_xml_part(part: bytes, name: str, names: Mapping[str, str]) -> bytes:
    return _usual_types(part, names) if name == CONTENT_TYPES else usual_xml(part)


def _usual_types(part: bytes, names: Mapping[str, str]) -> bytes:
    """Return the content types with the new names."""
    told = []
    for kind, own in elements_of(part)[1:]:
        if "PartName" in own:
            old = own["PartName"].lstrip("/")
            own["PartName"] = f"/{names.get(old, old)}"
        told.append((kind, own))
    return _flat_xml("Types", f"{_TRANSITIONAL}package/2006/content-types", told)


def _usual_relationships(part: bytes, name: str, names: Mapping[str, str]) -> bytes:
    """Return relationships with the new names of their targets."""
    folder, own_name = posixpath.split(name)
    source = posixpath.join(posixpath.dirname(folder), own_name.removesuffix(".rels"))
    new_folder = posixpath.dirname(names.get(source, source))
    told = []
    for _, found in elements_of(part)[1:]:
        own = {key: _transitional(value) if key == "Type" else value for key, value in found.items()}
        if own.get("TargetMode") != "External" and "Target" in own:
            old = resolved(source, own["Target"])
            own["Target"] = posixpath.relpath(f"/{names.get(old, old)}", f"/{new_folder}")
        told.append(("Relationship", own))
    return _flat_xml("Relationships", f"{_TRANSITIONAL}package/2006/relationships", told)


def _flat_xml(root: str, namespace: str, elements: list[tuple[str, dict[str, str]]]) -> bytes:
    told = "".join(
        f"<{name}{''.join(f' {key}={quoteattr(value)}' for key, value in own.items())}/>" for name, own in elements
    )
    return f'<?xml version="1.0" encoding="UTF-8"?><{root} xmlns="{namespace}">{told}</{root}>'.encode()


_CHANGES: dict[str, Callable[[bytes, str, Mapping[str, str]], bytes]] = {
    ".xml": _usual_xml_part,
    ".rels": _usual_relationships,
}
"""Functions that change parts, by the suffixes of their names."""
