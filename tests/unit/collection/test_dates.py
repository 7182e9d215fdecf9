"""Dates of documents: what is one, and what is said of the version in force."""

from __future__ import annotations

from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearkin.collection.dates import DateAsked, InForce, iso_date
from nearkin.collection.results import SimilarDocument, StoredDocument
from nearkin.collection.tolerance import Tolerance
from nearkin.collection.versions import Version, Versions
from nearkin.errors import ParameterError
from nearkin.reports.sentences.compare import date_text, relation_text, versions_sentences


def stored(doc_id: str, *, is_current: bool = True) -> StoredDocument:
    return StoredDocument(
        doc_id=doc_id, version=1, wave="w", source="f", line=1, n_characters=9, n_letters=9, is_counted=True,
        is_current=is_current, content=0,
    )  # fmt: skip


def version(doc_id: str, relation: str = "revised", **more: object) -> Version:
    similar = SimilarDocument(
        document=stored(doc_id), distance=None, relative_distance=None, n_bits=None, edit_similarity=0.5, jaccard=0.5,
        is_same_text=False,
    )  # fmt: skip
    own = {"filled_in": "", "date": None, "is_in_force": False} | more
    return Version(
        similar=similar, relation=relation, is_older=False, n_words_removed=1, n_words_added=1, n_differences=1,
        passage=(), is_whole=True, **own,
    )  # fmt: skip


def told(versions: tuple[Version, ...], force: InForce) -> list[str]:
    found = Versions(
        document=stored("lease"), tolerance=Tolerance.of(), versions=versions, n_found=len(versions), in_force=force
    )
    return [one.strong + one.text for one in versions_sentences(found)][1:]


@given(st.dates())
def test_a_date_is_read_as_it_is_written(day: date) -> None:
    assert iso_date(day.isoformat()) == day
    assert DateAsked.of(day, None) == DateAsked.of(day.isoformat(), "date")


@given(st.text(alphabet="0123456789-WT: ", max_size=12))
def test_anything_else_is_no_date(text: str) -> None:
    found = iso_date(text)
    assert found is None or found.isoformat() == text


@pytest.mark.parametrize("at", ["", "2024-2-1", "2024-02-01 ", "٢٠٢٤-٠٢-٠١", 20240201, datetime(2024, 2, 1)])  # noqa: DTZ001
def test_other_values_are_refused(at: object) -> None:
    with pytest.raises(ParameterError, match="a date such as 2024-03-01"):
        DateAsked.of(at, None)  # type: ignore[arg-type]


def test_the_last_sentences_name_what_is_in_force() -> None:
    day, at = date(2024, 1, 2), date(2024, 5, 6)
    dates = {"lease": day, "other": day}
    both = InForce(at, "date", dates, (stored("lease"), stored("other")))
    assert told((version("other"),), both) == ["In force on 2024-05-06: lease itself, other, dated 2024-01-02"]
    foreign = version("other", "same form, other parties", is_in_force=True, date=day)
    assert told((foreign,), InForce(at, "date", dates, (stored("other"),)))[1] == (
        "1 document in force is the same form with other parties: it need not be a version of lease"
    )
    early = InForce(date(2020, 1, 1), "date", dates, ())
    assert told((), early) == ["No document is in force on 2020-01-01; the earliest is dated 2024-01-02"]
    assert early.date_of(stored("lease")) == day
    assert early.date_of(stored("lease", is_current=False)) is None
    assert [date_text(one) for one in (version("a"), foreign)] == ["undated", "dated 2024-01-02, in force"]


def test_a_relation_says_which_document_fills_in_blanks() -> None:
    signed = "signature or date filled in"
    told = {
        one: relation_text(version("copy", signed, filled_in=one), "lease") for one in ("version", "document", "both")
    }
    assert told == {
        "version": f"{signed} (copy fills in the blanks of lease)",
        "document": f"{signed} (lease fills in the blanks of copy)",
        "both": f"{signed} (each fills in blanks of the other)",
    }
    assert relation_text(version("copy"), "lease") == "revised"
