"""Control numbers of records whose number of fields is wrong."""

from __future__ import annotations

import re

from nearkin.stages.documents.load_files.dialect import decoded
from nearkin.stages.documents.load_files.records import LoadRecord

_DIGITS = re.compile(r"[0-9]+")


def control_of_damaged(record: LoadRecord, index: int, encoding: str, known: str | None) -> str | None:
    """Return the control number of a record with a problem, if it is known; None otherwise.

    It is the first field, if control numbers are the first column and the field has the form of an earlier one, which
    precedes it: a line in the middle of a damaged record may begin with any text, such as a number, and would take the
    control number of another record.

    Parameters
    ----------
    record : LoadRecord
    index : int
        Column of the control numbers.
    encoding : str
        Encoding of fields that are not UTF-8.
    known : str or None
        Control number of an earlier record.

    Examples
    --------
    >>> damaged = LoadRecord(3, b"A-03,x", [], "2 fields where the header has 3", b"A-03")
    >>> [control_of_damaged(damaged, 0, "utf-8", known) for known in ("A-02", "B-02", "A-04")]
    ['A-03', None, None]
    >>> control_of_damaged(LoadRecord(3, b"3, in the list", [], "2 fields", b"3"), 0, "utf-8", "2")
    """
    if index or record.first is None or known is None:
        return None
    found, before = decoded(record.first, encoding).strip(), known.strip()
    form = _DIGITS.sub("0", found)
    is_like = form == _DIGITS.sub("0", before) and len(found) == len(before) and found > before
    return found if is_like and "0" in form and (form != "0" or found.startswith("0")) else None
