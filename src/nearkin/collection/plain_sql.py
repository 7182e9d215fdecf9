"""What plain SQL needs in PostgreSQL: sets of word 5-grams, functions and views."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

from sqlalchemy import Connection

from nearkin.collection.opened import OpenedCollection
from nearkin.collection.stored import shingle_table
from nearkin.collection.stored.key_table import fill_in_steps
from nearkin.collection.tolerance import LIMITS
from nearkin.errors import ParameterError
from nearkin.kernels.plain.hashing import mix
from nearkin.kernels.text import LATIN, N_LATIN
from nearkin.tabular import AnswerRecord

_PLACES = (*map(LATIN.index, "etaoinsr"), *(N_LATIN + (mix(ord(letter)) >> 58) for letter in "оеаи"))
"""Letters whose counts an index has, four of them Cyrillic: two vectors differ in each by at most their distance."""
FUNCTIONS = (
    "similar_by_jaccard(id text, threshold numeric)",
    "near_duplicates(id text, measure text, threshold numeric)",
    "similar_by_letters(id text, gamma numeric)",
    "similar_by_index(si bigint, tolerance numeric, made_by text)",
    "near_contents_by_letters(content bigint, gamma numeric)",
    "near_contents_by_jaccard(content bigint, threshold numeric)",
    "jaccard(bytea, bytea)",
    "n_common(bytea, bytea)",
    "squared_distance(bytea, bytea)",
    "letter_counts(bytea)",
)
VIEWS = ("indexed_documents", "near_duplicate_pairs", "group_of_documents")
TABLES = ("documents", "contents", "shingles", "check_keys")


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed(AnswerRecord):
    """Names of objects now available to plain SQL, and an example call."""

    place: str
    similarity_index: str
    tables: tuple[str, ...]
    views: tuple[str, ...]
    functions: tuple[str, ...]
    example: str


def install(collection: OpenedCollection) -> Installed:
    """Install sets of word 5-grams, functions and views in one transaction."""
    place, store = collection.place, collection.store
    if place.schema is None:
        raise ParameterError(
            f"{place} is SQLite, which cannot store functions: nearkin sql install is for PostgreSQL. The tables and "
            "the view indexed_documents can be queried as they are."
        )
    fill_in_steps(store, collection.counting, collection.progress)  # before others are kept from writing
    with store.writing() as connection:
        shingle_table.keep(connection, store, collection.counting, collection.progress)
        connection.exec_driver_sql(functions(place.schema), execution_options={"no_parameters": True})
        example = _example(connection, place.schema)
    return Installed(
        place=str(place),
        similarity_index=collection.counting.similarity_index.spec,
        tables=TABLES,
        views=VIEWS,
        functions=FUNCTIONS,
        example=example,
    )


def functions(schema: str) -> str:
    """Return the statements that create functions and views in a schema; they can be run again."""
    conditions = (
        f"AND letter_count(c.counts, {place}) BETWEEN letter_count(own.counts, {place}) - reach "
        f"AND letter_count(own.counts, {place}) + reach"
        for place in _PLACES
    )
    counts = [f"{{schema}}.letter_count(counts, {place})" for place in _PLACES]
    text = files(__package__).joinpath("plain_sql.sql").read_text("utf-8")
    text = text.replace("{conditions}", "\n              ".join(conditions))
    text = text.replace("{letter_counts}", ", ".join(counts)).replace("{max_tolerance}", str(LIMITS["index"].highest))
    for measure, limit in LIMITS.items():
        text = text.replace(f"{{rule of {measure}}}", limit.rule)
    return text.replace("{schema}", schema)


def _example(connection: Connection, schema: str) -> str:
    with_words = (
        "SELECT quote_literal(d.doc_id) FROM documents d JOIN shingles s ON s.content = d.content "
        'WHERE d.is_current AND octet_length(s.hashes) > 0 ORDER BY d."row" LIMIT 1'
    )
    literal = connection.exec_driver_sql(with_words).scalar() or "'ID'"
    return f"SELECT * FROM {schema}.similar_by_jaccard({literal}, 0.5);"
