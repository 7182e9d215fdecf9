"""The printed query for groups of documents: the same in three databases, and as `nearkin groups` says."""

from __future__ import annotations

import duckdb
import pytest

from made_up_prose import Prose
from nearkin.collection.collection import Collection
from nearkin.collection.plain_sql.duckdb_copy import copy_to_duckdb
from nearkin.collection.plain_sql.installing import install
from nearkin.collection.plain_sql.queries import groups_query
from nearkin.collection.tolerance import Tolerance

PROSE = Prose(3)
BASES = [PROSE.text(60) for _ in range(5)]


@pytest.fixture
def collection(place):
    with place.open() as opened:
        opened.add([(f"d{i}-{n}", PROSE.altered(text, n)) for i, text in enumerate(BASES) for n in range(3)])
        opened.add([("alone", PROSE.text(60)), ("copy", BASES[0])])
        yield opened


def rows(collection: Collection, place, tmp_path, tolerance: Tolerance) -> list[tuple[object, ...]]:
    dialect = "sqlite" if place.server is None else "postgresql"
    found = place.rows(
        groups_query(tolerance, dialect=dialect, schema="nearkin" if place.server is None else place.schema)
    )
    copy_to_duckdb(collection.opened, tmp_path / "copy.duckdb")
    with duckdb.connect(str(tmp_path / "copy.duckdb"), read_only=True) as copy:
        of_duckdb = copy.execute(groups_query(tolerance, dialect="duckdb")).fetchall()
    found = [(*row[:3], bool(row[3])) for row in found]
    assert found == of_duckdb
    return found


def test_every_document_has_its_group_and_principal(collection, place, tmp_path) -> None:
    members = collection.groups().members.to_pylist()
    principals = {one["group"]: one["doc_id"] for one in members if one["is_principal"]}
    expected = {one["doc_id"]: (f"group {one['group']}", principals[one["group"]]) for one in members}
    found = rows(collection, place, tmp_path, Tolerance.of())

    assert len(found) == 17
    assert len({key for _, key, _, _ in found}) == 6  # one document of each group is left, and the one alone
    for doc_id, key, principal, is_principal in found:
        assert (key, principal) == expected.get(doc_id, (f"document {doc_id}", doc_id))
        assert is_principal == (doc_id == principal)
    if place.server is not None:
        install(collection.opened)
        assert sorted(place.rows(f"SELECT * FROM {place.schema}.group_of_documents")) == sorted(found)


def letters(text: str) -> int:
    return sum(map(str.isalnum, text))


def test_a_removed_principal_is_replaced(collection, place, tmp_path) -> None:
    group = collection.groups().groups[0]
    collection.remove([group.principal])
    found = [row for row in rows(collection, place, tmp_path, Tolerance.of()) if row[1] == f"group {group.number}"]
    assert len(found) == group.n_documents - 1
    (principal,) = (row[0] for row in found if row[3])
    texts = {row[0]: collection.text(str(row[0])) for row in found}
    assert letters(texts[principal]) == max(map(letters, texts.values()))
    if place.server is not None:
        install(collection.opened)
        view = place.rows(f"SELECT * FROM {place.schema}.group_of_documents WHERE group_key = 'group {group.number}'")
        assert sorted(view) == sorted(found)


def test_missing_groups_are_an_error(collection, place) -> None:
    dialect = "sqlite" if place.server is None else "postgresql"
    with pytest.raises(Exception, match=r"run nearkin groups\. Stored groupings: 0"):
        place.rows(
            groups_query(
                Tolerance.of(gamma=0.05), dialect=dialect, schema="nearkin" if place.server is None else place.schema
            )
        )
