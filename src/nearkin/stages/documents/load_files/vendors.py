"""Field names of review tools for groups of near-duplicates, and the form of their values."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from nearkin.errors import ParameterError
from nearkin.nouns import agreeing, counted, first_of
from nearkin.wording import WarningMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class OverlayRow:
    """Group, similarity and reason of a document.

    Parameters
    ----------
    group : str
        Control number of the principal of its group; empty if it is in no group.
    group_number : int
        Number of the group, from 1; 0 if it is in no group.
    is_principal : bool
        Whether it is the principal of a group.
    similarity : float
        Similarity to the principal, from 0 to 1; NaN if there is none.
    copy_number : int
        Number of the set of exact copies that it belongs to, from 1; 0 if there is no copy of it.
    reason : str
        Reason of ``documents.parquet``, such as "near-duplicate" or "empty".
    measure : str
        Measure of the similarity, such as "jaccard words:5".
    """

    group: str = ""
    group_number: int = 0
    is_principal: bool = False
    similarity: float = math.nan
    copy_number: int = 0
    reason: str = ""
    measure: str = ""

    @property
    def percent(self) -> str:
        """The similarity in whole percent, rounded down; 100 means that all shingles are the same. Empty: none."""
        return "" if math.isnan(self.similarity) else str(math.floor(100 * self.similarity + 1e-9))

    @property
    def share(self) -> str:
        """The similarity with at most six digits, rounded down; empty if there is none."""
        if math.isnan(self.similarity):
            return ""
        return f"{math.floor(1e6 * self.similarity + 1e-6) / 1e6:g}"


@dataclass(frozen=True, slots=True)
class Vendor:
    """Names of the fields of a review tool beside the control number, and their values."""

    name: str
    fields: tuple[str, ...]
    values: Callable[[OverlayRow], tuple[str, ...]]


_PLAIN = ("NEAR_DUP_GROUP", "NEAR_DUP_PRINCIPAL", "NEAR_DUP_SIMILARITY", "NEAR_DUP_MEASURE", "NEAR_DUP_REASON")
_SHOWN = 3
_TEXTLESS = {"empty": "Empty", "numbers only": "Numbers Only", "ignored only": "Ignored Only"}
_KINDS = {"exact copy": "Exact", "near-duplicate": "Near"}


def _plain(row: OverlayRow) -> tuple[str, ...]:
    measure = row.measure if row.share else ""
    return row.group, _either(row, "Yes", "No"), row.share, measure, row.reason


def _relativity(row: OverlayRow) -> tuple[str, ...]:
    group = row.group or _TEXTLESS.get(row.reason, "")
    return group, _either(row, "Yes", "No"), row.percent if row.group else _either(row, "0", "0")


def _purview(row: OverlayRow) -> tuple[str, ...]:
    number, copies = (str(one) if one else "" for one in (row.group_number, row.copy_number))
    return number, row.group, _either(row, "True", "False"), row.percent if row.group else "", copies


def _either(row: OverlayRow, yes: str, no: str) -> str:
    """Return a value for principals or for other documents; empty for unreadable documents."""
    if row.reason == "unreadable":
        return ""
    return yes if row.is_principal else no


def outside_sentence(load_file: str, groups: Counter[str]) -> WarningMessage:
    """Warn about documents of a load file whose principal is in no load file, and so has no control number.

    Parameters
    ----------
    load_file : str
    groups : Counter of str
        Documents of the load file by the name of such a group.

    Examples
    --------
    >>> outside_sentence("ABC.dat", Counter({"lease.pdf": 2}))[:80]
    'Warning: ABC.dat: 2 documents are in group lease.pdf. This principal has no cont'
    """
    n, n_groups = groups.total(), len(groups)
    return WarningMessage(
        f"{load_file}: {counted(n, 'document')} {agreeing(n, 'is', 'are')} in "
        f"{agreeing(n_groups, 'group')} {first_of([*groups], _SHOWN)}. {agreeing(n_groups, 'This', 'These')} "
        f"{agreeing(n_groups, 'principal has', 'principals have')} no control number, so the tool cannot show "
        f"{agreeing(n_groups, 'it', 'them')}."
    )


VENDORS = {
    one.name: one
    for one in (
        Vendor(
            "relativity",
            ("Textual Near Duplicate Group", "Textual Near Duplicate Principal", "Textual Near Duplicate Similarity"),
            _relativity,
        ),
        Vendor("everlaw", _PLAIN, _plain),
        Vendor("reveal", (*_PLAIN, "DUPTYPE"), lambda row: (*_plain(row), _KINDS.get(row.reason, ""))),
        Vendor(
            "purview", ("ND_set", "Pivot_ID", "Marked_as_pivot", "Similarity_percent", "Duplicate_subset"), _purview
        ),
        Vendor("plain", _PLAIN, _plain),
    )
}
"""Review tools by name; those without fixed field names for the groups of other programs get plain ones."""


def vendor_of(name: str) -> Vendor:
    """Return a review tool by name.

    Raises
    ------
    ParameterError
        There is none.

    Examples
    --------
    >>> vendor = vendor_of("relativity")
    >>> vendor.values(OverlayRow(group="A-1", group_number=1, similarity=0.9999))
    ('A-1', 'No', '99')
    """
    if name not in VENDORS:
        raise ParameterError.of("overlay", f"one of {', '.join(VENDORS)}", name)
    return VENDORS[name]
