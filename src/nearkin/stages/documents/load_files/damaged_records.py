"""Control numbers of records whose number of fields is wrong."""

from __future__ import annotations

import re

from nearkin.stages.documents.load_files.dialect import decoded
from nearkin.stages.documents.load_files.records import LoadRecord

_DIGITS = re.compile(r"[0-9]+")


def control_of_damaged(record: LoadRecord, index: int, encoding: str, known: str | None) -> str | None:
    """Return the control number of a record with a problem, if it is known; None otherwise.

    It is the first field, if control numbers are the first column and the field has the form of an earlier one: a line
    in the middle of a damaged record may begin with any text.

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
    >>> control_of_damaged(damaged, 0, "utf-8", "A-02"), control_of_damaged(damaged, 0, "utf-8", "B-02")
    ('A-03', None)
    """
    if index or record.first is None or known is None:
        return None
    found = decoded(record.first, encoding).strip()
    form = _DIGITS.sub("0", found)
    return found if "0" in form and form == _DIGITS.sub("0", known.strip()) else None
