"""The tables of a collection, the same in SQLite and PostgreSQL.

A *content* is a distinct text, numbered from 0 in order of arrival; a *document* is an id that has, or had, a content.
Contents are never changed or removed, so data derived from a range of them stays valid.

Two digests show damage. ``contents.digest`` is compared with a text whenever the text is read. ``loads.digest`` covers
the ids and texts of the rows of ``documents`` that a load wrote, as they were written: `remove`, `purge` and newer
versions change neither an id, nor a row's content, nor the digest of a content, so the digest of a load stays true.
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

VERSION = 1
"""Version of the schema; a store of another one is refused."""

metadata = MetaData()

facts = Table(
    "facts",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
)
"""Facts about a collection: its schema version, its id, the methods that count, sign and index its texts, …"""

waves = Table(
    "waves",
    metadata,
    Column("wave", Integer, primary_key=True, autoincrement=False),
    Column("name", Text, nullable=False, unique=True),
)

loads = Table(
    "loads",
    metadata,
    Column("load", Integer, primary_key=True, autoincrement=False),
    Column("wave", Integer, ForeignKey("waves.wave"), nullable=False),
    Column("added_at", Text, nullable=False),  # UTC, in ISO 8601
    Column("first_content", BigInteger, nullable=False),
    Column("end_content", BigInteger, nullable=False),
    # SHA-256 over the id (UTF-8, followed by a zero byte) and the text's digest of each of its documents, by row
    Column("digest", LargeBinary, nullable=False),
    Column("n_new", BigInteger, nullable=False),  # with n_new_versions, the number of its documents
    Column("n_new_versions", BigInteger, nullable=False),
    Column("n_unchanged", BigInteger, nullable=False),
    Column("n_problems", BigInteger, nullable=False),
)
"""Commands that added something, one transaction each; a wave consists of one or more loads."""

contents = Table(
    "contents",
    metadata,
    Column("content", BigInteger, primary_key=True, autoincrement=False),
    Column("digest", LargeBinary, nullable=False, unique=True),  # SHA-256 of the text in UTF-8
    Column("n_bytes", BigInteger, nullable=False),
    Column("n_characters", BigInteger, nullable=False),
    Column("n_letters", BigInteger, nullable=False),  # letters that have a column in the counts
    Column("n_other_letters", BigInteger, nullable=False),
    Column("is_counted", Boolean, nullable=False),  # False: too few letters; only the signature is compared
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
    Column("removed_at", Text),  # null for current and for replaced versions
    UniqueConstraint("doc_id", "version"),
)
# SQL that both databases accept; SQLAlchemy's dialect parameters would load both dialects in every command
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
    UniqueConstraint("load", "number"),
)
"""Documents of a load that could not be read, or got another id."""

groupings = Table(
    "groupings",
    metadata,
    Column("grouping", Integer, primary_key=True, autoincrement=False),  # one for each tolerance
    Column("call", Integer, primary_key=True, autoincrement=False),  # from 1
    Column("tolerance", Text, nullable=False),
    Column("grouped_at", Text, nullable=False),  # UTC, in ISO 8601
    Column("last_load", Integer, nullable=False),  # the latest that was grouped; -1: none
    Column("seen_row", BigInteger, nullable=False),  # documents with this row and above were not grouped
    Column("next_group", BigInteger, nullable=False),  # numbers of groups are never reused
    Column("last_activity", BigInteger, nullable=False),  # the latest whose decisions were followed; 0: none
    Column("n_not_compared", BigInteger, nullable=False),  # pairs of texts, of this call and those before it
    Column("revision", Integer, nullable=False),  # number of principals that were chosen after the call
)
"""Calls of ``nearkin groups``, each of which stores the groups at a tolerance."""

members = Table(
    "members",
    metadata,
    Column("grouping", Integer, primary_key=True, autoincrement=False),
    Column("row", BigInteger, ForeignKey("documents.row"), primary_key=True, autoincrement=False),
    Column("since", Integer, primary_key=True, autoincrement=False),  # call; one after the last: a principal was chosen
    Column("until", Integer),  # the first call without this row; null: it counts now
    Column("group_number", BigInteger, nullable=False),
    Column("is_principal", Boolean, nullable=False),
)
"""Documents in groups: those of a call are the rows since that call or an earlier one, and until a later one."""
Index("members_of_group", members.c.grouping, members.c.until, members.c.group_number)

LETTERS = ("e", "t", "a", "o", "i", "n", "s", "r")
"""Letters whose counts a profile stores."""
OTHER_LETTERS = ("о", "е", "а", "и")  # Cyrillic
PROJECTIONS = (
    "length",
    *(f"n_{letter}" for letter in LETTERS),
    *(f"n_other_{place}" for place in range(1, len(OTHER_LETTERS) + 1)),
)
"""Columns in which two profiles differ by at most the distance of their letter counts."""

profiles = Table(
    "profiles",
    metadata,
    Column("content", BigInteger, ForeignKey("contents.content"), primary_key=True, autoincrement=False),
    Column("similarity_index", BigInteger),  # null: too few words
    # null in the columns below: too few letters
    Column("squared_length", BigInteger),  # sum of the squared letter counts
    *(Column(name, Integer) for name in PROJECTIONS),  # length rounded down; n_other_: Cyrillic о, е, а, и
)
"""Numbers of each content for similarity search in plain SQL; not in ``contents``, whose rows are wide."""
Index("profiles_by_similarity_index", profiles.c.similarity_index)
Index("profiles_by_length", *(profiles.c[name] for name in PROJECTIONS), profiles.c.content)  # a covering index

check_keys = Table(
    "check_keys",
    MetaData(),  # created by the statements below
    Column("key", BigInteger, primary_key=True),
    Column("content", BigInteger, primary_key=True),
)
"""Contents by keys; the fact ``check_keys_end`` says up to which content keys are stored."""
CHECK_KEYS = "CREATE TABLE check_keys (key BIGINT NOT NULL, content BIGINT NOT NULL, PRIMARY KEY (key, content))"
CHECK_KEYS_OF_SQLITE = f"{CHECK_KEYS} WITHOUT ROWID"
SEARCH_WORDS_OF_SQLITE = "CREATE VIRTUAL TABLE search_words USING fts5(words, content='', tokenize='ascii')"
SEARCH_WORDS_OF_POSTGRESQL = (
    "CREATE TABLE search_words (content BIGINT NOT NULL, part INTEGER NOT NULL, words TSVECTOR NOT NULL, "
    "PRIMARY KEY (content, part)); CREATE INDEX search_words_by_word ON search_words USING gin (words)"
)
"""Words of the contents as Nearkin splits them; a long text has several parts, as PostgreSQL limits each."""

checked_contents = Table(
    "checked_contents",
    metadata,
    # SQLite uses the row number itself, which saves an index
    Column("content", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
    Column("n_samples", Integer, nullable=False),  # number of keys that are sampled shingles
    Column("signature", LargeBinary),  # as in ``contents``, whose rows are wide
)
"""Values of each content with keys that show whether a content sharing some is worth comparing."""

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
"""Current documents with their profiles."""

profiles.add_is_dependent_on(documents)  # through the view
event.listen(profiles, "after_create", DDL(CHECK_KEYS_OF_SQLITE).execute_if(dialect="sqlite"))  # type: ignore[no-untyped-call]
event.listen(profiles, "after_create", DDL(CHECK_KEYS).execute_if(dialect="postgresql"))  # type: ignore[no-untyped-call]
event.listen(profiles, "after_create", DDL(SEARCH_WORDS_OF_SQLITE).execute_if(dialect="sqlite"))  # type: ignore[no-untyped-call]
event.listen(profiles, "after_create", DDL(SEARCH_WORDS_OF_POSTGRESQL).execute_if(dialect="postgresql"))  # type: ignore[no-untyped-call]
event.listen(profiles, "after_create", DDL(INDEXED_DOCUMENTS))  # type: ignore[no-untyped-call]
activity = Table(
    "activity",
    metadata,
    Column("number", BigInteger, primary_key=True, autoincrement=False),  # from 1
    Column("done_at", Text, nullable=False),  # UTC, in ISO 8601
    Column("done_by", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("data", Text, nullable=False),  # JSON
    Column("undoes", BigInteger, ForeignKey("activity.number")),  # null: it is not an undo
)
"""Decisions of people, in order. Rows are only ever added; ``tags`` and ``decisions`` follow from ``changes``."""

changes = Table(
    "changes",
    metadata,
    Column("activity", BigInteger, ForeignKey("activity.number"), primary_key=True, autoincrement=False),
    Column("number", BigInteger, primary_key=True, autoincrement=False),  # from 0
    Column("kind", Text, nullable=False),
    Column("subject", Text, nullable=False),  # id of a document, or tolerance of a group
    Column("other", Text, nullable=False),  # name of a field, id of another document, or number of a group
    Column("was", Text),  # null: it was not set
    Column("now", Text),  # null: it is not set any more
)
"""Values changed by each activity, one row per value."""
Index("changes_of_subject", changes.c.subject)

tags = Table(
    "tags",
    metadata,
    Column("doc_id", Text, primary_key=True),
    Column("field", Text, primary_key=True),
    Column("value", Text, nullable=False),  # empty: a bare tag
    Column("activity", BigInteger, ForeignKey("activity.number"), nullable=False),  # that set it
)
"""Current tags. They belong to an id, not to a version of the document."""

decisions = Table(
    "decisions",
    metadata,
    Column("activity", BigInteger, ForeignKey("activity.number"), primary_key=True, autoincrement=False),
    Column("number", BigInteger, primary_key=True, autoincrement=False),  # as in ``changes``
    Column("kind", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("other", Text, nullable=False),
    Column("value", Text, nullable=False),
)
"""Current decisions on documents and groups. Two ids of documents would be too long for a key of PostgreSQL."""
Index("decisions_on_subject", decisions.c.subject)

purges = Table(
    "purges",
    metadata,
    Column("content", BigInteger, ForeignKey("contents.content"), primary_key=True, autoincrement=False),
    Column("activity", BigInteger, ForeignKey("activity.number"), nullable=False),
)
"""Contents that were erased: the row in ``contents`` has kept its number and its digest, and nothing else."""

origins = Table(
    "origins",
    metadata,
    Column("number", BigInteger, primary_key=True, autoincrement=False),  # from 0
    Column("load", Integer, ForeignKey("loads.load"), nullable=False),  # that wrote it
    Column("row", BigInteger, ForeignKey("documents.row")),  # null: it gave no text
    Column("doc_id", Text, nullable=False),
    Column("parent", Text),  # id of the document or container that it is inside of
    # null in the columns below: it was not extracted; its parent is known, or the file of a plain text without a text
    Column("sha256", Text),  # of the original bytes, in hexadecimal
    Column("size_bytes", BigInteger),
    Column("kind", Text),
    Column("declared_kind", Text),
    Column("extractor", Text),
    Column("n_pages", BigInteger),
    Column("exception", Text),
    Column("sentence", Text),
    Column("is_partial", Integer, nullable=False),  # 1: there is a text, but not all of it
    Column("warnings", Text, nullable=False),
    Column("family", Text),
    Column("position", BigInteger),
    Column("mail", Text),  # headers in JSON; null for other kinds
    Column("removed_at", Text),  # only of a document without a text
)
"""Origins of documents that were extracted from files, or are inside others; one for each version."""
Index("origins_of_row", origins.c.row)
Index("origins_of_id", origins.c.doc_id)
Index("origins_of_parent", origins.c.parent)


def say_method(connection: Connection, fingerprint: str) -> None:
    """Document the method of the similarity indexes as a comment on the column, where the database allows it."""
    if connection.dialect.name == "postgresql":
        quoted = fingerprint.replace("'", "''")
        connection.exec_driver_sql(f"COMMENT ON COLUMN profiles.similarity_index IS '{quoted}'")
