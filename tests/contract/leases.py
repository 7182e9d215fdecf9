"""A collection of six leases and of a text that is none, and what is decided about them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from nearkin.collection.collection import Collection
from places import SomePlace

LEASE = "The tenant shall pay the rent of {} crowns on the first day of each month to the landlord of the house."
OTHER = "Quite another text, about the sea and the ships that sail on it in every weather of the year."
GAMMA = 0.2


@contextmanager
def collection_of_leases(place: SomePlace) -> Iterator[Collection]:
    with place.open() as opened:
        opened.add([*((f"d{i}", LEASE.format(900 + i)) for i in range(6)), ("x", OTHER)])
        yield opened


def tags_of(collection: Collection) -> dict[tuple[str, str], str]:
    return {(one["doc_id"], one["field"]): one["value"] for one in collection.tags().documents.to_pylist()}
