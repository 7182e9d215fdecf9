"""Compare: two documents, word by word."""

from __future__ import annotations

from typing import Literal

import msgspec
from markupsafe import Markup

from nearkin.collection.comparing import ComparedDocuments
from nearkin.reports.comparison.page import comparison_fragment, comparison_html
from nearkin.reports.comparison.tracked_changes import MEDIA_TYPE, tracked_changes
from nearkin.reports.sentences.compare import similarity_facts
from nearkin.stages.differences.comparison import Comparison
from nearkin.web.answers import ScreenAnswer
from nearkin.web.screen import Screen, ScreenFile
from nearkin.web.service import ReviewService
from nearkin.web.sign_in import Visitor

IGNORED = ("case", "punctuation", "numbers")
_ALL_LINES = 1 << 30
_N_TICKS = 250


class CompareQuery(msgspec.Struct, kw_only=True):
    """Two documents, and the differences that do not count."""

    a: str
    b: str
    version_a: int | None = None
    version_b: int | None = None
    ignore: list[Literal["case", "punctuation", "numbers"]] = msgspec.field(default_factory=list)
    is_whole: bool = msgspec.field(default=False, name="whole")
    view: Literal["inline", "sides"] = "inline"


def compare(service: ReviewService, asked: CompareQuery) -> ScreenAnswer:
    """Compare two documents, of which A is the reference."""
    found = _compared(service, asked)
    fragment = comparison_fragment(found.comparison, has_headline=False, is_side_by_side=asked.view == "sides")
    values = {
        "asked": asked,
        "found": found,
        "facts": similarity_facts(found),
        "fragment": Markup(fragment),  # it escapes the texts
        "ticks": ticks(found.comparison, found.a.n_characters),
        "kinds": IGNORED,
    }
    return ScreenAnswer("compare.html.j2", values, found.to_dict())


def _compared(service: ReviewService, asked: CompareQuery) -> ComparedDocuments:
    return service.collection.compare(
        asked.a,
        asked.b,
        version_a=asked.version_a,
        version_b=asked.version_b,
        context_lines=_ALL_LINES if asked.is_whole else 2,
        ignore=asked.ignore,
    )


def ticks(comparison: Comparison, n_characters: int) -> dict[int, int]:
    """Return the first difference at each place of the strip, by its place among the characters of A in thousandths.

    Examples
    --------
    >>> from nearkin.stages.differences.comparing import compare_texts
    >>> ticks(compare_texts("one is three or", "two is four or"), 15)
    {0: 1, 464: 2}
    """
    found = dict[int, int]()
    for one in comparison.differences:
        place = min(_N_TICKS - 1, _N_TICKS * one.start_a // max(1, n_characters))
        found.setdefault(place * 1000 // _N_TICKS, one.number)
    return found


def changes_file(service: ReviewService, visitor: Visitor, asked: CompareQuery) -> bytes:
    """Return all changes from A to B as tracked changes of a Word document, including those that the page ignores."""
    a = service.collection.details(asked.a, version=asked.version_a)
    b = service.collection.details(asked.b, version=asked.version_b)
    return tracked_changes(a.text, b.text, name_a=str(a.document), name_b=str(b.document), author=visitor.name)


def comparison_file(service: ReviewService, _: Visitor, asked: CompareQuery) -> bytes:
    """Return the comparison as a page for other people, with the same settings."""
    found = _compared(service, asked)
    names = str(found.a), str(found.b.document)
    page = comparison_html(found.comparison, name_a=names[0], name_b=names[1], facts=similarity_facts(found))
    return page.encode()


SCREENS = (
    Screen(
        "/compare", CompareQuery, compare,
        files=(
            ScreenFile(".docx", MEDIA_TYPE, changes_file),
            ScreenFile(".html", "text/html; charset=utf-8", comparison_file),
        ),
    ),
)  # fmt: skip
