"""Versions of a document: their relations, as `nearkin families` has them, and the one in force at a date."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

import pytest

import nearkin
from functional.conftest import nearkin_here
from nearkin.collection.collection import Collection
from nearkin.collection.versions import Version
from nearkin.errors import ParameterError

BODY = """
The tenant keeps the rooms in good order, lets the landlord in after a notice of two days, and returns all the keys.
The landlord keeps the roof and the walls in repair, and answers for damage that comes from either of the two.
Either side may end the lease with a notice of three months to the end of a quarter, in writing and by post.
"""
FORM = f"Lease between Kern Seeds, Inc. and Ada Rowe.\n{BODY}\nThe rent is 900 crowns.\nSigned: ____________\n"
TEXTS = {
    "form": FORM,
    "signed": FORM.replace("____________", "/s/ Ada Rowe"),
    "raised": FORM.replace("900", "950"),
    "retyped": FORM.upper().replace("\n", "  "),
    "other": FORM.replace("Kern Seeds", "Abara Mills").replace("Ada Rowe", "Li D. Quist"),
    "short": FORM.replace("answers for damage that comes from either of the two", "nothing else")[:-40],
    "inverted": FORM.replace("may end", "may not end"),
    "letter": "A letter about the weather in the mountains, and about a bridge that nobody has mended for years.",
}
EXPECTED = {
    "signed": ("signature or date filled in", "version"),
    "raised": ("other numbers or dates", ""),
    "retyped": ("exact copy", ""),
    "other": ("same form, other parties", ""),
}


@pytest.fixture
def collection(place) -> Iterator[Collection]:
    with place.open() as opened:
        opened.add([("form", FORM.replace("900", "800"))], wave="first")
        opened.add(list(TEXTS.items()), wave="second")
        yield opened


def by_id(collection: Collection, doc_id: str = "form", **how: object) -> dict[tuple[str, int], Version]:
    found = collection.versions(doc_id, threshold=0.3, **how)
    return {(one.similar.document.doc_id, one.similar.document.version): one for one in found.versions}


def test_relations_are_those_of_families_of_files(collection) -> None:
    found = by_id(collection)
    assert {one: (found[one, 1].relation, found[one, 1].filled_in) for one in EXPECTED} == EXPECTED
    assert found["form", 1].relation == "other numbers or dates"
    assert by_id(collection, "signed")["form", 2].filled_in == "document"
    # the longest document is the principal of a family; its members have the same relations to it
    of_files = nearkin.families(list(TEXTS.items()), threshold=0.3).members.to_pylist()
    (principal,) = [one["id"] for one in of_files if one["role"] == "principal"]
    expected = {one["id"]: one["relation"] for one in of_files if one["role"] == "member"}
    assert len(expected) == len(TEXTS) - 2
    found = by_id(collection, principal)
    assert {one: found[one, 2 if one == "form" else 1].relation for one in expected} == expected


def test_the_newest_version_that_is_not_later_is_in_force(place, collection) -> None:
    dates = {"form": "2020-01-01", "signed": "2021-05-05", "raised": "2022-01-01", "short": "2022-01-01"}
    for doc_id, day in dates.items():
        collection.tag([doc_id], "date", day)
    collection.tag(["letter"], "date", "2020-06-01")  # no version of the form
    for at in ("2019-12-31", "2020-01-01", "2021-05-04", "2021-05-05", "2030-12-31"):
        found = collection.versions("form", threshold=0.3, at=at)
        newest = max((day for day in dates.values() if day <= at), default=None)
        expected = {doc_id for doc_id, day in dates.items() if day == newest}
        told = found.to_dict()
        assert {one["doc_id"] for one in told["in_force"]} == expected
        marked = {one.similar.document.doc_id for one in found.versions if one.is_in_force}
        assert marked == expected - {"form"}
        assert found.n_found == len(found.versions) == len(TEXTS) - 1
        assert told["document_date"] == "2020-01-01"
    found = by_id(collection, at=date(2022, 1, 1))
    assert found["signed", 1].date == date(2021, 5, 5)
    assert (found["form", 1].date, found["form", 1].is_in_force) == (None, False)  # replaced: the date is not its own
    assert found["other", 1].date is None
    # though other versions are more similar
    shown = collection.versions("form", threshold=0.3, at="2022-01-01", limit=3)
    assert [one.is_in_force for one in shown.versions] == [False, True, True]
    assert {one.similar.document.doc_id for one in shown.versions[1:]} == {"raised", "short"}
    assert collection.versions("form", version=1, threshold=0.3, at="2020-01-01").in_force.documents[0].version == 2
    ended = nearkin_here("versions", place.address, "form", "--threshold", "0.3", "--at", "2021-12-31")
    assert "signed  dated 2021-05-05, in force  edit" in ended.out
    assert "signature or date filled in (signed fills in the blanks of form)" in ended.out
    assert "in force on 2021-12-31  signed  dated 2021-05-05" in ended.out
    assert "undated" in ended.out


def test_the_document_itself_may_be_in_force_and_none_may_be(collection) -> None:
    collection.tag(["form"], "effective", "2020-01-01")
    at = {"threshold": 0.3, "date_tag": "effective"}
    found = collection.versions("form", at="2021-01-01", **at)
    assert [one.doc_id for one in found.in_force.documents] == ["form"]
    assert not any(one.is_in_force for one in found.versions)
    assert collection.versions("form", at="2019-01-01", **at).in_force.documents == ()


def test_dates_that_are_missing_or_unreadable_are_named(collection) -> None:
    with pytest.raises(ParameterError, match=r"Neither 'form' nor any version of it has a tag 'date'.*nearkin tag"):
        collection.versions("form", at="2021-01-01")
    collection.tag(["raised"], "date", "1 May 2021")
    with pytest.raises(ParameterError, match=r"document 'raised' must be a date .* Got '1 May 2021'"):
        collection.versions("form", threshold=0.3, at="2021-01-01")
    for at in ("2021-02-30", "20210101", "tomorrow", 2021):
        with pytest.raises(ParameterError, match="at: must be a date"):
            collection.versions("form", at=at)
    with pytest.raises(ParameterError, match="Got it alone"):
        collection.versions("form", date_tag="date")
