"""Rows in PostgreSQL's binary form, read back by PostgreSQL's own means."""

from __future__ import annotations

import hashlib
import struct

import pytest
from sqlalchemy import BigInteger, Boolean, Column, Integer, LargeBinary, MetaData, Table, Text, create_engine

from nearkin.store.bulk import MAX_NAMED, in_slices, insert_rows, is_storable

KINDS = Table(
    "kinds",
    MetaData(),
    Column("big", BigInteger, primary_key=True),
    Column("small", Integer),
    Column("flag", Boolean),
    Column("words", Text),
    Column("bytes", LargeBinary),
)
ROWS = [
    (0, 0, True, "", b""),
    (-(2**63), -(2**31), False, "tab\tnew\nline\\N\\.", bytes(range(256))),
    (2**63 - 1, 2**31 - 1, True, "é日本\U0001f600", b"\0" * 1000),
    (5, None, None, None, None),
    (6, 1, False, "x" * 100_000, b"\xff" * 100_000),
]


@pytest.fixture(params=["sqlite", "postgresql"])
def engine(request, tmp_path):
    if request.param == "postgresql":
        server = request.getfixturevalue("server")
        url = server.url().replace("postgresql://", "postgresql+psycopg://")
    else:
        url = f"sqlite:///{tmp_path}/x.sqlite"
    engine = create_engine(url)
    KINDS.metadata.create_all(engine)
    yield engine
    KINDS.metadata.drop_all(engine)
    engine.dispose()


def test_rows_come_back_as_they_went(engine):
    with engine.begin() as connection:
        insert_rows(connection, KINDS, list(zip(*ROWS, strict=True)))
        insert_rows(connection, KINDS, [])
        insert_rows(connection, KINDS, [[], [], [], [], []])
        rows = connection.execute(KINDS.select()).all()
    assert sorted((*row[:4], row[4] and bytes(row[4])) for row in rows) == sorted(ROWS, key=lambda row: row[0])


def test_psql_reads_what_was_copied(server):
    engine = create_engine(server.url().replace("postgresql://", "postgresql+psycopg://"))
    KINDS.metadata.create_all(engine)
    try:
        with engine.begin() as connection:
            insert_rows(connection, KINDS, list(zip(*ROWS, strict=True)))
        told = server.sql(
            "SELECT big, small, flag, md5(convert_to(words, 'UTF8')), length(bytes) FROM kinds ORDER BY big"
        )
        assert told.splitlines() == [
            f"{-(2**63)}|{-(2**31)}|f|{md5(ROWS[1][3])}|256",
            f"0|0|t|{md5('')}|0",
            "5||||",
            f"6|1|f|{md5('x' * 100_000)}|100000",
            f"{2**63 - 1}|{2**31 - 1}|t|{md5('é日本😀')}|1000",
        ]
    finally:
        KINDS.metadata.drop_all(engine)
        engine.dispose()


def md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def test_a_number_that_does_not_fit_is_no_row(engine):
    with engine.begin() as connection, pytest.raises((struct.error, OverflowError)):
        insert_rows(connection, KINDS, [[2**63], [0], [True], [""], [b""]])
    with engine.begin() as connection:
        assert connection.execute(KINDS.select()).all() == []


def test_columns_of_other_lengths_are_refused(engine):
    with engine.begin() as connection, pytest.raises(ValueError, match=r"shorter|longer"):
        insert_rows(connection, KINDS, [[1, 2], [0], [True], [""], [b""]])


def test_values_are_named_as_many_at_a_time_as_a_statement_takes():
    values = list(range(2 * MAX_NAMED + 1))
    parts = list(in_slices(values))
    assert [len(part) for part in parts] == [MAX_NAMED, MAX_NAMED, 1]
    assert [value for part in parts for value in part] == values
    assert list(in_slices([])) == []


@pytest.mark.parametrize(("text", "is_it"), [("", True), ("\x01\U0010ffff", True), ("\0", False), ("a\udfff", False)])
def test_what_both_databases_can_hold(text, is_it):
    assert is_storable(text) == is_it
