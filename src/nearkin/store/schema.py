"""The tables of a collection, the same in SQLite and PostgreSQL.

A *content* is a distinct text, numbered from 0 in order of arrival; a *document* is an id that has, or had, a content.
Contents are never changed or removed, so data derived from a range of them stays valid.

``loads.digest`` covers the ids and texts of the rows of ``documents`` that a load wrote: nothing that happens later
changes an id, a row's content, or the digest of a content.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

VERSION = 1
"""Version of the schema; a store of another one is refused."""

metadata = sa.MetaData()


_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
"""Numbers of rows: of this type, SQLite's own row number is the key, which saves an index and a search in it."""


def _key(name: str, kind: Any, *rest: Any) -> sa.Column[Any]:
    *of, comment = rest
    return sa.Column(name, kind, *of, primary_key=True, autoincrement=False, comment=comment)


def _value(name: str, kind: Any, *rest: Any) -> sa.Column[Any]:
    *of, comment = rest
    return sa.Column(name, kind, *of, nullable=False, comment=comment)


facts = sa.Table(
    "facts",
    metadata,
    sa.Column("name", sa.Text, primary_key=True, comment="Such as schema, collection (its id), generation, letters."),
    _value("value", sa.Text, "Its value as text."),
    comment="Facts about the collection.",
)

waves = sa.Table(
    "waves",
    metadata,
    _key("wave", sa.Integer, "Number, from 1."),
    sa.Column("name", sa.Text, nullable=False, unique=True, comment="Name that the user gave."),
    comment="Waves, each of one or more loads.",
)

loads = sa.Table(
    "loads",
    metadata,
    _key("load", sa.Integer, "Number, from 1."),
    _value("wave", sa.Integer, sa.ForeignKey("waves.wave"), "Its wave."),
    _value("added_at", sa.Text, "UTC, ISO 8601."),
    _value("first_content", sa.BigInteger, "First text that it brought."),
    _value("end_content", sa.BigInteger, "One after the last."),
    _value("digest", sa.LargeBinary, "SHA-256 over the ids (UTF-8, each with a zero byte) and digests of its rows."),
    _value("n_new", sa.BigInteger, "Documents with a new id."),
    _value(
        "n_new_versions", sa.BigInteger, "Documents with another text than before; with n_new, all of its documents."
    ),
    _value("n_unchanged", sa.BigInteger, "Documents stored already."),
    _value("n_problems", sa.BigInteger, "Documents that were not stored."),
    comment="Commands that added something, one transaction each.",
)

contents = sa.Table(
    "contents",
    metadata,
    _key("content", _NUMBER, "Number, from 0; never reused."),
    sa.Column("digest", sa.LargeBinary, nullable=False, unique=True, comment="SHA-256 of the text in UTF-8."),
    _value("n_bytes", sa.BigInteger, "Length in UTF-8."),
    _value("n_characters", sa.BigInteger, "Length in characters."),
    _value("n_letters", sa.BigInteger, "Letters that have a column of their own in counts."),
    _value("n_other_letters", sa.BigInteger, "All other letters."),
    _value("is_counted", sa.Boolean, "False: too few letters; only signatures are compared."),
    _value("counts", sa.LargeBinary, "Letter counts, uint32, little-endian, without the zeros at the end."),
    sa.Column("signature", sa.LargeBinary, comment="Bits for the search by words; null: no words."),
    sa.Column("similarity_index", sa.BigInteger, comment="Null: too few words."),
    _value("text", sa.LargeBinary, "UTF-8, compressed with Zstandard; empty: it was erased."),
    comment="Distinct texts, in order of arrival.",
)
sa.Index(
    "contents_by_similarity_index", contents.c.similarity_index, contents.c.content
)  # a covering index: rows are wide

documents = sa.Table(
    "documents",
    metadata,
    _key("row", _NUMBER, "Number, from 0."),
    _value("doc_id", sa.Text, "Id of the document."),
    _value("version", sa.Integer, "From 1."),
    _value("content", sa.BigInteger, sa.ForeignKey("contents.content"), "Its text."),
    _value("load", sa.Integer, sa.ForeignKey("loads.load"), "Load that stored it."),
    _value("source", sa.Text, "File or source that it came from."),
    _value("line", sa.BigInteger, "Line or place in the source."),
    _value("is_current", sa.Boolean, "Whether it is the version that counts now."),
    sa.Column("removed_at", sa.Text, comment="UTC; null for current and for replaced versions."),
    sa.UniqueConstraint("doc_id", "version"),
    comment="Versions of documents.",
)
# SQL that both databases accept; SQLAlchemy's dialect parameters would load both dialects in every command
OF_CURRENT = "CREATE UNIQUE INDEX current_documents ON documents (doc_id) WHERE is_current"
sa.event.listen(documents, "after_create", sa.DDL(OF_CURRENT))  # type: ignore[no-untyped-call]
sa.Index("documents_of_content", documents.c.content, documents.c.is_current)

groupings = sa.Table(
    "groupings",
    metadata,
    _key("grouping", sa.Integer, "Number of the tolerance."),
    _key("call", sa.Integer, "From 1."),
    _value("tolerance", sa.Text, "Measure and limit."),
    _value("grouped_at", sa.Text, "UTC, ISO 8601."),
    _value("last_load", sa.Integer, "Latest load that was grouped; -1: none."),
    _value("seen_row", sa.BigInteger, "Documents with this row and above were not grouped."),
    _value("next_group", sa.BigInteger, "Next free number; numbers of groups are never reused."),
    _value("last_activity", sa.BigInteger, "Latest activity that was followed; 0: none."),
    _value("n_not_compared", sa.BigInteger, "Pairs of texts that were not compared, in all calls."),
    comment="Calls of nearkin groups.",
)

members = sa.Table(
    "members",
    metadata,
    _key("grouping", sa.Integer, "Number of the tolerance."),
    _key("row", _NUMBER, sa.ForeignKey("documents.row"), "The document."),
    _key("since", sa.Integer, "First call that counts."),
    sa.Column("until", sa.Integer, comment="First call that does not count; null: it counts now."),
    _value("group_number", sa.BigInteger, "Number of the group."),
    _value("is_principal", sa.Boolean, "Whether it represents the group, unless another member was chosen."),
    comment="Documents in groups, from a call on until a later one.",
)
sa.Index("members_of_group", members.c.grouping, members.c.until, members.c.group_number)

check_keys = sa.Table(
    "check_keys",
    sa.MetaData(),  # created by the statements below
    sa.Column(
        "key", sa.Integer, primary_key=True, comment="Hash of the whole text, of a band, or of a sampled 5-gram."
    ),
    sa.Column("content", sa.Integer, primary_key=True, comment="Text that has it."),
    comment="Keys of texts that share wording; filled by the first check.",
)
"""Contents by keys; the fact ``check_keys_end`` says up to which content keys are stored."""
CHECK_KEYS = "CREATE TABLE check_keys (key INTEGER NOT NULL, content INTEGER NOT NULL, PRIMARY KEY (key, content))"
CHECK_KEYS_OF_SQLITE = f"{CHECK_KEYS} WITHOUT ROWID"
SEARCH_WORDS_OF_SQLITE = "CREATE VIRTUAL TABLE search_words USING fts5(words, content='', tokenize='ascii')"
_MEMORY_FOR_WORDS = f"INSERT INTO search_words (search_words, rank) VALUES ('hashsize', {1 << 26})"
"""Bytes of new words that SQLite gathers before it writes them: the default of a megabyte takes twice the time."""
SEARCH_WORDS_OF_POSTGRESQL = (
    "CREATE TABLE search_words (content BIGINT NOT NULL, part INTEGER NOT NULL, words TSVECTOR NOT NULL, "
    "PRIMARY KEY (content, part)); ALTER TABLE search_words ALTER words SET STORAGE MAIN; "
    "CREATE INDEX search_words_by_word ON search_words USING gin (words)"
)
"""Words of the contents as Nearkin splits them; a long text has several parts, as PostgreSQL limits each. They stay in
their rows: pieces in a table beside it (TOAST) take more space, and more time to rank."""

checked_contents = sa.Table(
    "checked_contents",
    metadata,
    _key("content", _NUMBER, "The text."),
    _value("n_samples", sa.Integer, "Number of its keys that are sampled 5-grams."),
    sa.Column("signature", sa.LargeBinary, comment="As in contents, whose rows are wide."),
    comment="Texts with stored keys.",
)

relations = sa.Table(
    "relations",
    metadata,
    _key("principal", _NUMBER, "Text of the principal."),
    _key("content", _NUMBER, "Text that was compared with it."),
    _value("comparison", sa.LargeBinary, "JSON, compressed with Zstandard."),
    comment="Comparisons with principals, and with the member before in time, each made once.",
)

passages = sa.Table(
    "passages",
    metadata,
    _key("passage", _NUMBER, "Number, until passages are found again."),
    _value("n_documents", sa.BigInteger, "Documents with it that were current when it was found."),
    comment="Runs of words in several documents, as the latest nearkin passages --store found them.",
)

passage_places = sa.Table(
    "passage_places",
    metadata,
    _key("content", sa.BigInteger, sa.ForeignKey("contents.content"), "The text."),
    _key("start", sa.BigInteger, "First character, from 0."),
    _value("end", sa.BigInteger, "After the last character."),
    _value("passage", sa.BigInteger, sa.ForeignKey("passages.passage"), "The passage."),
    comment="Places of passages in texts.",
)
sa.Index("places_of_passage", passage_places.c.passage)

INDEXED_DOCUMENTS = """
CREATE VIEW indexed_documents AS
SELECT documents.doc_id, documents.version, waves.name AS wave, documents.content, contents.similarity_index,
       documents.row
FROM documents
JOIN loads ON loads.load = documents.load
JOIN waves ON waves.wave = loads.wave
JOIN contents ON contents.content = documents.content
WHERE documents.is_current
""".strip()
"""Current documents with the numbers of their texts."""

for _dialect, _statements in {
    "sqlite": (CHECK_KEYS_OF_SQLITE, SEARCH_WORDS_OF_SQLITE, _MEMORY_FOR_WORDS, INDEXED_DOCUMENTS),
    "postgresql": (CHECK_KEYS, SEARCH_WORDS_OF_POSTGRESQL, INDEXED_DOCUMENTS),
}.items():
    for _statement in _statements:
        sa.event.listen(documents, "after_create", sa.DDL(_statement).execute_if(dialect=_dialect))  # type: ignore[no-untyped-call]

activity = sa.Table(
    "activity",
    metadata,
    _key("number", _NUMBER, "From 1."),
    _value("done_at", sa.Text, "UTC, ISO 8601."),
    _value("done_by", sa.Text, "Name of the person."),
    _value("kind", sa.Text, "Such as tag, remove or undo."),
    _value("data", sa.Text, "JSON."),
    sa.Column(
        "undoes",
        sa.BigInteger,
        sa.ForeignKey("activity.number"),
        comment="Activity that it undoes; null: it is no undo.",
    ),
    comment="Log of decisions; rows are only added.",
)

sa.Index("activity_of_kind", activity.c.kind, activity.c.number)

changes = sa.Table(
    "changes",
    metadata,
    _key("activity", _NUMBER, sa.ForeignKey("activity.number"), "The activity."),
    _key("number", _NUMBER, "From 0 in the activity."),
    _value("kind", sa.Text, "What changed, such as tag or same-group."),
    _value("subject", sa.Text, "Id of a document, or tolerance of a group."),
    _value("other", sa.Text, "Field, FIELD=PERSON of a second value, id of another document, or group."),
    sa.Column("was", sa.Text, comment="Value before; null: none."),
    sa.Column("now", sa.Text, comment="Value after; null: none."),
    _value("is_current", sa.Boolean, "Whether the value after is set, and counts now."),
    comment="Values that an activity changed, one row each.",
)
sa.Index("changes_of_subject", changes.c.subject)
# no index by field: SQLite looked up each tag of a document by its field, among all documents
_CURRENT_VALUES = "CREATE INDEX current_values ON changes (kind, subject) WHERE is_current"

tags = sa.Table(
    "tags",
    sa.MetaData(),  # a view
    *(sa.Column(name, sa.Text) for name in ("doc_id", "field", "value")),
    sa.Column("activity", sa.BigInteger),
)
"""Current tags, by id, whatever the version; the activity set the value, which is empty for a bare tag."""
_TAGS = """
CREATE VIEW tags AS
SELECT subject AS doc_id, other AS field, now AS value, activity FROM changes WHERE kind = 'tag' AND is_current
""".strip()
for _statement in (_CURRENT_VALUES, _TAGS):
    sa.event.listen(changes, "after_create", sa.DDL(_statement))  # type: ignore[no-untyped-call]

purges = sa.Table(
    "purges",
    metadata,
    _key("content", _NUMBER, sa.ForeignKey("contents.content"), "The text."),
    _value("activity", sa.BigInteger, sa.ForeignKey("activity.number"), "Activity that erased it."),
    comment="Erased texts: the row in contents keeps number and digest.",
)

origins = sa.Table(
    "origins",
    metadata,
    _key("number", _NUMBER, "From 0."),
    _value("load", sa.Integer, sa.ForeignKey("loads.load"), "Load that wrote it."),
    sa.Column("row", sa.BigInteger, sa.ForeignKey("documents.row"), comment="The document; null: it was not stored."),
    _value("doc_id", sa.Text, "Its id."),
    sa.Column("source", sa.Text, comment="File or source, of what was not stored."),
    sa.Column("line", sa.BigInteger, comment="Line or place in it."),
    sa.Column("parent", sa.Text, comment="Id of the document or container that it is inside of."),
    sa.Column("sha256", sa.Text, comment="Of the original bytes, hexadecimal; null, as below: it was not extracted."),
    sa.Column("size_bytes", sa.BigInteger, comment="Of the file."),
    sa.Column("kind", sa.Text, comment="Such as pdf or mail."),
    sa.Column("declared_kind", sa.Text, comment="Kind that the file name says, if it is another one."),
    sa.Column("extractor", sa.Text, comment="Program and version; null: read as text."),
    sa.Column("n_pages", sa.BigInteger, comment="Number of pages."),
    sa.Column("exception", sa.Text, comment="Reason why there is no text, or not all of it."),
    sa.Column("sentence", sa.Text, comment="The same in words."),
    _value("is_partial", sa.Integer, "1: not all of the text."),
    _value("warnings", sa.Text, "Remarks of the extractor."),
    sa.Column("family", sa.Text, comment="Id of the outermost container."),
    sa.Column("position", sa.BigInteger, comment="Place in the family."),
    sa.Column("mail", sa.Text, comment="Headers in JSON; null for other kinds."),
    comment="Documents that were extracted or are inside others; and, without a row, what could not be stored.",
)
sa.Index("origins_of_row", origins.c.row)
sa.Index("origins_of_id", origins.c.doc_id)
sa.Index("origins_of_parent", origins.c.parent)


def say_method(connection: sa.Connection, fingerprint: str) -> None:
    """Document the method of the similarity indexes as a comment on the column."""
    if connection.dialect.name == "postgresql":
        quoted = fingerprint.replace("'", "''")
        connection.exec_driver_sql(f"COMMENT ON COLUMN contents.similarity_index IS '{quoted}'")
