"""Files of the groups from the review screen, on both kinds of database: members, and overlays for review tools."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Iterator

import pyarrow.parquet as pq
import pytest

from nearkin._version import __version__
from nearkin.workflows.overlay import TOOLS
from places import SomePlace, on_one_database
from review_client import DOCUMENTS, LEASE, Visit, words_of

pytestmark = on_one_database


@pytest.fixture
def visit(place: SomePlace) -> Iterator[Visit]:
    with place.open() as collection:
        collection.add([*DOCUMENTS, ("=lease", f"{LEASE} Seen by Grace Kern.")], wave="march")
        yield Visit(collection).sign_in()


def archive(visit: Visit, **query: object) -> zipfile.ZipFile:
    return zipfile.ZipFile(io.BytesIO(visit.get("/groups.zip", **query).content))


def test_members_are_exported_as_they_are_stored(visit: Visit) -> None:
    assert visit.send("GET", "/groups.csv").status_code == 400  # not computed
    assert "Overlay" not in words_of(visit.get("/groups").text)
    told = visit.service.collection.groups().members.drop_columns(["is_new"]).to_pylist()
    assert [one["doc_id"] for one in told if one["is_principal"]] == ["lease, signed"]
    visit.service.collection.add([("late", f"{LEASE} Late."), ("late copy", LEASE)], wave="april")
    read = pq.read_table(io.BytesIO(visit.get("/groups.parquet").content)).drop_columns(["is_new"]).to_pylist()
    assert [one for one in read if one["doc_id"] != "late copy"] == told
    assert len(read) == visit.get("/groups.json").json()["n_documents"] == 5  # of a new text nothing is known yet
    rows = list(csv.DictReader(io.StringIO(visit.get("/groups.csv").text)))
    assert {one["doc_id"] for one in rows} == {"lease", "lease, signed", "lease/copy", "'=lease", "late copy"}
    page = words_of(visit.get("/groups").text)
    said = "documents that were added or changed since the groups were updated, unless a member has the same text."
    assert f"The overlay leaves out {said}" in page
    found = archive(visit, tool="plain", format="csv")
    assert found.read("left-out.csv").decode().split() == ["doc_id", "late"]
    assert json.loads(found.read("parameters.json"))["n_documents_left_out"] == 1
    rows = list(csv.DictReader(io.StringIO(found.read("overlay.csv").decode("utf-8-sig"))))
    groups = {one["DOCID"]: one["NEAR_DUP_GROUP"] for one in rows}
    assert (groups.get("late"), groups["late copy"]) == (None, "lease, signed")


def test_pages_and_overlays_of_groups_count_later_documents_and_decisions(visit: Visit) -> None:
    visit.service.collection.groups()
    visit.service.collection.add([("late", f"{LEASE} Late.")])
    visit.service.collection.decide(never_group=("lease", "letter"))
    said = "decisions since the groups were updated: 1"
    for path in ("/", "/groups", "/group?number=1", "/representatives", "/list?group=1"):
        assert said in words_of(visit.get(path).text), path
    assert [one["n_decisions"] for one in visit.get("/defensibility.json").json()["data"]["groups"]] == [1]
    assert visit.get("/groups.json").json()["n_decisions"] == 1
    found = archive(visit)
    assert json.loads(found.read("parameters.json"))["n_decisions_since"] == 1
    visit.service.collection.groups()
    assert "since the groups were updated" not in words_of(visit.get("/group?number=1").text)


@pytest.mark.parametrize("tool", TOOLS)
def test_an_overlay_has_every_document_and_its_parameters(visit: Visit, tool: str) -> None:
    visit.service.collection.groups()
    assert f'value="{tool}"' in visit.get("/groups").text
    found = archive(visit, tool=tool, format="csv")
    assert found.namelist() == ["overlay.csv", "parameters.json"]
    header, *rows = csv.reader(io.StringIO(found.read("overlay.csv").decode("utf-8-sig")))
    assert header == ["DOCID", *TOOLS[tool]]
    assert {row[0] for row in rows} == {"'=lease", "lease", "lease, signed", "lease/copy", "letter"}
    in_groups = {row[0] for row in rows if "lease, signed" in row[1:]}
    assert in_groups == {"'=lease", "lease", "lease, signed", "lease/copy"}
    told = json.loads(found.read("parameters.json"))
    assert (told["tool"], told["measure"], told["value"], told["n_groups"]) == (tool, "jaccard", 0.5, 1)
    assert (told["n_documents_in_groups"], told["n_documents_added_since"]) == (4, 0)
    assert told["n_documents"] == 5


def test_every_export_says_what_made_it(visit: Visit) -> None:
    visit.service.collection.groups(threshold=0.7)
    asked = {"measure": "jaccard", "value": 0.7}
    told = visit.get("/groups.parameters", **asked)
    assert told.headers["content-disposition"] == 'attachment; filename="groups.parameters.json"'
    expected = {"nearkin": __version__, "collection": visit.service.name, "export": "/groups"} | asked
    assert expected.items() <= told.json().items()
    assert not told.json().keys() & {"page", "tool", "format"}  # these are of the page and of overlays
    stored = pq.read_schema(io.BytesIO(visit.get("/groups.parquet", **asked).content)).metadata[b"nearkin"]
    assert json.loads(stored) == told.json()
    listed = visit.get("/list.parameters", wave="march", tag="a=<b>", id="*").json()
    assert (listed["wave"], listed["tag"], listed["id"], listed["value"]) == ("march", "a=<b>", "*", 0.5)
    assert "limit" not in listed  # an export has all rows
    assert "/list.parameters?" in visit.get("/list", wave="march").text
