"""Saved searches, which are queries with names; and facets, which count what found documents have in common."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from nearkin.collection.dates import DATE_TAG
from nearkin.collection.decisions import log
from nearkin.collection.decisions.fields import BETWEEN_VALUES
from nearkin.collection.stored.documents import with_documents
from nearkin.collection.stored.word_tables import Combination
from nearkin.collection.word_search.query import header, parse
from nearkin.collection.word_search.searching import MOST_RANKED, newest_found, parsed
from nearkin.errors import ParameterError
from nearkin.store.bulk import in_slices, is_name
from nearkin.store.schema import activity, changes, documents, origins, tags
from nearkin.store.store import Store
from nearkin.tabular import AnswerRecord

_MAX_NAME = 100


@dataclass(frozen=True, slots=True)
class SavedSearch(AnswerRecord):
    """A query with a name, and who saved it when (UTC, ISO 8601)."""

    name: str
    query: str
    by: str
    at: str


def saved_searches(connection: Connection) -> list[SavedSearch]:
    """Return the saved searches, by name."""
    rows = select(changes.c.other, changes.c.now, activity.c.done_by, activity.c.done_at)
    rows = rows.join_from(changes, activity, changes.c.activity == activity.c.number)
    records = connection.execute(rows.where(changes.c.is_current & (changes.c.kind == log.SEARCH)))
    return sorted((SavedSearch(*row) for row in records), key=lambda search: search.name)


def save_search(store: Store, name: str, query: str | None, options: log.ChangeRequest) -> log.ActivityResult:
    """Save a query under a name, or forget it; see `Collection.save_search`."""
    name = name.strip()
    if not name or '"' in name or len(name) > _MAX_NAME or not is_name(name):
        raise ParameterError.of("name", f'a line of at most {_MAX_NAME} characters, not blank and without "', name)
    key = log.SEARCH, "", name
    with options.opened(store) as connection:
        if query is not None:
            parse(query, connection, (name,))
        was = log.values_of(connection, [key]).get(key)
        settings = (log.SettingChange(*key, was, query),) if was != query else ()
        return log.made(connection, log.SEARCH, settings, options, n_unchanged=1 - len(settings))


_MOST_VALUES = 8
_MOST_MONTHS = 18
"""Number of months above which years are counted."""
_MONTH = re.compile(r"\d{4}(-\d\d)?")
_ADDRESS = re.compile(r"<([^<>\s]+)>")


@dataclass(frozen=True, slots=True)
class FacetValue:
    """A value of a field, the number of documents that have it, and the query that finds only these."""

    value: str
    n_documents: int
    query: str


@dataclass(frozen=True, slots=True)
class Facet:
    """A field of queries, and its most frequent values."""

    field: str
    values: tuple[FacetValue, ...]


@dataclass(frozen=True, slots=True)
class Facets(AnswerRecord):
    """Frequent values of found documents; of more than 10,000, of those added last."""

    n_documents: int
    facets: tuple[Facet, ...]


def facets(connection: Connection, query: str, *, wave: str | None = None) -> Facets:
    """Count the senders, months or years, tags, waves and kinds of file of the documents that meet a query."""
    ranked = newest_found(connection, parsed(connection, query, wave))[0].limit(MOST_RANKED).subquery("found")
    month = func.substr(header(connection, "sent_at"), 1, 7)
    rows = with_documents().join(ranked, ranked.c.row == documents.c.row)
    rows = rows.outerjoin(origins, origins.c.row == documents.c.row)
    rows = rows.add_columns(origins.c.kind, header(connection, "sender").label("sender"), month.label("month"))
    counts, dates = {name: Counter[str]() for name in ("from", "date", "tag", "wave", "kind")}, dict[str, set[str]]()
    senders, fields = Counter[str](), Counter[str]()
    for row in connection.execute(rows):
        counts["wave"][row.wave] += 1
        counts["kind"].update([row.kind] if row.kind else ())
        senders.update([row.sender.lower()] if row.sender else ())
        dates[row.doc_id] = {row.month} if row.month else set()
    for block in in_slices(list(dates)):
        for doc_id, field, value in connection.execute(
            select(tags.c.doc_id, tags.c.field, tags.c.value).where(tags.c.doc_id.in_(block))
        ):
            if field == DATE_TAG and (own := _MONTH.match(value)):
                dates[doc_id].add(own[0])
            fields[field] += 1
            counts["tag"].update(f"{field}={label}" if label else field for label in set(value.split(BETWEEN_VALUES)))
    counts["tag"] |= Counter({field: n for field, n in fields.items() if field in counts["tag"]})  # with any value
    addresses = Counter(_address(sender) for sender in senders.elements())
    for address, _ in addresses.most_common(_MOST_VALUES):
        counts["from"][address] = sum(n for sender, n in senders.items() if address in sender)
    length = 7 if len(set().union(*dates.values())) <= _MOST_MONTHS else 4
    for own_dates in dates.values():
        counts["date"].update({date[:length] for date in own_dates if len(date) >= length})
    return Facets(len(dates), tuple(_facets(query, len(dates), counts)))


def _address(sender: str) -> str:
    occurrence = _ADDRESS.search(sender)
    return occurrence[1] if occurrence else sender


def _facets(query: str, n_documents: int, counts: dict[str, Counter[str]]) -> list[Facet]:
    listed = list[Facet]()
    tree = parse(query)
    inner = f"({query})" if isinstance(tree, Combination) and tree.operator == "OR" else query
    for field, values in counts.items():
        best = [(value, n) for value, n in values.most_common() if n < n_documents and '"' not in value]
        if field == "date":
            best = sorted(best, reverse=True)
        shown = [FacetValue(value, n, f"{inner} {field}:{_written(value)}") for value, n in best[:_MOST_VALUES]]
        listed += [Facet(field, tuple(shown))] if shown else []
    return listed


def _written(value: str) -> str:
    return value if re.fullmatch(r"[\w.@=+-]+", value) else f'"{value}"'
