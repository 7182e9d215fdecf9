"""Where a collection is, as users write it; and no password in what is said of it."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import URL

from nearkin.errors import ParameterError
from nearkin.store.place import Place


@pytest.mark.parametrize("name", ["matter", "./a b", "/x/y", "postgresql", "a:b", "100%?x=1#y", "é"])
def test_a_directory(name):
    for written in (name, Path(name)):
        place = Place.parse(written)
        assert (place.directory, place.schema, str(place)) == (Path(name), None, str(Path(name)))
        assert place.url.database == str(Path(name) / "nearkin.sqlite")


@pytest.mark.parametrize(
    ("written", "told", "schema"),
    [
        ("postgresql://ada:s3cret@host:99/db", "postgresql://ada:***@host:99/db?schema=nearkin", "nearkin"),
        ("postgres://ada@host/db?schema=smith_9", "postgresql://ada@host/db?schema=smith_9", "smith_9"),
        ("postgresql+psycopg://ada@/db", "postgresql://ada@/db?schema=nearkin", "nearkin"),
        ("postgresql://ada:s3%40cret@host/db", "postgresql://ada:***@host/db?schema=nearkin", "nearkin"),
        ("postgresql://ada:s3cret@[::1]/db", "postgresql://ada:***@[::1]/db?schema=nearkin", "nearkin"),
    ],
)
def test_a_url(written, told, schema):
    place = Place.parse(written)
    assert (place.directory, place.schema, str(place)) == (None, schema, told)
    assert place.url.drivername == "postgresql+psycopg"
    assert "s3" not in repr(place)
    assert Place.parse(place.address) == place


@pytest.mark.parametrize(
    "written",
    [
        "mysql://ada:s3cret@host/db", "sqlite:///x", "://ada:s3cret@host/db",
        "postgresql://ada:s3cret@host:port/db", "http://ada:s3cret@host/db",
        "postgresql://ada:s3cret@host/db?schema=A",
        "postgresql://ada:s3cret@host/db?schema=1a", 'postgresql://ada:s3cret@host/db?schema=a";drop',
        "postgresql://ada:s3cret@host/db?schema=" + "x" * 64, "postgresql://ada:s3cret@host/db?schema=a&schema=b",
        "postgresql://ada:s3cret@host/db?password=s3cret", "mysql://:s3cret@host/db", "mysql://ada:s3:s3cret@host/db",
    ],
)  # fmt: skip
def test_what_is_no_place_is_refused_without_telling_the_password(written):
    with pytest.raises(ParameterError) as caught:
        Place.parse(written)
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("postgresql+psycopg2://ada:s3cret@host/db", "without the name of a driver"),
        ("postgresql+asyncpg://host/db", "without the name of a driver"),
        ("postgresql+://host/db", "without the name of a driver"),
        ("postgresql://host/db?host=a&host=b", "with each setting once"),
        ("postgresql://host/db?schema=", "a name for the schema"),
        ("postgresql://host/db?schema", "a name for the schema"),
        ("postgresql:/ada:s3cret@host/db", "postgresql:/ada:***@host/db"),
        ("postgresql:ada:s3cret@host/db", "postgresql:ada:***@host/db"),
        ("Postgres:/ada:s3cret@host/db", "Postgres:/ada:***@host/db"),
        ("postgresql://ada:s3cret", "postgresql://ada:***"),
        ("host=localhost password=s3cret dbname=x", "host=localhost password=*** dbname=x"),
        ("dbname=x user=ada password='s3cret s3cret'", "password=***"),
    ],
)
def test_a_url_that_would_name_another_collection_is_refused(written: str, said: str) -> None:
    with pytest.raises(ParameterError) as caught:
        Place.parse(written)
    assert said in str(caught.value)
    assert "s3cret" not in str(caught.value)


@given(st.text(min_size=1, max_size=12), st.text("abc_", min_size=1, max_size=9))
def test_any_password_goes_through_and_is_never_told(password, schema):
    url = URL.create("postgresql", "ada", password, "host", 5432, "db", {"schema": schema})
    place = Place.parse(url.render_as_string(hide_password=False))
    assert place.url.password == password
    assert Place.parse(place.address) == place
    assert str(place) == f"postgresql://ada:***@host:5432/db?schema={schema}"


@given(st.text(max_size=40))
def test_any_text_is_a_place_or_refused_in_words(written):
    for text in (written, f"postgresql://{written}", f"{written}://x"):
        with contextlib.suppress(ParameterError):
            assert Place.parse(text).directory is None or "://" not in text


@pytest.mark.parametrize("url", ["postgresql://", "postgresql:///?service=m", "postgresql://ada@127.0.0.1:54329"])
def test_a_url_may_leave_out_what_the_environment_says(url: str) -> None:
    place = Place.parse(url)
    assert Place.parse(place.address) == place


def test_settings_of_a_url_go_to_libpq() -> None:
    place = Place.parse("postgresql:///db?host=%2Frun%2Fx&port=5433&target_session_attrs=read-write")
    assert str(place) == "postgresql:///db?host=%2Frun%2Fx&port=5433&schema=nearkin&target_session_attrs=read-write"
    assert Place.parse(place.address) == place
