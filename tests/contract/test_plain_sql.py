"""Plain SQL, without Nearkin, finds the same rows in the same order as Nearkin: in every database that it is for."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from typing import Any

import duckdb
import pytest

from made_up_prose import Prose
from nearkin.collection.collection import Collection
from nearkin.collection.plain_sql.ddl import schema_script
from nearkin.collection.plain_sql.duckdb_copy import copy_to_duckdb
from nearkin.collection.plain_sql.queries import similar_query
from nearkin.collection.tolerance import Tolerance
from nearkin.errors import MissingExtraError, OutputError, ParameterError, UnknownDocumentError
from nearkin.store.schema import PROJECTIONS
from places import SomePlace

ODD_IDS = ["it's", "'; DROP TABLE documents; --", 'a "quoted" \\ one', "{schema} :id %s $1", "two\nlines", "née\u2028"]
TOLERANCES = [
    Tolerance.of("si"), Tolerance.of(tolerance=1.0), Tolerance.of(tolerance=0.007), Tolerance.of(gamma=0.025),
    Tolerance.of(gamma=0.0), Tolerance.of(gamma=0.0501), Tolerance.of(gamma=0.4), Tolerance.of(gamma=0.99),
]  # fmt: skip
Rows = list[tuple[object, ...]]
Ask = Callable[[str], Rows]


def filled(place, **options: Any) -> Collection:
    """Families, odd ids, texts with too few letters, other scripts; new versions and removed documents."""
    prose = Prose(3)
    families = prose.families(30)
    texts = dict(families)
    collection = place.open(similarity_index="1B:k=3", **options)
    collection.add(families, wave="one")
    collection.add(zip(ODD_IDS, [prose.altered(texts["f2"], n) for n in range(len(ODD_IDS))], strict=True))
    russian = "Наниматель платит за дом девятьсот крон первого числа каждого месяца, и дом остаётся цел. " * 4
    collection.add([("russian", russian), ("russian too", russian.replace("девятьсот", "восемьсот"))])
    collection.add([("short", "No"), ("short too", "No"), ("other", "Yes"), ("none", "")])
    collection.add([("f1", prose.text(90)), ("f3", prose.altered(texts["f3"], 1)), ("same", texts["f4"])], wave="later")
    collection.remove(["f5", "f2/copy-0"] if "f2/copy-0" in texts else ["f5"])
    return collection


def asked(collection: Collection) -> list[str]:
    with collection.opened.store.reading() as connection:
        ids = connection.exec_driver_sql("SELECT doc_id FROM documents WHERE is_current ORDER BY row").scalars().all()
    return [*ODD_IDS, "russian", "short", "other", "none", "f1", "f3", "same", *random.Random(4).sample(ids, 6)]


def rows_of(collection: Collection, doc_id: str, tolerance: Tolerance) -> Rows:
    found = collection.similar(
        doc_id, measure=tolerance.method, limit=10_000, **{tolerance.parameter: tolerance.value}
    ).documents
    by_index = tolerance.method == "si"
    return [
        (one.document.doc_id, one.document.version, one.document.wave)
        + ((one.similarity_index,) if by_index else (one.distance, one.relative_distance, bool(one.is_same_text)))
        for one in found
    ]


def check(collection: Collection, ask: Ask, dialect: str, schema: str = "nearkin") -> None:
    """Ask for each document with half of the tolerances, so that each is asked for many documents."""
    n_found = 0
    for i, doc_id in enumerate(asked(collection)):
        for tolerance in TOLERANCES[i % 2 :: 2]:
            if tolerance.method == "si" and tolerance.value > 1 and dialect == "sqlite":
                continue
            right = rows_of(collection, doc_id, tolerance)
            told = ask(similar_query(doc_id, tolerance, dialect=dialect, schema=schema))
            assert told == right, (doc_id, tolerance)
            n_found += len(right)
    assert n_found > 500


# -- queries ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alphabet", ["universal", "latin"])
def test_a_printed_query_finds_what_the_collection_finds(place, alphabet):
    with filled(place, alphabet=alphabet) as collection:
        # PostgreSQL's driver takes one statement without its end; psql takes it as it is, see the commands' tests
        check(collection, lambda query: place.rows(query.rstrip().rstrip(";")), place.kind, place.schema)


def test_a_copy_in_duckdb_finds_the_same(place, tmp_path):
    file = tmp_path / "copy.duckdb"
    with filled(place) as collection:
        copied = copy_to_duckdb(collection.opened, file)
        with duckdb.connect(str(file), read_only=True) as copy:
            check(collection, lambda query: copy.execute(query).fetchall(), "duckdb")
            for table, n_rows in copied.n_rows.items():
                name = f"{place.schema}.{table}" if place.server else table
                assert place.rows(f"SELECT count(*) FROM {name}") == [(n_rows,)]
                assert copy.execute(f'SELECT count(*) FROM "{table}"').fetchone() == (n_rows,)
            counts = (
                f"SELECT content, counts, text FROM {place.schema + '.' if place.server else ''}contents ORDER BY 1"
            )
            assert copy.execute(counts.replace(f"{place.schema}.", "")).fetchall() == place.rows(counts)
    assert [path.name for path in tmp_path.iterdir() if "part" in path.name] == []


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_letter_counts_may_be_as_large_as_they_get(tmp_path, dialect):
    """No whole number runs over; a count stops at 2**27 - 1."""
    place = SomePlace.new(tmp_path, None)
    prose = Prose(5)
    with place.open() as collection:
        collection.add([("a", prose.text(50)), ("b", prose.text(60))])
    most = 2**27 - 1
    with closing(sqlite3.connect(place.file)) as connection, connection:
        for content, count in enumerate((most, most // 8)):
            counts, square = (count.to_bytes(4, "little") * 126).hex(), 126 * count**2
            connection.execute(f"UPDATE contents SET counts = x'{counts}' WHERE content = {content}")
            sets = ", ".join(f"{name} = {count}" for name in PROJECTIONS[1:])
            connection.execute(
                f"UPDATE profiles SET squared_length = {square}, length = {int(square**0.5)}, {sets} "
                f"WHERE content = {content}"
            )
    for gamma, expected in ((0.874, []), (0.876, ["b"]), (0.999, ["b"])):
        query = similar_query("a", Tolerance.of(gamma=gamma), dialect=dialect)
        if dialect == "sqlite":
            found = place.rows(query)
        else:
            with place.open() as collection:
                copy_to_duckdb(collection.opened, tmp_path / f"{gamma}.duckdb")
            with duckdb.connect(str(tmp_path / f"{gamma}.duckdb")) as copy:
                found = copy.execute(query).fetchall()
        assert [row[0] for row in found] == expected, gamma


def test_questions_go_by_the_indexes(place):
    with filled(place):
        pass
    for tolerance, index in (
        (Tolerance.of("si"), "profiles_by_similarity_index"),
        (Tolerance.of("range"), "profiles_by_length"),
    ):
        query = similar_query("f1", tolerance, dialect=place.kind, schema=place.schema).rstrip().rstrip(";")
        explain = "EXPLAIN QUERY PLAN " if place.server is None else "SET enable_seqscan = off; EXPLAIN "
        if place.server is None:
            plan = "\n".join(str(row) for row in place.rows(explain + query))
        else:
            plan = place.server.sql(explain + query)
        assert index in plan


@pytest.mark.parametrize("dialect", ["postgresql", "sqlite", "duckdb"])
@pytest.mark.parametrize(
    ("doc_id", "tolerance", "said"),
    [
        ("a\0b", Tolerance.of("range"), "doc_id"),
        ("\ud800", Tolerance.of("si"), "doc_id"),
        (7, Tolerance.of("range"), "doc_id"),
        ("a", Tolerance.of("hamming"), "measure"),
    ],
)
def test_what_no_query_can_be_made_of_is_refused(dialect, doc_id, tolerance, said):
    with pytest.raises(ParameterError, match=said):
        similar_query(doc_id, tolerance, dialect=dialect)


def test_tolerances_that_a_database_cannot_be_exact_with_are_refused():
    long = Tolerance.of(gamma=0.123456789012345)
    assert "0.123456789012345" in similar_query("a", long)
    for dialect in ("sqlite", "duckdb"):
        with pytest.raises(ParameterError, match="fewer decimals"):
            similar_query("a", long, dialect=dialect)
    with pytest.raises(ParameterError, match="at most 1"):
        similar_query("a", Tolerance.of(tolerance=1.5), dialect="sqlite")


@pytest.mark.parametrize("doc_id", ["\\'; DROP TABLE documents; --", "\\", "a\\'b", "''\\\\''", "\\'"])
@pytest.mark.parametrize("setting", ["on", "off"])
def test_ids_are_quoted_however_the_server_reads_strings(server, tmp_path, doc_id, setting):
    place = SomePlace.new(tmp_path, server)
    text = Prose(1).text(60)
    with place.open() as collection:
        collection.add([(doc_id, text), ("copy", text)])
    query = similar_query(doc_id, Tolerance.of("range"), schema=place.schema)
    found = server.sql(f"SET standard_conforming_strings = {setting}; SET escape_string_warning = off; {query}")
    assert found.splitlines()[-1].startswith("copy|1|wave 1|0|0|t")
    assert place.sql("SELECT count(*) FROM documents") == "2"


@pytest.mark.parametrize("schema", ["", "a.b", 'x"; DROP', "Upper", "a b"])
def test_a_schema_that_would_need_quoting_is_refused(schema):
    with pytest.raises(ParameterError, match="schema"):
        similar_query("a", Tolerance.of("range"), schema=schema)
    with pytest.raises(ParameterError, match="schema"):
        schema_script(schema_name=schema)
    with pytest.raises(ParameterError, match="dialect"):
        schema_script(dialect=schema)


# -- tables -----------------------------------------------------------------------------------------------------------


def test_the_printed_tables_are_those_of_a_collection(place):
    with place.open():
        pass
    if place.server is None:
        told = "SELECT type, name, tbl_name FROM sqlite_master WHERE name NOT LIKE 'sqlite%' ORDER BY 1, 2"
        with closing(sqlite3.connect(":memory:")) as made:
            made.executescript(schema_script(dialect="sqlite"))
            assert made.execute(told).fetchall() == place.rows(told)
        return
    other = f"{place.schema}_printed"
    place.server.sql(schema_script(schema_name=other))
    for told in (
        "SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns "
        "WHERE table_schema = '{}' ORDER BY 1, 2",
        "SELECT replace(indexdef, '{}.', '') FROM pg_indexes WHERE schemaname = '{}' ORDER BY 1",
    ):
        assert place.rows(told.replace("{}", other)) == place.rows(told.replace("{}", place.schema))


def test_a_copy_that_fails_leaves_nothing(place, tmp_path, monkeypatch):
    with place.open() as collection:
        collection.add([("a", "one")])
        with monkeypatch.context() as patched:
            patched.setattr("nearkin.collection.plain_sql.duckdb_copy.index_statements", lambda _: ["NO SQL"])
            with pytest.raises(OutputError, match="DuckDB reports"):
                copy_to_duckdb(collection.opened, tmp_path / "copy.duckdb")
        monkeypatch.setattr("nearkin.collection.plain_sql.duckdb_copy.find_spec", lambda _: None)
        with pytest.raises(MissingExtraError, match=r"nearkin\[duckdb\]"):
            copy_to_duckdb(collection.opened, tmp_path / "copy.duckdb")
    assert not list(tmp_path.glob("*copy.duckdb*"))
    with place.open() as collection, pytest.raises(UnknownDocumentError):
        collection.similar("nobody", measure="si")
