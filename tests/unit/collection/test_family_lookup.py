"""The family of a document without an origin is looked up by an index: the page of a document asks for it each time."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import event

from extracted_documents import LETTER, add_extracted, origin
from nearkin.collection.collection import Collection
from nearkin.collection.listing.details import details, family_of


def test_no_table_is_read_whole(tmp_path: Path) -> None:
    with Collection.open(tmp_path / "matter", create=True) as collection:
        add_extracted(collection, [("m.eml", LETTER, origin("1", kind="eml"), None)])
        collection.add([("plain", "A text that came from no file.")])
        asked = list[tuple[str, object]]()
        with collection.opened.store.reading() as connection:
            found = details(connection, "plain", None)
            event.listen(connection, "before_cursor_execute", lambda *given: asked.append((given[2], given[3])))
            assert family_of(connection, found).members == ()
            (own,) = [one for one in asked if "FROM origins" in one[0]]
            plan = [row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {own[0]}", own[1])]
    assert [step for step in plan if step.startswith("SCAN")] == []
    assert any("origins_of_parent" in step for step in plan)
