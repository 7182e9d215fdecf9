"""Batches, second looks and two values of one field, in both databases."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from extracted_documents import add_extracted, origin
from nearkin.collection.collection import Collection
from nearkin.collection.decisions import batches as made
from nearkin.collection.decisions.batches import (
    batch_ids,
    code_again,
    draw_second_look,
    hold,
    holder_of,
    make_batches,
    second_looks,
)
from nearkin.collection.decisions.coding import code
from nearkin.collection.decisions.deciding import tag, undo
from nearkin.collection.decisions.log import ActivityResult, ChangeRequest, SettingChange
from nearkin.collection.decisions.second_values import families_that_differ, two_values
from nearkin.collection.tolerance import Tolerance
from nearkin.errors import ParameterError, RefusedError, UnknownDocumentError
from nearkin.store.store import Store
from places import SomePlace
from review_client import LAYOUT_WITH_REASON

IDS = [f"d{i:02}" for i in range(12)]
EVA = ChangeRequest(by="eva", may_resolve=False)


@pytest.fixture
def matter(place: SomePlace) -> Iterator[Collection]:
    with place.open() as opened:
        opened.add([(one, f"Letter {one} about the price and the delivery of goods.") for one in IDS])
        opened.coding(LAYOUT_WITH_REASON, by="ada")
        yield opened


def set_tag(store: Store, doc_ids: list[str], field: str, value: str | None, by: ChangeRequest) -> int:
    return tag(store, doc_ids, field, value, group=None, tolerance=Tolerance.of(), options=by).number or 0


def parts(matter: Collection, name: str) -> dict[int, list[str]]:
    with matter.opened.store.reading() as connection:
        return {one.number: batch_ids(connection, one.tag) for one in made.batches(connection, name)}


def values(matter: Collection) -> list[tuple[str, str, str | None, str, str]]:
    with matter.opened.store.reading() as connection:
        found = two_values(connection)
    return [(one.doc_id, one.field, one.first and one.first.value, one.second.value, one.second.by) for one in found]


def test_batches_have_new_documents_in_order_and_are_undone(matter: Collection) -> None:
    store = matter.opened.store
    first = make_batches(store, IDS[9:2:-1], "first pass", 3, options=ChangeRequest(by="ada"))
    assert parts(matter, "first pass") == {1: ["d09", "d08", "d07"], 2: ["d06", "d05", "d04"], 3: ["d03"]}
    again = make_batches(store, IDS, "first pass", 10, options=ChangeRequest(by="ada"))
    assert (again.n_unchanged, parts(matter, "first pass")[4]) == (7, ["d00", "d01", "d02", "d10", "d11"])
    make_batches(store, IDS[:2], "counsel", 10, options=ChangeRequest(by="ada"))  # others stay where they are
    matter.remove(["d01"])
    assert (len(parts(matter, "first pass")[4]), parts(matter, "counsel")) == (4, {1: ["d00"]})
    matter.undo(again.number or 0, by="ada", max_changes=100)
    assert sorted(parts(matter, "first pass")) == [1, 2, 3]
    hold(store, "first pass=1", is_out=True, options=ChangeRequest(by="ben"))
    with pytest.raises(ParameterError):
        matter.undo(first.number or 0, by="ada")
    matter.tag(["d00"], "custodian", "1", by="ada")
    for name, size in (("responsive", 2), ("second look", 2), ("custodian", 2), ("x", 0), ("a=b", 2)):
        with pytest.raises(ParameterError):
            make_batches(store, IDS[2:], name, size, options=ChangeRequest(by="ada"))


def test_groups_and_families_are_not_divided(place: SomePlace) -> None:
    text = "The tenant shall keep the garden in good order and return every key to the owner on the last day"
    with place.open() as matter:
        matter.add([("a", "One."), ("b", text), ("c", "Two."), ("d", text + " of the term."), ("e", "Three.")])
        with pytest.raises(ParameterError):
            make_batches(matter.opened.store, ["a"], "x", 2, keep=["groups"], options=ChangeRequest(by="ada"))
        matter.groups()
        ids = ["a", "b", "c", "d", "e"]
        make_batches(matter.opened.store, ids, "one", 2, keep=["groups"], options=ChangeRequest(by="ada"))
        assert parts(matter, "one") == {1: ["a"], 2: ["b", "d"], 3: ["c", "e"]}
        make_batches(matter.opened.store, ids, "two", 1, keep=["groups", "families"], options=ChangeRequest(by="ada"))
        assert parts(matter, "two") == {1: ["a"], 2: ["b", "d"], 3: ["c"], 4: ["e"]}
        assert parts(matter, "three") == {}
        assert make_batches(matter.opened.store, ids, "one", 2, options=ChangeRequest(by="ada")).number is None


def test_two_people_never_hold_one_batch(matter: Collection) -> None:
    store = matter.opened.store
    make_batches(store, IDS, "pass", 1, options=ChangeRequest(by="ada"))
    got: dict[str, list[int]] = {"ben": [], "eva": []}
    ready = threading.Barrier(2)

    def take(name: str) -> None:
        ready.wait()
        for number in range(1, len(IDS) + 1):
            try:
                hold(store, f"pass={number}", is_out=True, options=ChangeRequest(by=name))
                got[name].append(number)
            except RefusedError:
                pass

    threads = [threading.Thread(target=take, args=(name,)) for name in got]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert sorted(got["ben"] + got["eva"]) == list(range(1, len(IDS) + 1))
    with store.reading() as connection:
        assert {n: holder_of(connection, f"pass={n}") for n in got["ben"]} == dict.fromkeys(got["ben"], "ben")
    (mine, *_), name = (got["ben"], "ben") if got["ben"] else (got["eva"], "eva")
    other = {"ben": "eva", "eva": "ben"}[name]
    with pytest.raises(RefusedError):
        hold(store, f"pass={mine}", is_out=False, options=ChangeRequest(by=other, may_resolve=False))
    hold(store, f"pass={mine}", is_out=False, options=ChangeRequest(by=name, may_resolve=False))
    assert hold(store, f"pass={mine}", is_out=True, options=ChangeRequest(by=other)).changes[0].now == other
    with pytest.raises(UnknownDocumentError):
        hold(store, "pass=99", is_out=True, options=ChangeRequest(by=other))


def test_progress_says_what_is_done_and_by_whom(matter: Collection) -> None:
    make_batches(matter.opened.store, IDS[:5], "pass", 3, options=ChangeRequest(by="ada"))
    matter.code(IDS[:2], {"responsive": ["yes"], "privileged": ["no"]}, by="ben")
    matter.code(IDS[2:3], {"responsive": ["yes"]}, by="eva")
    matter.tag(IDS[3:4], "privileged", "no", by="eva")  # not all that is required
    with matter.opened.store.reading() as connection:
        one, two = made.batches(connection)
    assert (one.n_documents, one.n_done, one.n_left, one.done_by) == (3, 3, 0, {"ben": 2, "eva": 1})
    assert (two.n_documents, two.n_done, two.done_by, two.tag) == (2, 0, {}, "pass=2")


def test_values_of_two_people_stay_until_somebody_chooses(matter: Collection) -> None:
    store = matter.opened.store

    def call(name: str, value: str | None, **more: bool) -> None:
        chosen = {"responsive": ["yes"], "privileged": [] if value is None else [value]}
        code(store, ["d00"], chosen, options=ChangeRequest(by=name, **{"may_resolve": False} | more))

    call("ben", "no")
    call("eva", "counsel")
    assert matter.details("d00").tags["privileged"] == "no"
    assert values(matter) == [("d00", "privileged", "no", "counsel", "eva")]
    call("eva", None)
    assert values(matter) == [("d00", "privileged", "no", "", "eva")]
    matter.undo(matter.log()[-1].number, by="eva")
    eva = ("d00", "privileged", "no", "counsel", "eva")
    call("kim", None)  # a third value
    assert values(matter) == [eva, ("d00", "privileged", "no", "", "kim")]
    call("kim", "counsel")  # agrees with one of both
    assert values(matter) == [eva, ("d00", "privileged", "no", "counsel", "kim")]
    call("ben", "counsel")  # all agree
    assert (values(matter), matter.details("d00").tags["privileged"]) == ([], "counsel")
    call("eva", "no")
    matter.tag(["d00"], "privileged", "no", by="ada")
    assert (values(matter), matter.details("d00").tags["privileged"]) == ([], "no")
    call("eva", "counsel")
    matter.tag(["d00"], "privileged", "no", by="ada")  # the first value is chosen
    assert values(matter) == []


def test_a_call_that_agrees_is_logged_and_nobody_else_takes_it_back(matter: Collection) -> None:
    store = matter.opened.store

    def call(name: str, value: str) -> ActivityResult:
        options = ChangeRequest(by=name, may_resolve=name == "ada")
        return code(store, ["d00"], {"responsive": ["yes"], "privileged": [value]}, options=options)

    def authors() -> list[tuple[str | None, str]]:
        with store.reading() as connection:
            return [(two.first and two.first.by, two.second.by) for two in two_values(connection)]

    first = call("ben", "no").number or 0
    agreed = call("eva", "no")
    assert (agreed.changes, agreed.n_changed) == ((), 0)
    assert agreed.agreements == (
        SettingChange("second", "d00", "responsive=eva", None, "yes"),
        SettingChange("second", "d00", "privileged=eva", None, "no"),
    )
    assert (agreed.n_unchanged, values(matter)) == (1, [])
    logged = matter.log(of="d00")[-1]
    assert (logged.by, logged.data, logged.changes) == (
        "eva", {"values": {"responsive": "yes", "privileged": "no"}}, agreed.agreements,
    )  # fmt: skip
    assert [call(name, "no").number for name in ("ben", "eva")] == [None, None]  # once is enough
    call("kim", "no")
    flipped = call("ben", "counsel").number or 0
    by_both = [("d00", "privileged", "counsel", "no", "eva"), ("d00", "privileged", "counsel", "no", "kim")]
    assert (values(matter), matter.details("d00").tags["privileged"]) == (by_both, "counsel")
    call("kim", "counsel")  # takes back her own call alone
    assert values(matter) == by_both[:1]
    matter.undo(flipped, by="ben")
    assert (values(matter), matter.details("d00").tags["privileged"]) == (
        [("d00", "privileged", "no", "counsel", "kim")], "no",
    )  # fmt: skip
    undone = matter.undo(first, by="ben").number or 0
    assert dict(matter.details("d00").tags) == {"responsive": "yes", "privileged": "no"}  # eva's
    assert authors() == [("eva", "kim")]
    matter.undo(undone, by="ben")
    assert authors() == [("ben", "kim")]
    call("ada", "no")  # as the panel has it: nothing is resolved, and her call stays
    assert authors() == [("ben", "kim")]
    call("ben", "counsel")
    assert authors() == [("ben", "ada"), ("ben", "eva")]
    matter.tag(["d00"], "privileged", "no", by="ada")
    assert (values(matter), matter.details("d00").tags["privileged"]) == ([], "no")
    call("ben", "counsel")
    assert (authors(), matter.details("d00").tags["privileged"]) == ([("ada", "ben")], "no")


def test_what_an_undo_makes_the_first_value_belongs_to_the_person_whose_second_value_it_ends(
    matter: Collection,
) -> None:
    store, ada, ben = matter.opened.store, *(ChangeRequest(by=name, may_resolve=False) for name in ("ada", "ben"))

    def call(by: ChangeRequest, value: str) -> int:
        return code(store, ["d00", "d01"], {"responsive": [value], "privileged": ["no"]}, options=by).number or 0

    undo(store, call(ada, "yes"), ada)
    again = call(ada, "yes")  # ada herself had set the values of ben before
    for by in (ben, EVA):
        call(by, "yes")
    keys = [(doc_id, field) for doc_id in ("d00", "d01") for field in ("responsive", "privileged")]
    undone = undo(store, again, ada)
    rows = [(one.kind, one.subject, one.other, one.now) for one in undone.changes]
    expected = {
        key: [("tag", *key, value), ("second", key[0], f"{key[1]}=ben", None)]
        for key, value in zip(keys, ("yes", "no", "yes", "no"), strict=True)
    }
    pairs = [rows[i : i + 2] for i in range(0, len(rows), 2)]  # a second value is ended right after its tag
    assert sorted(pairs) == sorted(expected.values())
    call(ada, "no")
    with store.reading() as connection:
        firsts = [two.first and (two.first.value, two.first.by) for two in two_values(connection)]
    assert firsts == [("yes", "ben")] * 2
    assert values(matter) == [(doc_id, "responsive", "yes", "no", "ada") for doc_id in ("d00", "d01")]


def test_a_bare_tag_that_two_people_set_is_no_value_that_was_taken_away(matter: Collection) -> None:
    store, ben = matter.opened.store, ChangeRequest(by="ben", may_resolve=False)
    first = set_tag(store, ["d00"], "hot", "", ben)
    set_tag(store, ["d00"], "hot", "", EVA)
    assert values(matter) == []
    matter.undo(set_tag(store, ["d00"], "hot", None, ben), by="ben")
    taken = set_tag(store, ["d00"], "hot", None, EVA)
    assert values(matter) == [("d00", "hot", "hot", "", "eva")]
    matter.undo(taken, by="eva")
    matter.undo(first, by="ben")
    assert (values(matter), dict(matter.details("d00").tags)) == ([], {"hot": ""})
    set_tag(store, ["d00"], "hot", None, ben)
    assert values(matter) == [("d00", "hot", "hot", "", "ben")]


def test_a_second_look_is_blind_seeded_and_has_an_interval(matter: Collection) -> None:
    store = matter.opened.store
    matter.code(IDS[:9], {"responsive": ["yes"], "privileged": ["no"], "reason": ["memo"]}, by="ben")
    matter.tag(IDS[9:10], "responsive", "yes", by="ben")  # a call as well, as programs set it
    matter.code(IDS[10:], {"responsive": ["no"]}, by="eva")
    drawn = draw_second_look(store, "ben", 6, 7, ChangeRequest(by="ada"))
    first = parts(matter, "second look")[1]
    matter.undo(drawn.number or 0, by="ada")
    draw_second_look(store, "ben", 6, 7, ChangeRequest(by="ada"))
    assert parts(matter, "second look") == {1: first}  # the same seed
    assert len(set(first)) == 6
    assert set(first) <= set(IDS[:10])
    same, other, *_ = first
    yes = {"responsive": ["yes"], "privileged": ["no"]}
    code_again(store, same, yes, "1", ChangeRequest(by="eva"))  # no reason: texts are not compared
    code_again(store, other, {"responsive": ["yes"], "privileged": ["counsel"]}, "1", ChangeRequest(by="eva"))
    assert values(matter) == [(other, "privileged", "no", "counsel", "eva")]
    assert matter.details(other).tags == {
        "responsive": "yes", "privileged": "no", "reason": "memo", "second look": "1",
    }  # fmt: skip
    for wrong, name, error in ((same, "ben", RefusedError), ("d11", "kim", ParameterError)):
        with pytest.raises(error):
            code_again(store, wrong, yes, "1", ChangeRequest(by=name))
    with store.reading() as connection:
        (found,), (batch,) = second_looks(connection), made.batches(connection, "second look")
    assert (found.of, found.seed, found.n_calls, found.n_documents) == ("ben", 7, 10, 6)
    assert (found.n_coded, found.n_overturned, found.by_field, found.rate) == (2, 1, {"privileged": 1}, 0.5)
    assert (round(found.low or 0, 6), round(found.high or 0, 6)) == (0.012579, 0.987421)  # Clopper and Pearson, 1 of 2
    assert (batch.n_done, batch.done_by) == (2, {"eva": 2})
    matter.undo(matter.log()[-1].number, by="eva")
    with store.reading() as connection:
        assert second_looks(connection)[0].n_coded == 1
    again = draw_second_look(store, "ben", 100, 7, ChangeRequest(by="ada"))
    assert len(again.changes) == 4 + 1  # what was not drawn before
    with pytest.raises(ParameterError):
        draw_second_look(store, "ben", 1, 7, ChangeRequest(by="ada"))


def test_a_second_look_needs_no_text_and_never_stores_the_call_itself(matter: Collection) -> None:
    store = matter.opened.store
    matter.coding(LAYOUT_WITH_REASON + "required = true", by="ada")
    matter.code(["d00"], {"responsive": ["yes"], "reason": ["memo"]}, by="ben")
    draw_second_look(store, "ben", 1, 0, ChangeRequest(by="ada"))

    def again(name: str, privileged: str) -> None:
        chosen = {"responsive": ["yes"], "privileged": [privileged], "reason": []}
        code_again(store, "d00", chosen, "1", ChangeRequest(by=name, may_resolve=False))

    again("eva", "counsel")
    assert values(matter) == [("d00", "privileged", None, "counsel", "eva")]
    assert matter.details("d00").tags == {"responsive": "yes", "reason": "memo", "second look": "1"}
    with store.reading() as connection:
        (look,) = second_looks(connection)
    assert (look.n_overturned, look.by_field) == (1, {"privileged": 1})
    again("eva", "no")  # her own call
    assert values(matter) == [("d00", "privileged", None, "no", "eva")]
    again("eva", "")
    assert values(matter) == []
    again("eva", "no")
    code(store, ["d00"], {"responsive": ["yes"], "privileged": ["no"], "reason": ["memo"]}, options=EVA)
    assert (values(matter), matter.details("d00").tags["privileged"]) == ([], "no")  # not blind any more


def test_no_for_a_copy_that_nobody_called_privileged_overturns_nothing(matter: Collection) -> None:
    matter.coding(LAYOUT_WITH_REASON, by="ada")
    matter.tag(["d00"], "responsive", "yes", by="ben")
    draw_second_look(matter.opened.store, "ben", 1, 0, ChangeRequest(by="ada"))
    chosen = {"responsive": ["yes"], "privileged": ["no"]}
    code_again(matter.opened.store, "d00", chosen, "1", ChangeRequest(by="eva", may_resolve=False))
    with matter.opened.store.reading() as connection:
        assert (second_looks(connection)[0].n_coded, second_looks(connection)[0].n_overturned) == (1, 0)


def test_batches_change_by_their_own_functions_alone(matter: Collection) -> None:
    store = matter.opened.store
    make_batches(store, IDS[:3], "pass", 3, options=ChangeRequest(by="ada"))
    for name in ("pass", "second look"):
        for change in (lambda field: matter.tag(["d05"], field, "99"), lambda field: matter.untag(["d00"], field)):
            with pytest.raises(ParameterError):
                change(name)
        with pytest.raises(ParameterError):
            matter.tag_values({"d05": "99"}, name)
    make_batches(store, IDS, "pass", 12, options=ChangeRequest(by="ada"))
    assert parts(matter, "pass") == {1: IDS[:3], 2: IDS[3:]}


def test_a_batch_is_coded_by_who_holds_it(matter: Collection) -> None:
    store, yes = matter.opened.store, {"responsive": ["yes"]}
    make_batches(store, IDS[:2], "pass", 2, options=ChangeRequest(by="ada"))
    make_batches(store, IDS[1:3], "price", 2, options=ChangeRequest(by="ada"))
    made = set_tag(store, ["d00"], "seen", "", EVA)
    hold(store, "pass=1", is_out=True, options=ChangeRequest(by="ben"))
    hold(store, "price=1", is_out=True, options=ChangeRequest(by="kim"))
    with pytest.raises(RefusedError):
        code(store, ["d05", "d00"], yes, options=EVA)
    for value in ("no", None):
        with pytest.raises(RefusedError):
            set_tag(store, ["d05", "d00"], "responsive", value, EVA)
    with pytest.raises(RefusedError):
        undo(store, made, EVA)
    assert set_tag(store, ["d00"], "seen", None, ChangeRequest(by="ada"))
    for name, doc_ids in (("ben", IDS[:2]), ("kim", IDS[1:3]), ("eva", IDS[5:6])):
        assert code(store, doc_ids, yes, options=ChangeRequest(by=name, may_resolve=False)).number
    draw_second_look(store, " kim ", 5, 0, ChangeRequest(by="ada"))
    with pytest.raises(RefusedError):
        hold(store, "second look=1", is_out=True, options=ChangeRequest(by="kim"))
    hold(store, "second look=1", is_out=True, options=EVA)
    assert code_again(store, "d02", {"responsive": ["no"]}, "1", EVA).number  # kim still holds price=1
    with store.reading() as connection:
        assert holder_of(connection, "second look=1") == "eva"


def test_only_what_an_admin_changes_is_resolved_and_an_undo_keeps_authors(matter: Collection) -> None:
    store = matter.opened.store

    def call(name: str, responsive: str, privileged: str, reason: str = "") -> int:
        chosen = {"responsive": [responsive], "privileged": [privileged], "reason": [reason]}
        options = ChangeRequest(by=name, may_resolve=name == "ada")
        return code(store, ["d00"], chosen, options=options).number or 0

    first = call("ben", "yes", "no")
    call("eva", "no", "counsel")
    both = [("d00", "privileged", "no", "counsel", "eva"), ("d00", "responsive", "yes", "no", "eva")]
    call("ada", "yes", "no", "memo")
    assert (values(matter), matter.details("d00").tags["reason"]) == (both, "memo")
    resolved = call("ada", "no", "no", "memo")
    assert values(matter) == both[:1]
    matter.undo(resolved, by="ada")
    with store.reading() as connection:
        assert [(one.first and one.first.by, one.second.by) for one in two_values(connection)] == [("ben", "eva")] * 2
    assert values(matter) == both
    back = matter.undo(first, by="ben").number or 0
    assert (values(matter), dict(matter.details("d00").tags)) == (
        [("d00", "privileged", "counsel", "no", "ada"), ("d00", "responsive", "no", "yes", "ada")],
        {"responsive": "no", "privileged": "counsel", "reason": "memo"},
    )
    call("kim", "no", "no", "memo")
    with store.reading() as connection:
        found = [(one.field, one.first and one.first.by, one.second.by) for one in two_values(connection)]
    assert found == [("privileged", "eva", "ada"), ("privileged", "eva", "kim"), ("responsive", "eva", "ada")]
    matter.undo(matter.log()[-1].number, by="kim")
    matter.undo(back, by="ben")
    assert values(matter) == both
    with store.reading() as connection:
        assert [(one.first and one.first.by, one.second.by) for one in two_values(connection)] == [("ben", "eva")] * 2


def test_families_whose_parts_differ_are_listed_and_stay_together(place: SomePlace) -> None:
    mail, part = origin("a", kind="eml", family="m"), origin("b", family="m", position=1)
    with place.open() as matter:
        add_extracted(matter, [("m", "A mail.", mail, None), ("x", "Alone.", None, None), ("m!a", "Plan.", part, "m")])
        add_extracted(matter, [("r1", "Record one.", None, None), ("r2", "Record two.", None, "r1")])
        matter.tag(["m", "r1", "r2", "x"], "privileged", "no", by="ada")
        with matter.opened.store.reading() as connection:
            assert families_that_differ(connection, "privileged", 10) == {}
        matter.tag(["m!a", "r2"], "privileged", "counsel", by="ben")
        with matter.opened.store.reading() as connection:
            found = families_that_differ(connection, "privileged", 10)
            assert families_that_differ(connection, "privileged", 1) == {"m": {"m": "no", "m!a": "counsel"}}
        assert found == {"m": {"m": "no", "m!a": "counsel"}, "r1": {"r1": "no", "r2": "counsel"}}
        ids = ["r1", "m", "x", "m!a", "r2"]
        make_batches(matter.opened.store, ids, "one", 2, keep=["families"], options=ChangeRequest(by="ada"))
        assert parts(matter, "one") == {1: ["r1", "r2"], 2: ["m", "m!a"], 3: ["x"]}
