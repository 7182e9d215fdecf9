"""Sentences about the changes of groups name the documents that came, changed and left."""

from __future__ import annotations

from pathlib import Path

import nearkin
from nearkin.reports.sentences.groups import groups_sentences
from nearkin.store.facts import delete_fact

LEASE = "The tenant shall pay the rent of {} crowns on the first day of each month to the landlord of the house."
OTHER = "Quite another text, about the sea and the ships that sail on it in every weather of the year."

NOTE = "A short note about the harvest of the year, which was a good one for the pears and the plums."


def told(collection: nearkin.Collection) -> list[str]:
    """Sentences about each changed group."""
    sentences = groups_sentences(collection.groups(threshold=0.4), 5)
    return [one.text.strip() for one in sentences if one.text.startswith("  group")]


def test_changes_of_groups_name_the_documents(tmp_path: Path) -> None:
    with nearkin.Collection.open(tmp_path / "matter", create=True) as collection:
        collection.add([*((f"d{i}", LEASE.format(900 + i)) for i in range(4)), ("x", OTHER), ("y", OTHER + " More.")])
        collection.add([("p", NOTE), ("q", NOTE)])
        told(collection)
        collection.add([("d1", LEASE.format(950))])
        assert told(collection) == ["group 1: new version of d1"]
        collection.add([("d1", LEASE.format(951)), ("d2", LEASE.format(952)), ("e", LEASE.format(953))])
        assert told(collection) == ["group 1: 1 new document (e); new versions of d1, d2"]
        number = collection.decide(same_group=("d0", "x")).number
        told(collection)
        collection.remove(["y"])
        told(collection)
        collection.undo(number)
        collection.remove(["e"])
        (said,) = told(collection)
        assert said == "group 1: x is no longer in any group; removed: e"
        collection.remove(["q"])
        (said,) = told(collection)
        assert said == "group 3: dissolved; no two of its documents are in one group any more; removed: q"
        with collection.opened.store.writing() as connection:
            connection.exec_driver_sql("DROP TABLE group_history")  # as earlier versions of Nearkin left it
            delete_fact(connection, "history of groups at minhash, threshold 0.4")
        collection.remove(["d2"])
        assert told(collection) == ["group 1: 1 text no longer in it"]
