"""A principal that was removed, erased or replaced: every page, file and query shows the same member in its place."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Callable, Iterator

import pytest

from nearkin.collection.collection import Collection
from nearkin.collection.plain_sql import install
from places import SomePlace
from review_client import LEASE, Visit

TWIN = f"{LEASE} Seen by Grace."
DOCUMENTS = [
    ("first", f"{LEASE} Noted."),
    ("main", f"{LEASE} Signed by Ada Kern, and by nobody else."),
    ("twin", TWIN),
    ("long", f"{LEASE} Read by Grace Hopp."),
    ("letter", "The harbour was quiet in the evening, and none of the boats had come back from the islands yet."),
]


def chosen_before(collection: Collection) -> None:
    collection.decide(principal="first", by="ada")
    collection.decide(principal="main", by="ada")
    collection.groups()
    collection.remove(["main"])


CASES: dict[str, tuple[Callable[[Collection], object], str]] = {
    "it is there": (lambda collection: None, "main"),
    "removed": (lambda collection: collection.remove(["main"]), "long"),
    "erased": (lambda collection: collection.purge(["main"]), "long"),
    "another text now": (lambda collection: collection.add([("main", "A boat that nobody has seen before.")]), "long"),
    "another version": (lambda collection: collection.add([("main", TWIN)]), "main"),
    "another was chosen before": (chosen_before, "first"),
    "added again": (lambda collection: (collection.remove(["main"]), collection.add(DOCUMENTS[1:2])), "main"),
}


@pytest.fixture
def visit(place: SomePlace) -> Iterator[Visit]:
    with place.open() as collection:
        collection.add(DOCUMENTS)
        assert [one.principal for one in collection.groups().groups] == ["main"]
        visit = Visit(collection).sign_in()
        yield visit
        visit.service.jobs.close()


def in_pages(visit: Visit, member: str) -> dict[str, object]:
    """The principal that each page and file of the service shows."""
    token = {"authorization": f"Bearer {visit.entry.token}"}

    def rows(path: str) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(visit.get(path).text)))

    def principals(found: list[dict[str, str]]) -> list[str]:
        return [one["doc_id"] for one in found if one["is_principal"] in ("True", True)]

    archive = zipfile.ZipFile(io.BytesIO(visit.get("/groups.zip", tool="reveal", format="csv").content))
    overlay = list(csv.reader(io.StringIO(archive.read("overlay.csv").decode("utf-8-sig"))))
    group = visit.get("/group.json", number=1).json()
    return {
        "groups": visit.get("/groups.json").json()["groups"][0]["principal"],
        "first page": visit.get("/index.json").json()["groups"]["groups"][0]["principal"],
        "groups.csv": principals(rows("/groups.csv")),
        "overlay": {value for row in overlay if row[0] == member for value in row[1:]} & IDS,
        "group": group["principal"],
        "members of the group": principals(group["members"]),
        "document": [one["principal"] for one in visit.get("/document.json", id=member).json()["document"]["groups"]],
        "list": principals(visit.get("/list.json", group=1).json()["documents"]),
        "list.csv": principals(rows("/list.csv?group=1")),
        "representatives": visit.get("/representatives.json").json()["representatives"][0]["doc_id"],
        "representatives.csv": [one["doc_id"] for one in rows("/representatives.csv") if one["group"]],
        "API of groups": visit.send("GET", "/api/v1/groups", headers=token).json()["groups"][0]["principal"],
        "API of a group": visit.send("GET", "/api/v1/groups/1", headers=token).json()["principal"],
    }


IDS = {one for one, _ in DOCUMENTS}


def in_sql(collection: Collection, place: SomePlace) -> dict[str, object]:
    """The principal that the view in PostgreSQL returns."""
    if place.server is None:
        return {}
    install(collection.opened)
    rows = place.rows(f"SELECT group_key, principal_doc_id FROM {place.schema}.group_of_documents")
    return {"view": {principal for key, principal in rows if key == "group 1"}}


@pytest.mark.parametrize("case", CASES)
def test_every_place_shows_the_same_principal(case: str, visit: Visit, place: SomePlace) -> None:
    collection = visit.service.collection
    happens, expected = CASES[case]
    happens(collection)
    shown = in_pages(visit, "twin") | in_sql(collection, place)
    told = {name: {value} if isinstance(value, str) else set(value) for name, value in shown.items()}
    assert told == {name: {expected} for name in shown}
    assert [one.principal for one in collection.groups().groups] == [expected]  # the update stores what was shown
