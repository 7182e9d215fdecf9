"""The page Code: which document of a queue follows, what is set, and what is asked before it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from nearkin.collection.collection import Collection
from review_client import LAYOUT, Visit


@pytest.fixture
def visit(tmp_path: Path) -> Iterator[Visit]:
    with Collection.open(tmp_path / "matter", create=True) as opened:
        texts = [f"Letter {i} about the price of goods. " + "More of it. " * i for i in range(4)]
        opened.add([*((f"d{i}", text) for i, text in enumerate(texts)), ("copy", texts[1]), ("other", "A note.")])
        opened.coding(LAYOUT, by="ada")
        yield Visit(opened).sign_in()


def at(answer: httpx.Response) -> str:
    assert answer.status_code == 303, answer.text
    return parse_qs(urlsplit(answer.headers["location"]).query)["at"][0]


def save(visit: Visit, doc_id: str, **fields: object) -> httpx.Response:
    """Send the form of a page that knows the fields."""
    return visit.post("/code", id=doc_id, fields=visit.service.collection.coding().digest, **fields)


def queue_of(visit: Visit, **query: object) -> dict[str, object]:
    return visit.get("/code.json", **query).json()


def test_a_queue_is_a_list_or_a_search_and_begins_with_what_is_not_done(visit: Visit) -> None:
    assert (queue_of(visit)["n_documents"], queue_of(visit)["at"]) == (6, "copy")
    assert queue_of(visit, q="price")["n_documents"] == 5
    assert queue_of(visit, id="d*")["at"] == "d0"
    visit.service.collection.code(["d0"], {"responsive": ["yes"]}, by="ben")
    assert (queue_of(visit, id="d*")["at"], queue_of(visit, id="d*")["n_done"]) == ("d1", 1)


def test_saving_opens_the_next_document_that_is_not_done(visit: Visit) -> None:
    place = "/code?id=d*"
    visit.service.collection.code(["d1"], {"responsive": ["yes"]}, by="ben")
    assert at(save(visit, "d0", v0="yes", v1="no", back=place)) == "d2"
    assert at(save(visit, "d3", v0="no", back=place)) == "d2"  # after the end, from the start
    assert at(save(visit, "d2", v0="no", back=place)) == "d2"  # nothing is left
    tags = {one: dict(visit.service.collection.details(one).tags) for one in ("d0", "d1", "d2", "d3")}
    assert tags == {
        "d0": {"responsive": "yes", "privileged": "no"},
        "d1": {"responsive": "yes"},
        "d2": {"responsive": "no"},
        "d3": {"responsive": "no"},
    }


def test_a_queue_by_tag_stays_while_its_tags_change(visit: Visit) -> None:
    collection = visit.service.collection
    collection.tag(["d0", "d1"], "responsive", "no", by="ben")
    assert queue_of(visit, tag="responsive=no")["n_documents"] == 2
    collection.code(["d0"], {"responsive": ["yes"]}, by="ada")
    assert queue_of(visit, tag="responsive=no", at="d1")["n_documents"] == 2
    assert queue_of(visit, tag="responsive=no")["n_documents"] == 1  # entered again


def test_digits_stay_however_often_a_value_is_used(visit: Visit) -> None:
    def keys() -> list[tuple[str, str]]:
        return re.findall(r'name="quick" value="(.*?)".*?data-quick="(\d)"', visit.get("/document", id="d0").text)

    before = [("responsive=yes", "1"), ("responsive=no", "2"), ("privileged=no", "3"), ("privileged=counsel", "4")]
    assert keys() == before
    visit.service.collection.tag(["d1", "d2", "d3"], "responsive", "no", by="ben")
    assert keys() == before


def test_what_is_removed_or_undone_meanwhile_is_not_opened_or_done(visit: Visit) -> None:
    collection = visit.service.collection
    queue_of(visit, id="d*")
    collection.remove(["d1"], by="ben")
    assert at(save(visit, "d0", v0="yes", back="/code?id=d*&at=d0")) == "d2"
    assert queue_of(visit, id="d*", at="d2")["n_done"] == 1
    collection.undo(len(collection.log()), by="ada")
    assert queue_of(visit, id="d*", at="d2")["n_done"] == 0
    assert queue_of(visit, id="d*")["n_documents"] == 3


def test_fields_that_changed_meanwhile_store_nothing(visit: Visit) -> None:
    collection, known = visit.service.collection, visit.service.collection.coding().digest
    other = (
        LAYOUT.replace("responsive", "privileged?")
        .replace('"privileged"', '"responsive"')
        .replace("privileged?", "privileged")
    )
    collection.coding(other, by="ada")
    assert visit.post("/code", id="d0", fields=known, v0="yes").status_code == 409
    assert dict(collection.details("d0").tags) == {}


def test_a_value_that_is_not_in_the_layout_stays_until_it_is_taken_away(visit: Visit) -> None:
    collection = visit.service.collection
    collection.tag(["d0"], "privileged", "joint defence", by="ben")
    assert 'value="joint defence"' in visit.get("/code", at="d0").text
    assert save(visit, "d0", v0="yes", v1="joint defence").status_code == 303
    assert dict(collection.details("d0").tags) == {"responsive": "yes", "privileged": "joint defence"}
    assert save(visit, "d1", v0="yes", v1="joint defence").status_code == 400
    assert save(visit, "d0", v0="yes").status_code == 303
    assert dict(collection.details("d0").tags) == {"responsive": "yes"}


def test_an_old_page_is_asked_again_and_changes_nothing(visit: Visit) -> None:
    seen = visit.service.last_activity()
    visit.service.collection.code(["d0"], {"responsive": ["yes"], "privileged": ["counsel"]}, by="ben")
    refused = save(visit, "d0", v0="yes", v1="no", seen=seen)
    assert refused.status_code == 409
    assert "ben" in refused.text
    assert dict(visit.service.collection.details("d0").tags)["privileged"] == "counsel"


def test_copies_get_values_after_a_preview_and_keep_privilege(visit: Visit) -> None:
    collection = visit.service.collection
    collection.code(["copy"], {"responsive": ["no"], "privileged": ["counsel"]}, by="ben")
    preview = save(visit, "d1", v0="yes", v1="no", alike="copies")
    assert preview.status_code == 200
    assert "left for a reader" not in preview.text  # the copy has a value
    assert dict(collection.details("d1").tags) == {}
    agreed = preview.text.partition('name="agreed" value="')[2].partition('"')[0]
    stored = save(visit, "d1", v0="yes", v1="no", alike="copies", expected=3, agreed=agreed)
    assert stored.status_code == 303
    assert dict(collection.details("d1").tags) == {"responsive": "yes", "privileged": "no"}
    assert dict(collection.details("copy").tags) == {"responsive": "yes", "privileged": "counsel"}


def test_copies_that_nobody_read_are_left_for_a_reader(visit: Visit) -> None:
    collection = visit.service.collection
    assert "1 document is left for a reader" in save(visit, "d1", v0="yes", v1="no", alike="copies").text
    assert save(visit, "d1", v0="yes", v1="no", alike="copies", expected=3).status_code == 303
    assert dict(collection.details("copy").tags) == {"responsive": "yes"}
    assert dict(collection.log()[-1].data) == {"values": {"responsive": "yes", "privileged": "no"}, "n_left": 1}
    assert save(visit, "d1", v0="yes", v1="counsel", alike="copies", expected=2).status_code == 303
    assert dict(collection.details("copy").tags) == {"responsive": "yes", "privileged": "counsel"}


def test_without_fields_the_page_offers_them_and_stores_what_is_sent(tmp_path: Path) -> None:
    with Collection.open(tmp_path / "matter", create=True) as opened:
        opened.add([("a", "A letter.")])
        visit = Visit(opened).sign_in()
        assert "[[fields]]" in visit.get("/code").text
        assert visit.post("/code/layout", layout="[[fields]]\nname='a'").status_code == 400
        assert visit.post("/code/layout", layout=LAYOUT.replace("\n", "\r\n")).status_code == 303
        assert [one.name for one in opened.coding().fields] == ["responsive", "privileged"]
        assert queue_of(visit)["at"] == "a"
