"""Changes of groups since a wave, on a small collection; `tests/contract` compares them with what was printed."""

from __future__ import annotations

from pathlib import Path

import pytest

import nearkin
from nearkin.errors import ParameterError
from nearkin.reports.sentences.groups import change_sentences, change_words

FORM = "the tenant pays the rent of {} crowns on the first day of each month to the owner of the house by the mill"
OTHER = "the mill at {} was let to another house, whose owner paid for the repairs of the wheel before the first snow"
NOTE = "a note about {} that nobody in this house had written before the first wave of documents came to the door"


def test_every_kind_of_change(tmp_path: Path) -> None:
    with nearkin.Collection.open(tmp_path / "m", create=True) as collection:
        first = {name: FORM.format(name) for name in "abcd"} | {"n": NOTE.format("n"), "o": NOTE.format("o"), "p": "No"}
        collection.add(first.items(), wave="march")
        collection.groups()
        with pytest.raises(ParameterError, match="There is no wave 'june'"):
            collection.groups_since("june")
        collection.remove(["a"])
        collection.decide(principal="d", by="ada")
        collection.decide(same_group=("b", "p"), by="ada")
        collection.decide(never_group=("n", "o"), by="ada")
        collection.add({"b": FORM.format("bb"), "e": FORM.format("e")}.items(), wave="april")
        assert collection.groups_since("march").n_decisions == 2
        collection.groups()
        found = collection.groups_since("march")
        rows = [(row["doc_id"], row["change"], row["group_was"], row["group"]) for row in found.documents.to_pylist()]
        assert rows == [
            ("a", "removed", 1, None),
            ("b", "new version", 1, 1),
            ("d", "principal", 1, 1),
            ("e", "new", None, 1),
            ("p", "joined", None, 1),
            ("n", "left", 2, None),
            ("o", "left", 2, None),
        ]
        grown, dissolved = found.changes
        assert (grown.principal_was, grown.principal, grown.has_new_principal) == ("a", "d", True)
        assert (grown.n_documents_were, grown.n_documents) == (4, 5)
        assert (dissolved.is_dissolved, dissolved.left_documents) == (True, ("n", "o"))
        assert collection.groups_since("april").changes == ()


@pytest.mark.parametrize(
    ("texts", "printed", "since"),
    [
        ({"a": NOTE, "b": NOTE}, {1: "new versions of a, b"}, {1: "new version: a, b"}),
        (
            {"a": NOTE, "b": NOTE, "c": "No"},
            {1: "new versions of a, b; c is no longer in it, because its text changed"},
            {1: "new version: a, b; left after its text changed: c"},
        ),
        (
            {"a": OTHER, "b": OTHER},
            {2: "merged with group 1; 2 documents with new versions (a, b)"},
            {2: "merged with group 1"},
        ),
        (
            {"a": OTHER, "b": "No"},
            {
                1: "dissolved; no two of its documents are in one group any more; text changed: b, a",
                2: "1 document with a new version (a)",
            },
            {1: "dissolved; left after its text changed: b", 2: "joined after its text changed: a"},
        ),
    ],
)
def test_a_group_whose_documents_all_have_other_texts(
    tmp_path: Path, texts: dict[str, str], printed: dict[int, str], since: dict[int, str]
) -> None:
    with nearkin.Collection.open(tmp_path / "m", create=True) as collection:
        first = {"o": OTHER.format("o"), "p": OTHER.format("p")}
        collection.add({"b": FORM.format("b"), **{name: FORM.format(name) for name in texts}}.items(), wave="march")
        collection.add(first.items(), wave="march")
        collection.groups()
        collection.add([(name, text.format(name)) for name, text in texts.items()], wave="april")
        found = collection.groups()
        lines = [str(one).strip() for one in change_sentences(found)][1:]
        assert dict(line.removeprefix("group ").split(": ", 1) for line in lines) == {
            str(number): words for number, words in printed.items()
        }
        assert {one.number: change_words(one) for one in collection.groups_since("march").changes} == since


def test_a_group_of_which_one_document_is_left_was_not_merged(tmp_path: Path) -> None:
    with nearkin.Collection.open(tmp_path / "m", create=True) as collection:
        collection.add({name: FORM.format(name) for name in "ab"}.items(), wave="march")
        collection.groups()
        collection.remove(["a"])
        collection.groups()
        collection.add([("c", FORM.format("c"))], wave="april")
        collection.groups()
        assert {one.number: change_words(one) for one in collection.groups_since("march").changes} == {
            1: "dissolved; moved to another group: b; removed: a",
            2: "new group; added: c; moved to it: b",
        }
        collection.add([(name, OTHER.format(name)) for name in "op"])
        collection.groups()
        collection.remove(["c"])
        collection.decide(same_group=("b", "o"), by="ada")
        assert [str(one).strip() for one in change_sentences(collection.groups())] == [
            "Since the last call: 0 new groups, 1 changed, 1 dissolved",
            "group 2: dissolved; no two of its documents are in one group any more; removed: c",
            "group 3: b moved to it",
        ]
