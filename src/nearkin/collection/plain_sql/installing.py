"""The functions of a collection in PostgreSQL, made or brought up to date; in SQLite there is nothing to add."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path

from sqlalchemy import Connection

from nearkin.collection.opened import OpenedCollection
from nearkin.collection.plain_sql.queries import quoted
from nearkin.collection.tolerance import MAX_TOLERANCE
from nearkin.errors import ParameterError
from nearkin.store.place import Place
from nearkin.store.schema import PROJECTIONS

_GAMMA = "look_alikes_gamma"
FUNCTIONS = (
    "similar_documents(id text, gamma numeric)",
    "similar_by_index(si bigint, tolerance numeric, made_by text)",
    "near_contents(content bigint, gamma numeric)",
    "squared_distance(bytea, bytea)",
    "letter_counts(bytea)",
)
_STOP = "DROP TRIGGER IF EXISTS flag_look_alikes ON documents"
_FLAG = """
CREATE TRIGGER flag_look_alikes AFTER INSERT ON documents
REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION flag_look_alikes()
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """What there is for plain SQL now.

    Parameters
    ----------
    place : str
    dialect : {"sqlite", "postgresql"}
    similarity_index : str
        How similarity indexes are made.
    tables, views, functions : tuples of str
        SQLite has no functions that stay.
    flags_look_alikes : float or None
        The gamma within which new documents are flagged; None: they are not.
    example : str
        A call to begin with.
    """

    place: str
    dialect: str
    similarity_index: str
    tables: tuple[str, ...]
    views: tuple[str, ...]
    functions: tuple[str, ...]
    flags_look_alikes: float | None
    example: str

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        return asdict(self)


def install(
    collection: OpenedCollection, *, flag_look_alikes: float | None = None, stops_flagging: bool = False
) -> Installed:
    """Put functions, views and, if it is asked for, the trigger into the collection's schema, in one transaction.

    Parameters
    ----------
    collection : OpenedCollection
    flag_look_alikes : float, optional
        Flag from now on what is within this gamma of a document that is added. What was chosen before stays if it is
        not given.
    stops_flagging : bool
        Flag nothing from now on; what was flagged stays.

    Raises
    ------
    ParameterError
        A gamma that is none; or flagging is asked of SQLite.
    CollectionBusyError
    """
    place, store = collection.place, collection.store
    check_flagging(place, flag_look_alikes, stops_flagging=stops_flagging)
    tables: tuple[str, ...] = ("documents", "contents", "profiles")
    index = collection.counting.similarity_index.spec
    if place.schema is None:
        example = "SELECT doc_id, similarity_index FROM indexed_documents LIMIT 5;"
        return Installed(
            place=str(place),
            dialect=store.dialect,
            similarity_index=index,
            tables=tables,
            views=("indexed_documents",),
            functions=(),
            flags_look_alikes=None,
            example=example,
        )
    with store.writing() as connection:
        connection.exec_driver_sql(functions(place.schema))
        if flag_look_alikes is not None or stops_flagging:
            connection.exec_driver_sql(_STOP)
        if stops_flagging:
            store.unsay(connection, _GAMMA)
        if flag_look_alikes is not None:
            store.say(connection, {_GAMMA: repr(float(flag_look_alikes))})
            connection.exec_driver_sql(_FLAG)
        gamma = store.fact(connection, _GAMMA)
        example = _example(connection, place.schema)
    return Installed(
        place=str(place),
        dialect=store.dialect,
        similarity_index=index,
        tables=(*tables, "look_alikes"),
        views=("indexed_documents", "near_duplicate_pairs"),
        functions=FUNCTIONS,
        flags_look_alikes=None if gamma is None else float(gamma),
        example=example,
    )


def check_flagging(path_or_url: str | Path | Place, gamma: float | None, *, stops_flagging: bool) -> None:
    """Refuse what cannot be flagged, or where, before a collection is made for it.

    Raises
    ------
    ParameterError
    """
    place = path_or_url if isinstance(path_or_url, Place) else Place.parse(path_or_url)
    if gamma is not None and not _is_share(gamma):  # from 1 on every text that is not longer is like every other
        rule = "a gamma of at least 0 and below 1, a part of a document's length; 0.05 flags versions"
        raise ParameterError.of("flag_look_alikes", "nearkin sql install (--flag-look-alikes)", rule, gamma)
    if gamma is not None and stops_flagging:
        raise ParameterError("Flag look-alikes, or flag none from now on: one of the two.")
    if place.schema is None and (gamma is not None or stops_flagging):
        raise ParameterError(f"{place} is SQLite, which has no functions that stay: only PostgreSQL flags look-alikes.")


def _is_share(gamma: object) -> bool:
    return isinstance(gamma, int | float) and not isinstance(gamma, bool) and 0 <= gamma < 1


def functions(schema: str) -> str:
    """What makes the functions and views in a schema, as SQL of PostgreSQL; it may be given again."""
    conditions = "\n              ".join(
        f"AND p.{name} BETWEEN own.{name} - reach AND own.{name} + reach" for name in PROJECTIONS[1:]
    )
    text = files(__package__).joinpath("functions.sql").read_text("utf-8")
    text = text.replace("{conditions}", conditions).replace("{max_tolerance}", str(MAX_TOLERANCE))
    return text.replace("{schema}", schema)


def _example(connection: Connection, schema: str) -> str:
    first = connection.exec_driver_sql('SELECT doc_id FROM documents WHERE is_current ORDER BY "row" LIMIT 1').scalar()
    return f"SELECT * FROM {schema}.similar_documents({quoted(first or 'ID')}, 0.05);"
