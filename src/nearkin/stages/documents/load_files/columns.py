"""Columns of a load file by their usual names: control number, text, path of the text, family."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
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
    "nativepath", "nativelink", "nativefile", "nativefilepath", "filepath", "doclink", "nativefilelink", "native",
)  # fmt: skip
_PARENT = ("parentdocid", "parentid", "parentcontrolnumber", "parentdoc", "parentbates", "parentbegdoc", "parent")
_BEGIN_FAMILY = (
    "begattach", "begatt", "beginattach", "begattachment", "begfamily", "attachbeg", "batesbegattach",
    "begbatesattach", "prodbegattach", "begattachno", "attrange", "attachrange",
)  # fmt: skip
_UNMISTAKABLE = frozenset(_CONTROL[:-4]) - {"documentid", "docno"}
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
    parent, begin_family : str or None
        Control number of the parent; of the first document of the family.

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


def columns_of(names: Sequence[str]) -> LoadColumns:
    """Recognise the columns by their names, ignoring case, spaces and punctuation."""
    folded: dict[str, str] = {}
    for name in names:
        folded.setdefault(folded_name(name), name)

    def first(known: Iterable[str]) -> str | None:
        return next((folded[name] for name in known if name in folded), None)

    return LoadColumns(
        control=first(_CONTROL),
        text=first(_TEXT),
        path=first(_PATH),
        native=first(_NATIVE),
        parent=first(_PARENT),
        begin_family=first(_BEGIN_FAMILY),
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
    columns, folded = columns_of(names), set(map(folded_name, names))
    is_known = columns.control is not None and not folded.isdisjoint(_UNMISTAKABLE)
    return is_known and (columns.path is not None or not folded.isdisjoint({*_PARENT[:-1], *_BEGIN_FAMILY}))


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


def parent_in(control: str, values: Iterable[str]) -> str | None:
    """Return the control number of a document's parent from the columns of families; None if it has none.

    Examples
    --------
    >>> parent_in("A-2", ["", "A-1 - A-9"]), parent_in("A-1", ["", "A-1 - A-9"])
    ('A-1', None)
    """
    firsts = (re.split(r"\s+-\s+|;", value.strip())[0].strip() for value in values)  # "A-1 - A-9", a range
    return next((first for first in firsts if first not in ("", control)), None)
