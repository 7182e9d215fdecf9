"""Columns of a load file by their usual names: control number, text, path of the text, family."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

_CONTROL = (
    "controlnumber", "docid", "begdoc", "begbates", "begindoc", "beginbates", "begdocno", "begno", "begprod", "prodbeg",
    "prodbegbates", "begprodbates", "begcontrol", "begcontrolnumber", "bates", "batesbeg", "batesnumber", "batesbegin",
    "docbeg", "documentid", "docno", "itemid", "fileid", "recordid", "id",
)  # fmt: skip
_TEXT = (
    "extractedtext", "fulltext", "ocrtext", "text", "bodytext", "doctext", "ocr", "textbody", "body", "extracted",
)  # fmt: skip
_PATH = (
    "textpath", "extractedtextpath", "textlink", "textfile", "textfilepath", "textfilename", "txtpath", "ocrpath",
    "ocrtextpath", "ocrfile", "fulltextpath", "textprecedence", "extractedtextfile", "extractedtextlink", "doctextpath",
    "itempath", "textfilelocation", "extractedtextpathname", "linktotext",
)  # fmt: skip
_NATIVE = (
    "nativepath",
    "nativelink",
    "nativefile",
    "nativefilepath",
    "filepath",
    "doclink",
    "nativefilelink",
    "native",
)
_PARENT = ("parentdocid", "parentid", "parentcontrolnumber", "parentdoc", "parentbates", "parentbegdoc", "parent")
_BEGIN_FAMILY = ("begattach", "begatt", "beginattach", "begattachment", "begfamily", "attachbeg", "batesbegattach",
    "begbatesattach", "prodbegattach", "begattachno", "attrange", "attachrange")  # fmt: skip
_CHILDREN = ("attachids", "attachmentids", "attachdocids", "attachmentdocids", "childids", "attids", "attachdocid")
_OF_FAMILY = (*_PARENT, *_BEGIN_FAMILY, *_CHILDREN)
_UNMISTAKABLE = frozenset(_CONTROL[:-4]) - {"docid", "documentid", "docno"}
_LIKE_PATH = re.compile(r"[^\r\n<>|\"*?]{1,1024}\.(txt|text|ocr)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadColumns:
    """Columns of a load file; None if no column has a usual name.

    Parameters
    ----------
    control : str or None
    text, path : str or None
        Column with the text; column with the path of a text file.
    native : str or None
        Column with the path of the file that the text is from.
    parent, begin_family, children : str or None
        Control number of the parent; of the first document of the family; of the attachments.

    Examples
    --------
    >>> columns_of(["Control Number", "BEGATTACH", "Text Path"]).path
    'Text Path'
    """

    control: str | None = None
    text: str | None = None
    path: str | None = None
    native: str | None = None
    parent: str | None = None
    begin_family: str | None = None
    children: str | None = None


def columns_of(names: Sequence[str]) -> LoadColumns:
    """Recognise the columns by their names, ignoring case, spaces and punctuation."""
    folded: dict[str, str] = {}
    for name in names:
        folded.setdefault(folded_name(name), name)

    def first(known: Iterable[str]) -> str | None:
        return next((folded[one] for one in known if one in folded), None)

    return LoadColumns(
        control=first(_CONTROL),
        text=first(_TEXT),
        path=first(_PATH),
        native=first(_NATIVE),
        parent=first(_PARENT),
        begin_family=first(_BEGIN_FAMILY),
        children=first(_CHILDREN),
    )


def folded_name(name: str) -> str:
    """Return the name of a column without the characters that programs write differently.

    Examples
    --------
    >>> folded_name("Beg Doc #")
    'begdoc'
    """
    return re.sub(r"[^a-z0-9]", "", name.casefold())


def is_for_review(names: Sequence[str]) -> bool:
    """Whether a table with these columns is a load file: a control number, and text files or families.

    Examples
    --------
    >>> is_for_review(["BEGDOC", "TEXTPATH"]), is_for_review(["id", "text"]), is_for_review(["docid", "text", "parent"])
    (True, False, False)
    """
    found, folded = columns_of(names), set(map(folded_name, names))
    if found.control is None:
        return False
    is_known = not folded.isdisjoint(_UNMISTAKABLE) or folded_name(found.control) == "docid"
    family = {one for one in folded if one in _OF_FAMILY and one != "parent"}
    return is_known and (found.path is not None or bool(family))


def holds_paths(name: str, values: Iterable[str]) -> bool:
    r"""Whether a column holds the paths of text files: by its name, or because all of its values look like paths.

    Examples
    --------
    >>> holds_paths("EXTRACTEDTEXT", ["TEXT\\A-1.txt", ""]), holds_paths("EXTRACTEDTEXT", ["Dear Ada"])
    (True, False)
    """
    if folded_name(name) in _PATH:
        return True
    there = [value for value in values if value.strip()]
    return bool(there) and all(_LIKE_PATH.fullmatch(value.strip()) for value in there)


@dataclass(slots=True)
class FamilyLinks:
    """Parent of each document, from the columns of families, found while records are read.

    Parameters
    ----------
    columns : LoadColumns
    """

    columns: LoadColumns
    _parents: dict[str, str] | None = None

    def parent_of(self, control: str, values: Mapping[str, str]) -> str | None:
        """Return the control number of a document's parent; None if it has none.

        Parameters
        ----------
        control : str
            Control number of the document.
        values : mapping of str to str
            Values of the columns of families.
        """
        columns = self.columns
        known = self._parents if self._parents is not None else {}
        self._parents = known
        if columns.children is not None:
            for child in re.split(r"[;,|\n]", values.get(columns.children, "")):
                if child.strip() and child.strip() != control:
                    known[child.strip()] = control
        told = known.pop(control, None)
        for name in (columns.parent, columns.begin_family):
            if name is not None and (value := values.get(name, "").strip()):
                value = re.split(r"\s+-\s+|;", value)[0].strip()  # "A-1 - A-9", a range
                if value and value != control:
                    return value
        return told
