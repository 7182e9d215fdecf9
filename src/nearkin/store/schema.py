"""The tables of a collection, the same in SQLite and PostgreSQL.

A *content* is a distinct text, numbered from 0 in the order in which texts came; a *document* is an id that has, or
had, one. Contents are never changed and never removed, so whatever is derived from a range of them stays true.

``checksum`` is the last column of every table whose rows cannot be made again (`nearkin.store.checksums`); ``seals``
says how many rows there are, and what their checksums add up to (`nearkin.store.seals`).
"""

from __future__ import annotations

from sqlalchemy import (
    DDL,
    BigInteger,
    Boolean,
    Column,
    Connection,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    event,
)

VERSION = 4
"""Of the schema; `migrations` leads from any lower one to it."""

metadata = MetaData()

facts = Table(
    "facts",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
    Column("checksum", BigInteger),  # null, here and below: Nearkin did not write this row
)
"""What is said once of a collection: its schema, its own id, how its texts are counted, signed and indexed, …"""

waves = Table(
    "waves",
    metadata,
    Column("wave", Integer, primary_key=True, autoincrement=False),
    Column("name", Text, nullable=False, unique=True),
    Column("checksum", BigInteger),
)

loads = Table(
    "loads",
    metadata,
    Column("load", Integer, primary_key=True, autoincrement=False),
    Column("wave", Integer, ForeignKey("waves.wave"), nullable=False),
    Column("added_at", Text, nullable=False),  # UTC, as ISO 8601 has it
    Column("first_content", BigInteger, nullable=False),
    Column("end_content", BigInteger, nullable=False),
    Column("digest", LargeBinary, nullable=False),  # SHA-256 over the digests of its contents
    Column("n_new", BigInteger, nullable=False),
    Column("n_new_versions", BigInteger, nullable=False),
    Column("n_unchanged", BigInteger, nullable=False),
    Column("n_problems", BigInteger, nullable=False),
    Column("checksum", BigInteger),
)
"""One command that added something, which is one transaction; a wave is made of one or more."""

contents = Table(
    "contents",
    metadata,
    Column("content", BigInteger, primary_key=True, autoincrement=False),
    Column("digest", LargeBinary, nullable=False, unique=True),  # SHA-256 of the text in UTF-8
    Column("n_bytes", BigInteger, nullable=False),
    Column("n_characters", BigInteger, nullable=False),
    Column("n_letters", BigInteger, nullable=False),  # that have a place in the counts
    Column("n_other_letters", BigInteger, nullable=False),
    Column("is_counted", Boolean, nullable=False),  # False: too few letters, it is matched by its signature only
    Column("counts", LargeBinary, nullable=False),  # uint32, little-endian
    Column("signature", LargeBinary),  # null: no features
    Column("text", LargeBinary, nullable=False),  # UTF-8, compressed with Zstandard
)

documents = Table(
    "documents",
    metadata,
    Column("row", BigInteger, primary_key=True, autoincrement=False),
    Column("doc_id", Text, nullable=False),
    Column("version", Integer, nullable=False),  # from 1
    Column("content", BigInteger, ForeignKey("contents.content"), nullable=False),
    Column("load", Integer, ForeignKey("loads.load"), nullable=False),
    Column("source", Text, nullable=False),
    Column("line", BigInteger, nullable=False),
    Column("is_current", Boolean, nullable=False),
    Column("removed_at", Text),  # null for what is current, and for what a new version took the place of
    Column("checksum", BigInteger),
    UniqueConstraint("doc_id", "version"),
)
# in words that both databases know: asked for by their own parameters, both dialects would be loaded by every command
OF_CURRENT = "CREATE UNIQUE INDEX current_documents ON documents (doc_id) WHERE is_current"
event.listen(documents, "after_create", DDL(OF_CURRENT))  # type: ignore[no-untyped-call]
Index("documents_of_content", documents.c.content)

problems = Table(
    "problems",
    metadata,
    Column("load", Integer, ForeignKey("loads.load"), nullable=False),
    Column("number", BigInteger, nullable=False),
    Column("doc_id", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("line", BigInteger, nullable=False),
    Column("problem", Text, nullable=False),
    Column("checksum", BigInteger),
    UniqueConstraint("load", "number"),
)
"""What could not be read, or got another id, in one load."""

# -- since version 2 ---------------------------------------------------------------------------------------------------

groupings = Table(
    "groupings",
    metadata,
    Column("grouping", Integer, primary_key=True, autoincrement=False),
    Column("tolerance", Text, nullable=False, unique=True),
    Column("seen_row", BigInteger, nullable=False),  # documents from this one on have not been grouped yet
    Column("next_group", BigInteger, nullable=False),  # numbers of groups are never used again
    Column("checksum", BigInteger),  # of its groups and members too
)
"""Groups at one tolerance, as they were worked out last."""

groups = Table(
    "groups",
    metadata,
    Column("grouping", Integer, ForeignKey("groupings.grouping"), primary_key=True, autoincrement=False),
    Column("group_number", BigInteger, primary_key=True, autoincrement=False),
    Column("principal", BigInteger, ForeignKey("documents.row"), nullable=False),
)

members = Table(
    "members",
    metadata,
    Column("grouping", Integer, ForeignKey("groupings.grouping"), primary_key=True, autoincrement=False),
    Column("content", BigInteger, ForeignKey("contents.content"), primary_key=True, autoincrement=False),
    Column("group_number", BigInteger, nullable=False),
)
Index("members_of_group", members.c.grouping, members.c.group_number)

# -- since version 3 ---------------------------------------------------------------------------------------------------

LETTERS = ("e", "t", "a", "o", "i", "n", "s", "r")
"""Of which a profile has the counts."""
OTHER_LETTERS = ("о", "е", "а", "и")  # Cyrillic
PROJECTIONS = (
    "length",
    *(f"n_{letter}" for letter in LETTERS),
    *(f"n_other_{place}" for place in range(1, len(OTHER_LETTERS) + 1)),
)
"""Columns in which two profiles differ by no more than their letter counts are apart."""

profiles = Table(
    "profiles",
    metadata,
    Column("content", BigInteger, ForeignKey("contents.content"), primary_key=True, autoincrement=False),
    Column("similarity_index", BigInteger),  # null: too few words
    # null from here on: too few letters
    Column("squared_length", BigInteger),  # of the letter counts: the sum of their squares
    *(Column(name, Integer) for name in PROJECTIONS),  # the length is rounded down; n_other_: of Cyrillic о, е, а, и
)
"""Of each content the numbers by which plain SQL finds what is like it; not in ``contents``, whose rows are wide."""
Index("profiles_by_similarity_index", profiles.c.similarity_index)
Index("profiles_by_length", *(profiles.c[name] for name in PROJECTIONS), profiles.c.content)  # it covers the question

check_keys = Table(
    "check_keys",
    MetaData(),  # it is made by the words below
    Column("key", BigInteger, primary_key=True),
    Column("content", BigInteger, primary_key=True),
)
"""Contents by keys; the fact ``check_keys_end`` says how far they have been worked out."""
CHECK_KEYS = "CREATE TABLE check_keys (key BIGINT NOT NULL, content BIGINT NOT NULL, PRIMARY KEY (key, content))"
CHECK_KEYS_OF_SQLITE = f"{CHECK_KEYS} WITHOUT ROWID"

checked_contents = Table(
    "checked_contents",
    metadata,
    # in SQLite the very number of the row, which saves an index
    Column("content", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
    Column("n_samples", Integer, nullable=False),  # of its keys, those that are sampled shingles
    Column("signature", LargeBinary),  # as in ``contents``, whose rows are wide
)
"""Of each content with keys what says whether one that shares some is worth comparing."""

INDEXED_DOCUMENTS = """
CREATE VIEW indexed_documents AS
SELECT documents.doc_id, documents.version, waves.name AS wave, documents.content, profiles.similarity_index,
       documents.row
FROM documents
JOIN loads ON loads.load = documents.load
JOIN waves ON waves.wave = loads.wave
JOIN profiles ON profiles.content = documents.content
WHERE documents.is_current
""".strip()
"""The documents that there are now."""

profiles.add_is_dependent_on(documents)  # by the view
event.listen(profiles, "after_create", DDL(CHECK_KEYS_OF_SQLITE).execute_if(dialect="sqlite"))  # type: ignore[no-untyped-call]
event.listen(profiles, "after_create", DDL(CHECK_KEYS).execute_if(dialect="postgresql"))  # type: ignore[no-untyped-call]
event.listen(profiles, "after_create", DDL(INDEXED_DOCUMENTS))  # type: ignore[no-untyped-call]
FACTS_OF_3 = {"check_keys_end": "0"}
"""That every store of this version begins with."""

# -- since version 4 ---------------------------------------------------------------------------------------------------

seals = Table(
    "seals",
    metadata,
    Column("part", Text, primary_key=True),  # a table, or the documents of one wave
    Column("n_rows", BigInteger, nullable=False),
    Column("total", BigInteger, nullable=False),  # of the checksums of the rows, without what exceeds 64 bits
    Column("checksum", BigInteger),
)
"""By which missing rows are noticed: written in the transaction that writes the rows."""


def say_method(connection: Connection, fingerprint: str) -> None:
    """Say at the column itself what made the similarity indexes, where a database can."""
    if connection.dialect.name == "postgresql":
        quoted = fingerprint.replace("'", "''")
        connection.exec_driver_sql(f"COMMENT ON COLUMN profiles.similarity_index IS '{quoted}'")
