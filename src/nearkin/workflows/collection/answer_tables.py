"""Lists of a collection without a result record, as tables for other programs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING

from nearkin.collection.result_tables import DOCUMENT, PROBLEM, WAVE, table_of

if TYPE_CHECKING:
    import pyarrow as pa

    from nearkin.collection.info import Wave
    from nearkin.collection.listing.problems import Problem
    from nearkin.collection.results import StoredDocument


def table_of_documents(listed: Iterable[StoredDocument]) -> pa.Table:
    """Return a row for each document."""
    return table_of((one.to_dict() for one in listed), *DOCUMENT)


def table_of_waves(listed: Iterable[Wave]) -> pa.Table:
    """Return a row for each wave."""
    return table_of(map(asdict, listed), *WAVE)


def table_of_problems(listed: Iterable[Problem]) -> pa.Table:
    """Return a row for each document that could not be stored, or got another id."""
    return table_of(map(asdict, listed), *PROBLEM)
