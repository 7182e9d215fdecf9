"""Compare: two documents, word by word."""

from __future__ import annotations

from typing import Literal

import msgspec
from markupsafe import Markup

from nearkin.reports.comparison.page import comparison_fragment
from nearkin.reports.comparison.tracked_changes import MEDIA_TYPE, tracked_changes
from nearkin.reports.sentences.compare import similarity_facts
from nearkin.web.answers import ScreenAnswer
from nearkin.web.screen import Screen, ScreenFile
from nearkin.web.service import ReviewService
from nearkin.web.sign_in import Visitor

IGNORED = ("case", "punctuation", "numbers")
_ALL_LINES = 1 << 30


class CompareQuery(msgspec.Struct, kw_only=True):
    """Two documents, and the differences that do not count."""

    a: str
    b: str
    version_a: int | None = None
    version_b: int | None = None
    ignore: list[Literal["case", "punctuation", "numbers"]] = msgspec.field(default_factory=list)
    is_whole: bool = msgspec.field(default=False, name="whole")


def compare(service: ReviewService, asked: CompareQuery) -> ScreenAnswer:
    """Compare two documents, of which A is the reference."""
    found = service.collection.compare(
        asked.a,
        asked.b,
        version_a=asked.version_a,
        version_b=asked.version_b,
        context_lines=_ALL_LINES if asked.is_whole else 2,
        ignore=asked.ignore,
    )
    values = {
        "asked": asked,
        "found": found,
        "facts": similarity_facts(found),
        "fragment": Markup(comparison_fragment(found.comparison, has_headline=False)),  # it escapes the texts
        "kinds": IGNORED,
    }
    return ScreenAnswer("compare.html.j2", values, found.to_dict())


def changes_file(service: ReviewService, visitor: Visitor, asked: CompareQuery) -> bytes:
    """Return all changes from A to B as tracked changes of a Word document, also those that the page ignores."""
    a = service.collection.details(asked.a, version=asked.version_a)
    b = service.collection.details(asked.b, version=asked.version_b)
    return tracked_changes(a.text, b.text, name_a=str(a.document), name_b=str(b.document), author=visitor.name)


SCREENS = (Screen("/compare", CompareQuery, compare, file=ScreenFile(".docx", MEDIA_TYPE, changes_file)),)
