"""Tables, indexes and the view of a collection, in the SQL of each database."""

from __future__ import annotations

from sqlalchemy import ForeignKeyConstraint, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from nearkin.collection.plain_sql.queries import check_dialect
from nearkin.store import schema
from nearkin.store.place import check_schema


def table_statements(dialect: str) -> list[str]:
    """Return the statements that create the tables, in order of their references, without semicolons.

    DuckDB has no partial indexes, so there the current documents are not kept distinct. It looks up a reference among
    the rows of earlier statements, so there a row of a table may refer to another of the same table unchecked.
    """
    check_dialect(dialect)
    words = sqlite.dialect() if dialect == "sqlite" else postgresql.dialect()  # type: ignore[no-untyped-call]
    made = [
        _plain(CreateTable(table, include_foreign_key_constraints=_references(table, dialect)).compile(dialect=words))
        for table in schema.metadata.sorted_tables
    ]
    return [*made, schema.CHECK_KEYS_OF_SQLITE if dialect == "sqlite" else schema.CHECK_KEYS, schema.INDEXED_DOCUMENTS]


def index_statements(dialect: str) -> list[str]:
    """Return the statements that create the indexes."""
    check_dialect(dialect)
    words = sqlite.dialect() if dialect == "sqlite" else postgresql.dialect()  # type: ignore[no-untyped-call]
    tables = schema.metadata.sorted_tables
    made = [
        _plain(CreateIndex(index).compile(dialect=words))
        for table in tables
        for index in sorted(table.indexes, key=lambda index: str(index.name))
    ]
    return made if dialect == "duckdb" else [schema.OF_CURRENT, *made]


def schema_script(*, dialect: str = "postgresql", schema_name: str = "nearkin") -> str:
    """Return the script that creates an empty collection, without its facts, which Nearkin writes."""
    head = ["-- The tables of a collection. Nearkin fills the table facts when it first opens the collection."]
    if dialect == "postgresql":
        check_schema(schema_name, "nearkin sql")
        head += [f"CREATE SCHEMA IF NOT EXISTS {schema_name};", f"SET search_path TO {schema_name};"]
    made = [f"{statement};" for statement in (*table_statements(dialect), *index_statements(dialect))]
    return "\n\n".join(["\n".join(head), *made]) + "\n"


def _references(table: Table, dialect: str) -> list[ForeignKeyConstraint]:
    keys = table.foreign_key_constraints
    return [key for key in keys if dialect != "duckdb" or key.referred_table is not table]


def _plain(compiled: object) -> str:
    return "\n".join(line.rstrip().replace("\t", "    ") for line in str(compiled).strip().splitlines())
