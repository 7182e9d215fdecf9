"""Coding in both databases: rules of the layout, calls in one activity, sensitive fields, calls from an old page."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from nearkin.collection.collection import Collection
from nearkin.collection.decisions.coding import code, coded_among, layout_of, n_coded_lately, read_layout
from nearkin.collection.decisions.log import ChangeRequest
from nearkin.errors import ChangedMeanwhileError, ParameterError, UnknownDocumentError
from places import SomePlace, on_one_database

LAYOUT = """
[[fields]]
name = "responsive"
kind = "yes-no"
required = true

[[fields]]
name = "privileged"
values = ["no", "counsel"]
keys = ["n", "1"]
sensitive = true

[[fields]]
name = "issues"
kind = "several"
values = ["price", "delivery"]

[[fields]]
name = "reason"
kind = "text"
"""


@pytest.fixture
def matter(place: SomePlace) -> Iterator[Collection]:
    with place.open() as opened:
        opened.add([(f"d{i}", f"Letter number {i} about the price and the delivery of goods.") for i in range(4)])
        opened.coding(LAYOUT, by="ada")
        yield opened


def tags_of(matter: Collection, doc_id: str) -> dict[str, str]:
    return dict(matter.details(doc_id).tags)


def test_keys_are_free_digits_in_order_and_stay() -> None:
    fields = read_layout(LAYOUT).fields
    assert [one.keys for one in fields] == [("2", "3"), ("n", "1"), ("4", "5"), ()]


@on_one_database
@pytest.mark.parametrize(
    "text",
    [
        "fields = 3",
        "fields = []",
        "[[fields]]\nname = 'a'\ncolor = 'x'\nvalues = ['b']",
        "[[fields]]\nname = 'a'\nkind = 'one'",
        "[[fields]]\nname = 'a=b'\nkind = 'text'",
        "[[fields]]\nname = 'a'\nvalues = ['b', 'b']",
        "[[fields]]\nname = 'a'\nvalues = ['b; c']",
        "[[fields]]\nname = 'a'\nvalues = ['b', 'c']\nkeys = ['1']",
        "[[fields]]\nname = 'a'\nvalues = ['b']\nkeys = ['g']",
        "[[fields]]\nname = 'a'\nvalues = ['b']\nkeys = ['1']\n[[fields]]\nname = 'c'\nvalues = ['d']\nkeys = ['1']",
        "[[fields]]\nname = 'a'\nkind = 'text'\n[[fields]]\nname = 'A'\nkind = 'text'",
        "[[fields]]\nname = 'a'\nvalues = ['b', 'c']\ncolours = ['red']",
    ],
)
def test_a_layout_that_breaks_a_rule_is_not_stored(matter: Collection, text: str) -> None:
    with pytest.raises(ParameterError):
        matter.coding(text)
    assert len(matter.coding().fields) == 4


def test_a_call_is_one_activity_that_undo_reverses(matter: Collection) -> None:
    matter.code(["d0"], {"responsive": ["yes"], "issues": ["delivery", "price"], "reason": [" see p. 3 "]}, by="ada")
    assert tags_of(matter, "d0") == {"responsive": "yes", "issues": "price; delivery", "reason": "see p. 3"}
    assert all(matter.search(f"tag:issues={one}").n_found == 1 for one in ("price", "delivery"))
    changed = matter.code(["d0"], {"responsive": ["no"], "issues": ["price"]}, by="ada")
    assert tags_of(matter, "d0") == {"responsive": "no", "issues": "price"}
    matter.undo(changed.number or 0, by="ada")
    assert tags_of(matter, "d0") == {"responsive": "yes", "issues": "price; delivery", "reason": "see p. 3"}
    assert [one.kind for one in matter.log()] == ["coding", "code", "code", "undo"]


@on_one_database
@pytest.mark.parametrize(
    "values",
    [{}, {"responsive": ["maybe"]}, {"responsive": ["yes", "no"]}, {"responsive": ["yes"], "other": ["x"]}],
)
def test_a_wrong_call_stores_nothing(matter: Collection, values: dict[str, list[str]]) -> None:
    with pytest.raises(ParameterError):
        matter.code(["d0"], values)
    with pytest.raises(UnknownDocumentError):
        matter.code(["d0", "missing"], {"responsive": ["yes"]})
    assert tags_of(matter, "d0") == {}


def test_a_call_from_an_old_page_is_refused_with_who_changed_what(matter: Collection) -> None:
    seen = len(matter.log())
    matter.code(["d0"], {"responsive": ["yes"], "privileged": ["counsel"]}, by="ada")
    with pytest.raises(ChangedMeanwhileError) as refused:
        matter.code(["d0"], {"responsive": ["yes"]}, by="ben", seen=seen)  # it would empty the privilege call
    (only,) = refused.value.activities
    assert (only.by, [(one.other, one.now) for one in only.changes]) == ("ada", [("privileged", "counsel")])
    with pytest.raises(ChangedMeanwhileError) as refused:
        matter.code(["d0"], {"responsive": ["no"], "privileged": ["no"]}, by="ben", seen=seen)
    (only,) = refused.value.activities  # all that would be replaced
    assert {one.other for one in only.changes} == {"responsive", "privileged"}
    assert tags_of(matter, "d0")["privileged"] == "counsel"
    matter.code(["d1"], {"responsive": ["yes"]}, by="ben", seen=seen)  # other documents are not concerned


def test_documents_alike_keep_what_is_sensitive_and_what_was_not_chosen(matter: Collection) -> None:
    matter.code(["d1"], {"responsive": ["no"], "privileged": ["counsel"], "reason": ["memo"]}, by="ada")
    chosen = {"responsive": ["yes"], "privileged": ["no"]}
    store, alike, ben = matter.opened.store, frozenset(("d1", "d2")), ChangeRequest(by="ben")
    done = code(store, ["d0", "d1", "d2"], chosen, alike=alike, options=ben)
    assert tags_of(matter, "d0") == {"responsive": "yes", "privileged": "no"}
    assert tags_of(matter, "d1") == {"responsive": "yes", "privileged": "counsel", "reason": "memo"}
    assert tags_of(matter, "d2") == {"responsive": "yes"}  # nobody has read it
    assert done.data["n_left"] == 1
    done = code(store, ["d0", "d1", "d2"], chosen | {"privileged": ["counsel"]}, alike=alike, options=ben)
    assert ("n_left" in done.data, tags_of(matter, "d2")["privileged"]) == (False, "counsel")


def test_done_are_documents_with_all_required_fields(matter: Collection) -> None:
    matter.tag(["d0"], "reason", "memo", by="ada")
    matter.code(["d1", "d2"], {"responsive": ["no"]}, by="ada")
    with matter.opened.store.reading() as connection:
        layout = layout_of(connection)
        assert coded_among(connection, layout, [f"d{i}" for i in range(4)]) == {"d1", "d2"}
        assert (n_coded_lately(connection, "ada"), n_coded_lately(connection, "ben")) == (2, 0)
