"""Figures and facts that the review screen shows, against the tables of the database and definitions written out."""

from __future__ import annotations

import html
import re
from collections import defaultdict
from collections.abc import Iterator

import pytest

from nearkin.collection.collection import Collection
from places import SomePlace, on_one_database
from review_client import DOCUMENTS, Visit

pytestmark = on_one_database

LETTERS = "Dear Ms {}, the tea was good and the evening was long, and none of us will forget the songs of the harbour."


@pytest.fixture
def visit(place: SomePlace) -> Iterator[Visit]:
    with place.open() as collection:
        collection.add([*DOCUMENTS, *((f"tea {i}", LETTERS.format(i)) for i in range(3))], wave="march")
        yield Visit(collection).sign_in()


DEFAULT = "measure=jaccard&value=0.5"


def tiles(visit: Visit, **asked: object) -> dict[str, tuple[str, str]]:
    """The figures on the first page with the addresses that they lead to, by their words."""
    found = re.findall(r'<li><a href="([^"]*)"><b>([^<]*)</b>(.*?)</a></li>', visit.get("/", **asked).text)
    return {re.sub("<[^>]*>", "", words): (html.unescape(where), figure) for where, figure, words in found}


def odd_groups(collection: Collection, field: str) -> int:
    """Number of groups that have documents with different values of a field, by the definition."""
    values = {
        one.subject: one.now for entry in reversed(collection.log()) for one in entry.changes if one.other == field
    }
    is_bare = not any(values.values())
    by_group = defaultdict[int, set[object]](set)
    for one in collection.groups().members.to_pylist():
        value = values.get(one["doc_id"])
        if value is not None or is_bare:
            by_group[one["group"]].add(value)
    return sum(len(some) > 1 for some in by_group.values())


def test_open_conflicts_are_counted_on_the_first_page(visit: Visit) -> None:
    collection = visit.service.collection
    assert "groups with different tags" not in tiles(visit)
    collection.groups()
    assert tiles(visit)["groups with different tags"] == (f"/conflicts?{DEFAULT}", "0")
    collection.tag(["lease", "lease/copy", "tea 0"], "responsive", "yes")
    collection.tag(["lease, signed", "letter"], "responsive", "no")
    collection.tag(["tea 1", "lease"], "privileged")
    collection.tag(["lease", "lease/copy", "lease, signed"], "whole")
    assert (odd_groups(collection, "responsive"), odd_groups(collection, "privileged")) == (1, 2)
    assert odd_groups(collection, "whole") == 0
    shown = tiles(visit)
    assert shown["groups with different tags: responsive"] == (f"/conflicts?field=responsive&{DEFAULT}", "1")
    assert shown["groups with different tags: privileged"] == (f"/conflicts?field=privileged&{DEFAULT}", "2")
    assert "whole" not in " ".join(shown)
    assert visit.get("/index.json").json()["conflicts"] == {"privileged": 2, "responsive": 1}
    for field, n in (("responsive", 1), ("privileged", 2)):
        assert visit.get("/conflicts.json", field=field).json()["n_groups"] == n
