"""The tables of a collection, the same in SQLite and PostgreSQL.

A *content* is a distinct text, numbered from 0 in order of arrival; a *document* is an id that has, or had, a content.
Contents are never changed or removed, so data derived from a range of them stays valid. What each table and column has
is its comment, which PostgreSQL keeps.

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
    Column("name", Text, primary_key=True, comment="Such as schema, collection (its id), generation, letters."),
    Column("value", Text, nullable=False, comment="Its value as text."),
    comment="Facts about the collection.",
)

waves = Table(
    "waves",
    metadata,
    Column("wave", Integer, primary_key=True, autoincrement=False, comment="Number, from 1."),
    Column("name", Text, nullable=False, unique=True, comment="Name that the user gave."),
    comment="Waves, each of one or more loads.",
)

loads = Table(
    "loads",
    metadata,
    Column("load", Integer, primary_key=True, autoincrement=False, comment="Number, from 1."),
    Column("wave", Integer, ForeignKey("waves.wave"), nullable=False, comment="Its wave."),
    Column("added_at", Text, nullable=False, comment="UTC, ISO 8601."),
    Column("first_content", BigInteger, nullable=False, comment="First text that it brought."),
    Column("end_content", BigInteger, nullable=False, comment="One after the last."),
    Column(
        "digest",
        LargeBinary,
        nullable=False,
        comment="SHA-256 over the ids (UTF-8, each with a zero byte) and digests of its documents, by row.",
    ),
    Column("n_new", BigInteger, nullable=False, comment="Documents with a new id."),
    Column(
        "n_new_versions",
        BigInteger,
        nullable=False,
        comment="Documents with another text than before; with n_new, all of its documents.",
    ),
    Column("n_unchanged", BigInteger, nullable=False, comment="Documents stored already."),
    Column("n_problems", BigInteger, nullable=False, comment="Documents that were not stored."),
    comment="Commands that added something, one transaction each.",
)

contents = Table(
    "contents",
    metadata,
    Column("content", BigInteger, primary_key=True, autoincrement=False, comment="Number, from 0; never reused."),
    Column("digest", LargeBinary, nullable=False, unique=True, comment="SHA-256 of the text in UTF-8."),
    Column("n_bytes", BigInteger, nullable=False, comment="Length in UTF-8."),
    Column("n_characters", BigInteger, nullable=False, comment="Length in characters."),
    Column("n_letters", BigInteger, nullable=False, comment="Letters that have a column of their own in counts."),
    Column("n_other_letters", BigInteger, nullable=False, comment="All other letters."),
    Column("is_counted", Boolean, nullable=False, comment="False: too few letters; only signatures are compared."),
    Column("counts", LargeBinary, nullable=False, comment="Letter counts, uint32, little-endian."),
    Column("signature", LargeBinary, comment="Bits for the search by words; null: no words."),
    Column("text", LargeBinary, nullable=False, comment="UTF-8, compressed with Zstandard; empty: it was erased."),
    comment="Distinct texts, in order of arrival.",
)

documents = Table(
    "documents",
    metadata,
    Column("row", BigInteger, primary_key=True, autoincrement=False, comment="Number, from 0."),
    Column("doc_id", Text, nullable=False, comment="Id of the document."),
    Column("version", Integer, nullable=False, comment="From 1."),
    Column("content", BigInteger, ForeignKey("contents.content"), nullable=False, comment="Its text."),
    Column("load", Integer, ForeignKey("loads.load"), nullable=False, comment="Load that stored it."),
    Column("source", Text, nullable=False, comment="File or source that it came from."),
    Column("line", BigInteger, nullable=False, comment="Line or place in the source."),
    Column("is_current", Boolean, nullable=False, comment="Whether it is the version that counts now."),
    Column("removed_at", Text, comment="UTC; null for current and for replaced versions."),
    UniqueConstraint("doc_id", "version"),
    comment="Versions of documents.",
)
# SQL that both databases accept; SQLAlchemy's dialect parameters would load both dialects in every command
OF_CURRENT = "CREATE UNIQUE INDEX current_documents ON documents (doc_id) WHERE is_current"
event.listen(documents, "after_create", DDL(OF_CURRENT))  # type: ignore[no-untyped-call]
Index("documents_of_content", documents.c.content)

problems = Table(
    "problems",
    metadata,
    Column("load", Integer, ForeignKey("loads.load"), nullable=False, comment="The load."),
    Column("number", BigInteger, nullable=False, comment="From 0 in the load."),
    Column("doc_id", Text, nullable=False, comment="Id, or place."),
    Column("source", Text, nullable=False, comment="File or source."),
    Column("line", BigInteger, nullable=False, comment="Line or place in it."),
    Column("problem", Text, nullable=False, comment="The reason."),
    UniqueConstraint("load", "number"),
    comment="Documents of a load that could not be read or stored.",
)

groupings = Table(
    "groupings",
    metadata,
    Column("grouping", Integer, primary_key=True, autoincrement=False, comment="Number of the tolerance."),
    Column("call", Integer, primary_key=True, autoincrement=False, comment="From 1."),
    Column("tolerance", Text, nullable=False, comment="Measure and limit."),
    Column("grouped_at", Text, nullable=False, comment="UTC, ISO 8601."),
    Column("last_load", Integer, nullable=False, comment="Latest load that was grouped; -1: none."),
    Column("seen_row", BigInteger, nullable=False, comment="Documents with this row and above were not grouped."),
    Column("next_group", BigInteger, nullable=False, comment="Next free number; numbers of groups are never reused."),
    Column("last_activity", BigInteger, nullable=False, comment="Latest activity that was followed; 0: none."),
    Column(
        "n_not_compared", BigInteger, nullable=False, comment="Pairs of texts that were not compared, in all calls."
    ),
    Column("revision", Integer, nullable=False, comment="Number of principals chosen after the call."),
    comment="Calls of nearkin groups.",
)

members = Table(
    "members",
    metadata,
    Column("grouping", Integer, primary_key=True, autoincrement=False, comment="Number of the tolerance."),
    Column(
        "row", BigInteger, ForeignKey("documents.row"), primary_key=True, autoincrement=False, comment="The document."
    ),
    Column(
        "since",
        Integer,
        primary_key=True,
        autoincrement=False,
        comment="First call that counts; one after the last: a principal was chosen.",
    ),
    Column("until", Integer, comment="First call that does not count; null: it counts now."),
    Column("group_number", BigInteger, nullable=False, comment="Number of the group."),
    Column("is_principal", Boolean, nullable=False, comment="Whether it represents the group."),
    comment="Documents in groups, from a call on until a later one.",
)
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
_TOLD = (
    "Length of the vector of letter counts, rounded down.",
    *(f"Number of {letter}, in both cases." for letter in LETTERS),
    *(f"Number of Cyrillic {letter}, and of other letters that share its column." for letter in OTHER_LETTERS),
)

profiles = Table(
    "profiles",
    metadata,
    Column(
        "content",
        BigInteger,
        ForeignKey("contents.content"),
        primary_key=True,
        autoincrement=False,
        comment="The text.",
    ),
    Column("similarity_index", BigInteger, comment="Null: too few words."),
    Column("squared_length", BigInteger, comment="Sum of the squared letter counts; null, as below: too few letters."),
    *(Column(name, Integer, comment=told) for name, told in zip(PROJECTIONS, _TOLD, strict=True)),
    comment="Numbers of each text for searches in plain SQL; contents has wide rows.",
)
Index("profiles_by_similarity_index", profiles.c.similarity_index)
Index("profiles_by_length", *(profiles.c[name] for name in PROJECTIONS), profiles.c.content)  # a covering index

check_keys = Table(
    "check_keys",
    MetaData(),  # created by the statements below
    Column("key", BigInteger, primary_key=True, comment="Hash of the whole text, of a band, or of a sampled 5-gram."),
    Column("content", BigInteger, primary_key=True, comment="Text that has it."),
    comment="Keys of texts that share wording; filled by the first check.",
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
    Column(
        "content",
        BigInteger().with_variant(Integer, "sqlite"),
        primary_key=True,
        autoincrement=False,
        comment="The text.",
    ),
    Column("n_samples", Integer, nullable=False, comment="Number of its keys that are sampled 5-grams."),
    Column("signature", LargeBinary, comment="As in contents, whose rows are wide."),
    comment="Texts with stored keys.",
)

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
    Column("number", BigInteger, primary_key=True, autoincrement=False, comment="From 1."),
    Column("done_at", Text, nullable=False, comment="UTC, ISO 8601."),
    Column("done_by", Text, nullable=False, comment="Name of the person."),
    Column("kind", Text, nullable=False, comment="Such as tag, remove or undo."),
    Column("data", Text, nullable=False, comment="JSON."),
    Column(
        "undoes", BigInteger, ForeignKey("activity.number"), comment="Activity that it undoes; null: it is no undo."
    ),
    comment="Log of decisions; rows are only added.",
)

changes = Table(
    "changes",
    metadata,
    Column(
        "activity",
        BigInteger,
        ForeignKey("activity.number"),
        primary_key=True,
        autoincrement=False,
        comment="The activity.",
    ),
    Column("number", BigInteger, primary_key=True, autoincrement=False, comment="From 0 in the activity."),
    Column("kind", Text, nullable=False, comment="What changed."),
    Column("subject", Text, nullable=False, comment="Id of a document, or tolerance of a group."),
    Column("other", Text, nullable=False, comment="Field, id of another document, or group."),
    Column("was", Text, comment="Value before; null: none."),
    Column("now", Text, comment="Value after; null: none."),
    comment="Values that an activity changed, one row each.",
)
Index("changes_of_subject", changes.c.subject)

tags = Table(
    "tags",
    metadata,
    Column("doc_id", Text, primary_key=True, comment="Id of the document, whatever its version."),
    Column("field", Text, primary_key=True, comment="Name of the tag."),
    Column("value", Text, nullable=False, comment="Empty: a bare tag."),
    Column("activity", BigInteger, ForeignKey("activity.number"), nullable=False, comment="Activity that set it."),
    comment="Current tags of documents, by id.",
)

decisions = Table(
    "decisions",
    metadata,
    Column(
        "activity",
        BigInteger,
        ForeignKey("activity.number"),
        primary_key=True,
        autoincrement=False,
        comment="Activity that made it.",
    ),
    Column("number", BigInteger, primary_key=True, autoincrement=False, comment="As in changes."),
    Column("kind", Text, nullable=False, comment="Such as same group or never group."),
    Column("subject", Text, nullable=False, comment="Id of a document, or tolerance of a group."),
    Column("other", Text, nullable=False, comment="Id of another document, or group."),
    Column("value", Text, nullable=False, comment="What was decided."),
    comment="Current decisions on documents and groups.",
)
"""Current decisions on documents and groups. Two ids of documents would be too long for a key of PostgreSQL."""
Index("decisions_on_subject", decisions.c.subject)

purges = Table(
    "purges",
    metadata,
    Column(
        "content",
        BigInteger,
        ForeignKey("contents.content"),
        primary_key=True,
        autoincrement=False,
        comment="The text.",
    ),
    Column("activity", BigInteger, ForeignKey("activity.number"), nullable=False, comment="Activity that erased it."),
    comment="Erased texts: the row in contents keeps number and digest.",
)

origins = Table(
    "origins",
    metadata,
    Column("number", BigInteger, primary_key=True, autoincrement=False, comment="From 0."),
    Column("load", Integer, ForeignKey("loads.load"), nullable=False, comment="Load that wrote it."),
    Column("row", BigInteger, ForeignKey("documents.row"), comment="The document; null: the file gave no text."),
    Column("doc_id", Text, nullable=False, comment="Its id."),
    Column("parent", Text, comment="Id of the document or container that it is inside of."),
    Column("sha256", Text, comment="Of the original bytes, hexadecimal; null, as below: it was not extracted."),
    Column("size_bytes", BigInteger, comment="Of the file."),
    Column("kind", Text, comment="Such as pdf or mail."),
    Column("declared_kind", Text, comment="Kind that the file name says, if it is another one."),
    Column("extractor", Text, comment="Program and version; null: read as text."),
    Column("n_pages", BigInteger, comment="Number of pages."),
    Column("exception", Text, comment="Reason why there is no text, or not all of it."),
    Column("sentence", Text, comment="The same in words."),
    Column("is_partial", Integer, nullable=False, comment="1: not all of the text."),
    Column("warnings", Text, nullable=False, comment="Remarks of the extractor."),
    Column("family", Text, comment="Id of the outermost container."),
    Column("position", BigInteger, comment="Place in the family."),
    Column("mail", Text, comment="Headers in JSON; null for other kinds."),
    Column("removed_at", Text, comment="UTC; only of a file without a text."),
    comment="Files that were extracted, or are inside others.",
)
Index("origins_of_row", origins.c.row)
Index("origins_of_id", origins.c.doc_id)
Index("origins_of_parent", origins.c.parent)


def say_method(connection: Connection, fingerprint: str) -> None:
    """Document the method of the similarity indexes as a comment on the column, where the database allows it."""
    if connection.dialect.name == "postgresql":
        quoted = fingerprint.replace("'", "''")
        connection.exec_driver_sql(f"COMMENT ON COLUMN profiles.similarity_index IS '{quoted}'")
