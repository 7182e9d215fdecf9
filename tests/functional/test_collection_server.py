"""Collections whose server goes away, does not answer, or refuses: nothing is lost, and no password is shown."""

from __future__ import annotations

import os
import signal
import socket
import time
from pathlib import Path

import pytest

import postgresql
from contract.test_api import Script
from contract.test_collection_index import answers
from contract.test_collections import state
from functional.conftest import nearkin_here
from functional.test_collection_safety import FIRST, SECOND, uninterrupted
from nearkin.collection.collection import Collection
from nearkin.errors import CollectionError, NearkinError, UnavailableCollectionError
from places import SomePlace


def test_a_connection_that_ends_in_the_middle_of_adding(tmp_path, server, monkeypatch):
    """Nothing is stored; and the same object goes on when the server is there again."""
    monkeypatch.setattr("nearkin.stages.documents.tables._BATCH_BYTES", 1_000)
    monkeypatch.setattr("nearkin.collection.loads.adding._PREPARED_BYTES", 1_000)
    place = SomePlace.new(tmp_path, server)
    before, answers_before, after, answers_after = uninterrupted(place)
    end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'nearkin'"
    with place.open() as collection:
        collection.add(FIRST, wave="first")
        for n in (20, 32):  # the first documents are read before the transaction begins

            def documents(n: int = n):
                yield from SECOND[:n]
                assert int(server.sql(end)) >= 1
                yield from SECOND[n:]

            with pytest.raises(CollectionError) as caught:
                collection.add(documents(), wave="second")
            assert "The transaction that failed stored nothing" in str(caught.value)
            assert "open-sesame" not in str(caught.value)
            assert state(collection) == before
            assert answers(collection) == answers_before
        collection.add(SECOND, wave="second")
        assert state(collection) == after
        assert answers(collection) == answers_after

        def ask_too_late(seen) -> None:
            server.sql(end)
            seen.connection.exec_driver_sql("SELECT 1")

        with pytest.raises(CollectionError):
            collection.opened.answered(ask_too_late)
        assert answers(collection) == answers_after


@pytest.fixture
def silent():
    """A port on which somebody listens and never says a word."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


def messages_of(error: BaseException | None) -> str:
    """Of an error and of those that led to it."""
    told = []
    while error is not None:
        told.append(f"{error} {error!r}")
        error = error.__cause__ or error.__context__
    return "\n".join(told)


def unreachable(address: str, tmp_path: Path, **options: object) -> str:
    with pytest.raises(CollectionError) as caught:
        Collection.open(address, cache=tmp_path, **options)
    assert "open-sesame" not in messages_of(caught.value)
    assert "s3cret" not in messages_of(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("create", [True, False])
def test_a_server_that_is_not_there(tmp_path, create):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    told = unreachable(f"postgresql://ada:s3cret@127.0.0.1:{port}/matters", tmp_path, create=create)
    place = f"postgresql://ada:***@127.0.0.1:{port}/matters?schema=nearkin"
    assert told.startswith(f"{place} does not answer: ")
    assert "Connection refused" in told
    said = unreachable(f"postgresql://ada@/matters?host={tmp_path}", tmp_path, create=create)
    assert f'socket "{tmp_path}/.s.PGSQL.5432" failed: No such file or directory' in said


def test_a_server_that_never_answers(tmp_path, silent):
    url = f"postgresql://ada:s3cret@127.0.0.1:{silent}/matters?connect_timeout=1"
    assert "does not answer" in unreachable(url, tmp_path)


@pytest.mark.parametrize("create", [True, False])
def test_a_wrong_password_user_or_database(tmp_path, server, create):
    good = f"127.0.0.1:{server.port}/postgres"
    for address, words in [
        (f"postgresql://nearkin:s3cret@{good}", 'refuses the connection: password authentication failed for user "n'),
        (f"postgresql://nobody:s3cret@{good}", 'refuses the connection: password authentication failed for user "n'),
        (server.url("nowhere"), 'refuses the connection: database "nowhere" does not exist'),
    ]:
        assert words in unreachable(address, tmp_path, create=create)


def test_a_user_who_may_not_make_a_schema(tmp_path, server):
    server.sql("DROP ROLE IF EXISTS guest; CREATE ROLE guest LOGIN PASSWORD 's3cret'")
    address = f"postgresql://guest:s3cret@127.0.0.1:{server.port}/postgres?schema="
    assert "permission denied for database" in unreachable(address + "of_nobody", tmp_path, create=True)
    server.sql("CREATE SCHEMA of_guest AUTHORIZATION guest")
    with Collection.open(address + "of_guest", create=True, cache=tmp_path) as collection:  # one that it owns will do
        assert collection.add(FIRST).n_new == len(FIRST)
    server.sql("DROP SCHEMA of_guest CASCADE")
    server.sql("CREATE DATABASE closed")
    server.sql("REVOKE CONNECT ON DATABASE closed FROM PUBLIC")
    closed = address.replace("/postgres?", "/closed?") + "of_guest"
    said = [unreachable(closed, tmp_path, create=create) for create in (True, False)]
    server.sql("DROP DATABASE closed")
    server.sql("DROP ROLE guest")
    assert said[0] == said[1]
    assert 'permission denied for database "closed"' in said[0]


def test_a_server_that_is_stopped_at_once_is_unavailable(tmp_path, server, monkeypatch):
    monkeypatch.setattr("nearkin.stages.documents.tables._BATCH_BYTES", 1_000)
    with postgresql.running() as own:
        place = SomePlace.new(tmp_path, own)
        with place.open() as collection:
            collection.add(FIRST)

        def documents():
            yield from SECOND[:32]
            os.kill(own.pid, signal.SIGQUIT)  # pg_ctl stop -m immediate
            time.sleep(0.5)
            yield from SECOND[32:]

        with place.open() as served, place.open() as again:
            script = Script(served)
            assert script.call("GET", "/waves").status_code == 200
            with pytest.raises(UnavailableCollectionError):
                again.add(documents())
            answers = [script.call("GET", path) for path in ("/waves", f"/documents/{FIRST[0][0]}")]
    assert [(one.status_code, one.json()["error"]) for one in answers] == [(503, "UnavailableCollectionError")] * 2
    assert f"port {own.port} failed: Connection refused." in answers[1].json()["message"]


def test_a_user_who_may_only_read_can_ask(tmp_path, server):
    place = SomePlace.new(tmp_path, server)
    with place.open() as collection:
        collection.add(FIRST)
        right = answers(collection)
    name = place.schema
    server.sql(f"CREATE ROLE reader_{name} LOGIN PASSWORD 's3cret'; GRANT USAGE ON SCHEMA {name} TO reader_{name}")
    server.sql(f"GRANT SELECT ON ALL TABLES IN SCHEMA {name} TO reader_{name}")
    address = f"postgresql://reader_{name}:s3cret@127.0.0.1:{server.port}/postgres?schema={name}"
    with Collection.open(address, cache=tmp_path) as collection:
        assert answers(collection) == right
        with pytest.raises(CollectionError, match="permission denied") as denied:
            collection.add(SECOND)
        assert "To only read (similar, list, or check without --store), add --read-only." in str(denied.value)
        assert answers(collection) == right
        assert "permission denied" in Script(collection).put("x", "A new text.").json()["message"]
    with Collection.open(address, cache=tmp_path, read_only=True) as collection:
        doc_id, text = FIRST[0]
        assert answers(collection) == right
        assert collection.search(text.split()[0]).n_found > 0
        assert collection.check(text).verdict == "exact"
        assert collection.groups().tolerance is not None
        assert collection.info().n_documents == len(FIRST)
        script = Script(collection)
        paths = "/waves", f"/documents/{doc_id}", f"/documents/{doc_id}/similar", f"/search?q={text.split()[0]}"
        assert [script.call("GET", path).status_code for path in paths] == [200] * len(paths)
    checked = nearkin_here("check", address, "-", stdin=b"A new text.")
    said = "(permission denied for table check_keys): they are computed for this call only, which is slower"
    assert (checked.code, said in " ".join(checked.err.split())) == (0, True)
    assert "stored nothing" not in checked.err
    refused = [nearkin_here(*line) for line in (("tag", address, "read=yes", FIRST[0][0]), ("sql", "install", address))]
    assert [(one.code, "permission denied" in one.err) for one in refused] == [(7, True), (7, True)]
    server.sql(f"GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {name} TO reader_{name}")
    with Collection.open(address, cache=tmp_path) as collection:
        with pytest.raises(CollectionError, match="only the owner of the collection can run nearkin purge"):
            collection.purge([FIRST[0][0]])
        assert collection.purge([FIRST[0][0]], dry_run=True).n_texts == 1


def test_nothing_that_is_said_of_a_collection_tells_its_password(tmp_path, server):
    place = SomePlace.new(tmp_path, server)
    with place.open() as collection:
        collection.add(FIRST)
        told = [repr(collection), str(collection.place), repr(collection.place), repr(collection.info())]
        with pytest.raises(NearkinError) as caught:
            collection.document("nobody")
        told += [messages_of(caught.value), repr(collection.opened.store), repr(vars(collection.opened))]
    assert "open-sesame" not in "".join(told)


@pytest.mark.parametrize("asked", [["sql", "URL"], ["info", "matter", "URL"], ["list", "matter", "--limit=URL"]])
def test_a_command_that_is_wrong_does_not_show_the_password(asked):
    ended = nearkin_here(*(one.replace("URL", "postgresql://ann:s3cret@here/own") for one in asked))
    assert (ended.code, "s3cret" in ended.err, "postgresql://ann:***@here/own" in ended.err) == (2, False, True)
