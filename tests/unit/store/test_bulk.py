"""Rows in PostgreSQL's binary form, read back by PostgreSQL's own means."""

from __future__ import annotations

import struct

import pytest
from sqlalchemy import BigInteger, Boolean, Column, Integer, LargeBinary, MetaData, Table, Text, create_engine

from nearkin.store.bulk import insert_rows, is_storable

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


def test_a_number_that_does_not_fit_is_no_row(engine):
    with engine.begin() as connection, pytest.raises((struct.error, OverflowError)):
        insert_rows(connection, KINDS, [[2**63], [0], [True], [""], [b""]])
    with engine.begin() as connection:
        assert connection.execute(KINDS.select()).all() == []


@pytest.mark.parametrize(("text", "is_it"), [("", True), ("\x01\U0010ffff", True), ("\0", False), ("a\udfff", False)])
def test_what_both_databases_can_hold(text, is_it):
    assert is_storable(text) == is_it
