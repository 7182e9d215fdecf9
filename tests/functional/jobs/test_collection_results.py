"""Results of a collection as Arrow tables and as data frames."""

from __future__ import annotations

import pyarrow as pa
import pytest

import nearkin
from nearkin.tabular import Tabular, table_names

LEASE = "The tenant shall pay the rent of {} crowns on the first day of each month to the landlord, without delay."


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    with nearkin.Collection.open(tmp_path_factory.mktemp("results") / "matter", create=True) as opened:
        opened.add([("a", LEASE.format(900)), ("b", LEASE.format(950)), ("c", LEASE.format(900).upper())])
        opened.add([("b", LEASE.format(990))])
        yield opened


ASKED = {
    "similar": (lambda one: one.similar("b", threshold=0.3), 2),
    "versions": (lambda one: one.versions("b", threshold=0.3), 3),
    "history": (lambda one: one.history("b"), 2),
    "groups": (lambda one: one.groups(threshold=0.3), 3),
    "conflicts": (lambda one: one.conflicts([("a", "x"), ("b", "y"), ("c", "x")], threshold=0.3), 1),
    "documents": (lambda one: one.documents(), 3),
    "search": (lambda one: one.search("rent"), 3),
    "check": (lambda one: one.check(LEASE.format(900)), 2),
}


@pytest.mark.parametrize("name", ASKED)
def test_a_result_is_a_table_and_a_data_frame(collection, name):
    ask, n = ASKED[name]
    found = ask(collection)
    assert isinstance(found, Tabular)
    table = getattr(found, table_names(type(found))[0])
    assert isinstance(table, pa.Table)
    assert len(table) == len(found.to_pandas()) == len(found.to_polars()) == n
    assert list(found.to_pandas().columns) == list(found.to_polars().columns) == table.column_names
    assert repr(found).startswith(type(found).__name__ + "(")
    assert len(repr(found)) < 150


def test_compared_texts_are_shown_in_a_line():
    found = nearkin.compare(LEASE.format(900), LEASE.format(950))
    assert repr(found) == "ComparedTexts(1 difference; Jaccard 0.545, edit 0.990)"
