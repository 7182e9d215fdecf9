"""Changes of groups since a wave, on a small collection; `tests/contract` compares them with what was printed."""

from __future__ import annotations

from pathlib import Path

import pytest

import nearkin
from nearkin.errors import ParameterError

FORM = "the tenant pays the rent of {} crowns on the first day of each month to the owner of the house by the mill"
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
