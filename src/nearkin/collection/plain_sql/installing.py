"""Installation and update of what plain SQL needs: sets of word 5-grams, and functions of PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from typing import Literal

from sqlalchemy import Connection, column, table

from nearkin.collection.opened import OpenedCollection
from nearkin.collection.plain_sql.queries import sql_literal
from nearkin.collection.stored import shingle_table
from nearkin.collection.stored.document_rows import refuse_changed_documents
from nearkin.collection.tolerance import MAX_TOLERANCE, RULES, Method, is_limit
from nearkin.errors import ParameterError
from nearkin.message_pieces import NamedParameter
from nearkin.store.bulk import in_slices
from nearkin.store.place import Place
from nearkin.store.schema import PROJECTIONS

FlagMeasure = Literal["words", "letters"]
_FACT_OF: dict[FlagMeasure, str] = {"words": "look_alikes_threshold", "letters": "look_alikes_gamma"}
_METHOD_OF: dict[FlagMeasure, Method] = {"words": "minhash", "letters": "range"}
_FILES = "functions.sql", "word_functions.sql", "flagging.sql"
FUNCTIONS = (
    "similar_by_words(id text, threshold numeric)",
    "near_duplicates(id text, measure text, threshold numeric)",
    "similar_documents(id text, gamma numeric)",
    "similar_by_index(si bigint, tolerance numeric, made_by text)",
    "near_contents(content bigint, gamma numeric)",
    "near_contents_by_words(content bigint, threshold numeric)",
    "jaccard(bytea, bytea)",
    "n_common(bytea, bytea)",
    "squared_distance(bytea, bytea)",
    "letter_counts(bytea)",
)
VIEWS = ("indexed_documents", "near_duplicate_pairs", "group_of_documents")
_STOP = "DROP TRIGGER IF EXISTS flag_look_alikes ON documents"
_FLAG = """
CREATE TRIGGER flag_look_alikes AFTER INSERT ON documents
REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION flag_look_alikes()
"""
_FLAGGED = table("look_alikes", column("doc_id"), column("similar_doc_id"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """Objects now available to plain SQL.

    Parameters
    ----------
    place : str
    dialect : {"sqlite", "postgresql"}
    similarity_index : str
        Method of the similarity indexes.
    tables, views, functions : tuples of str
        Names; SQLite cannot store functions.
    flags_look_alikes : float or None
        The Jaccard similarity, or the gamma, from which new documents are flagged; None: flagging is off.
    flag_measure : {"words", "letters"} or None
        Which of the two it is.
    refused_limit : float or None
        Limit that an earlier Nearkin stored and that is outside its rule: flagging was stopped, as it made every
        load fail.
    example : str
        An example call.
    is_new_collection : bool
        Whether the collection was missing, and has been created.
    """

    place: str
    dialect: str
    similarity_index: str
    tables: tuple[str, ...]
    views: tuple[str, ...]
    functions: tuple[str, ...]
    flags_look_alikes: float | None
    flag_measure: FlagMeasure | None
    refused_limit: float | None
    example: str
    is_new_collection: bool

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON types."""
        return asdict(self)


def install(
    collection: OpenedCollection,
    *,
    flag_look_alikes: float | None = None,
    measure: FlagMeasure = "words",
    stops_flagging: bool = False,
) -> Installed:
    """Install what plain SQL needs in one transaction: sets of word 5-grams; functions and views in PostgreSQL.

    From then on, every load stores the sets of its texts.

    Parameters
    ----------
    collection : OpenedCollection
    flag_look_alikes : float, optional
        Flag documents that are at least as similar to a newly added one, from now on. By default the previous setting
        stays.
    measure : {"words", "letters"}
        What it is: a Jaccard similarity of word 5-grams, or a gamma of letter counts.
    stops_flagging : bool
        Stop flagging; existing flags stay.

    Raises
    ------
    ParameterError
        The limit or the measure is invalid, or flagging is requested of SQLite.
    CollectionBusyError
    CollectionError
        The row of a document was changed in the store.
    """
    place, store = collection.place, collection.store
    chosen = None if flag_look_alikes is None else measure
    check_flagging(place, flag_look_alikes, measure=chosen, stops_flagging=stops_flagging)
    tables: tuple[str, ...] = ("documents", "contents", "profiles", "shingles", "check_keys")
    index = collection.counting.similarity_index.spec
    with store.reading() as connection:  # without the lock of writers
        refuse_changed_documents(connection)  # plain SQL cannot compare rows with their checksums
    with store.writing() as connection:
        shingle_table.keep(connection, store, collection.counting, collection.progress)
        if place.schema is not None:
            connection.exec_driver_sql(functions(place.schema))
            _set_flagging(connection, collection, flag_look_alikes, measure, stops_flagging=stops_flagging)
        stored, limit = _flagging(connection, collection)
        refused = None
        if stored is not None and not is_limit(_METHOD_OF[stored], limit):
            _set_flagging(connection, collection, None, measure, stops_flagging=True)
            stored, limit, refused = None, None, limit
        example = _example(connection, place)
    is_sqlite = place.schema is None
    return Installed(
        place=str(place),
        dialect=store.dialect,
        similarity_index=index,
        tables=tables if is_sqlite else (*tables, "look_alikes"),
        views=("indexed_documents",) if is_sqlite else VIEWS,
        functions=() if is_sqlite else FUNCTIONS,
        flags_look_alikes=limit,
        flag_measure=stored,
        refused_limit=refused,
        example=example,
        is_new_collection=store.is_new,
    )


def _flagging(connection: Connection, collection: OpenedCollection) -> tuple[FlagMeasure | None, float | None]:
    """Return the measure and the limit by which new documents are flagged."""
    stored = collection.store.facts_now(connection, tuple(_FACT_OF.values()))
    for measure, name in _FACT_OF.items():
        if name in stored:
            return measure, float(stored[name])
    return None, None


def _set_flagging(
    connection: Connection,
    collection: OpenedCollection,
    limit: float | None,
    measure: FlagMeasure,
    *,
    stops_flagging: bool,
) -> None:
    if limit is None and not stops_flagging:
        return
    connection.exec_driver_sql(_STOP)
    for name in _FACT_OF.values():
        collection.store.delete_fact(connection, name)
    if limit is not None:
        collection.store.write_facts(connection, {_FACT_OF[measure]: repr(float(limit))})
        connection.exec_driver_sql(_FLAG)


def check_flagging(
    path_or_url: str | Path | Place, limit: float | None, *, measure: str | None = None, stops_flagging: bool
) -> None:
    """Refuse an impossible request for flagging before a collection is created for it.

    Raises
    ------
    ParameterError
    """
    place = path_or_url if isinstance(path_or_url, Place) else Place.parse(path_or_url)
    owner = "nearkin sql install"
    if measure is not None and measure not in _FACT_OF:
        raise ParameterError.of("measure", owner, "'words' or 'letters'", measure)
    if measure is not None and limit is None:
        raise ParameterError(NamedParameter("measure"), " is for ", NamedParameter("flag_look_alikes"), ": give both.")
    method = _METHOD_OF["letters" if measure == "letters" else "words"]
    if limit is not None and not is_limit(method, limit):
        rule = f"a Jaccard similarity {RULES[method]}; 0.5 flags versions"
        if measure == "letters":
            rule = f"a gamma of {RULES[method]}, a share of a document's length; 0.025 flags copies with small edits"
        raise ParameterError.of("flag_look_alikes", f"{owner} (--flag-look-alikes)", rule, limit)
    if limit is not None and stops_flagging:
        raise ParameterError("Give either --flag-look-alikes or --no-flag, not both.")
    if place.schema is None and (limit is not None or stops_flagging):
        raise ParameterError(f"{place} is SQLite, which cannot store functions: only PostgreSQL flags look-alikes.")


def functions(schema: str) -> str:
    """Return the statements that create the functions and views in a schema; they can be run again."""
    conditions = "\n              ".join(
        f"AND p.{name} BETWEEN own.{name} - reach AND own.{name} + reach" for name in PROJECTIONS[1:]
    )
    text = "\n".join(files(__package__).joinpath(name).read_text("utf-8") for name in _FILES)
    text = text.replace("{conditions}", conditions).replace("{max_tolerance}", str(MAX_TOLERANCE))
    for method in ("range", "minhash", "si"):
        text = text.replace(f"{{rule of {method}}}", RULES[method])
    return text.replace("{schema}", schema)


def _example(connection: Connection, place: Place) -> str:
    if place.schema is None:
        return "SELECT doc_id, similarity_index FROM indexed_documents LIMIT 5;"
    with_words = (
        "SELECT d.doc_id FROM documents d JOIN shingles s ON s.content = d.content "
        'WHERE d.is_current AND octet_length(s.hashes) > 0 ORDER BY d."row" LIMIT 1'
    )
    first = connection.exec_driver_sql(with_words).scalar()
    return f"SELECT * FROM {place.schema}.similar_by_words({sql_literal(first or 'ID')}, 0.5);"


def forget_flagged(connection: Connection, doc_ids: Sequence[str]) -> None:
    """Delete the rows of look_alikes that name one of the documents, inside a write transaction."""
    if connection.dialect.name != "postgresql":
        return
    if connection.exec_driver_sql("SELECT to_regclass('look_alikes')").scalar() is None:
        return
    for some in in_slices(doc_ids):
        connection.execute(_FLAGGED.delete().where(_FLAGGED.c.doc_id.in_(some) | _FLAGGED.c.similar_doc_id.in_(some)))
