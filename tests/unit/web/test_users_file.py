"""The users file, passwords and names: who may read it, what is stored, and what is refused."""

from __future__ import annotations

import os
import stat
import unicodedata
from contextlib import nullcontext
from pathlib import Path

import pytest
from argon2 import extract_parameters

from nearkin.errors import CollectionError, ParameterError, RunError
from nearkin.runs.files import locked
from nearkin.store.environment import usual_configuration
from nearkin.store.place import Place
from nearkin.web.users import file as records
from nearkin.web.users.file import (
    Users,
    added,
    change_users,
    checked_name,
    new_token,
    read_users,
    removed,
    usual_users_file,
    with_token,
    without_token,
)

PASSWORD = "correct horse battery"


@pytest.fixture(scope="module")
def users() -> Users:
    return added(Users(), "Ada Kern", "reviewer", PASSWORD)


def test_the_file_is_private_from_its_first_byte(tmp_path: Path, users: Users) -> None:
    path = tmp_path / "new" / "users.json"
    change_users(path, lambda _: users)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert read_users(path) == users
    change_users(path, lambda there: removed(there, "ada kern"))
    assert (read_users(path), [one.name for one in path.parent.iterdir()]) == (Users(), ["users.json"])


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o666])
def test_a_file_that_others_may_read_or_change_is_refused(tmp_path: Path, users: Users, mode: int) -> None:
    path = tmp_path / "users.json"
    change_users(path, lambda _: users)
    path.chmod(mode)
    with pytest.raises(CollectionError, match="chmod 600"):
        read_users(path)
    with pytest.raises(CollectionError, match="chmod 600"):
        change_users(path, lambda there: there)


@pytest.mark.parametrize(("mode", "is_refused"), [(0o755, False), (0o777, True), (0o757, True), (0o1777, False)])
def test_a_folder_in_which_others_may_replace_the_file_is_refused(
    tmp_path: Path, users: Users, mode: int, is_refused: bool
) -> None:
    """Whoever can put another file there is an admin; the folder of a link counts like that of its target."""
    path, link = tmp_path / "users.json", tmp_path / "links" / "users.json"
    change_users(path, lambda _: users)
    link.parent.mkdir()
    link.symlink_to(path)
    tmp_path.chmod(mode)
    for one in (path, link):
        with pytest.raises(CollectionError, match="chmod go-w") if is_refused else nullcontext():
            assert read_users(one) == users
    with pytest.raises(CollectionError, match="chmod go-w") if is_refused else nullcontext():
        change_users(tmp_path / "new.json", lambda _: users)
    assert (tmp_path / "new.json").exists() is not is_refused


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to somebody else")
@pytest.mark.parametrize("given", ["users.json", "."])
def test_a_file_of_another_user_is_refused(tmp_path: Path, users: Users, given: str) -> None:
    path = tmp_path / "own" / "users.json"
    change_users(path, lambda _: users)
    os.chown(path.parent / given, 12_345, -1)
    with pytest.raises(CollectionError, match="belongs to another user"):
        read_users(path)


@pytest.mark.parametrize(
    "content",
    [
        "", "[]", "{", '{"version": 1, "users": [{"name": "ada"}]}',
        '{"users": [{"name": "ada", "role": "owner", "password": "x"}]}',
        '{"users": [{"name": "zo\xe9", "role": "viewer", "password": "x"}]}', '{"more": ' + "[" * 100_000,
    ],
    ids=["empty", "list", "cut", "incomplete", "role", "latin-1", "deep"],
)  # fmt: skip
def test_a_file_that_is_something_else_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "users.json"
    path.write_text(content, "latin-1")
    path.chmod(0o600)
    with pytest.raises(CollectionError, match="not a users file"):
        read_users(path)


def test_two_commands_do_not_change_the_file_at_once(tmp_path: Path, users: Users) -> None:
    path = tmp_path / "users.json"
    with locked(tmp_path / ".users.json.lock"), pytest.raises(RunError, match="another --users-file"):
        change_users(path, lambda _: users)
    assert not path.exists()


def test_a_change_that_is_refused_leaves_the_file(tmp_path: Path, users: Users) -> None:
    path = tmp_path / "users.json"
    change_users(path, lambda _: users)
    before = path.read_bytes()
    for wrong in (lambda there: added(there, "ADA KERN", "viewer", PASSWORD), lambda there: removed(there, "bob")):
        with pytest.raises(ParameterError):
            change_users(path, wrong)
    assert path.read_bytes() == before


def test_the_usual_file_is_in_the_configuration(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    path = usual_users_file(Place.parse("matter"), "0" * 32)
    assert path == tmp_path / "nearkin" / "users" / f"{'0' * 32}.json"
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert usual_configuration() == tmp_path / ".config" / "nearkin"


def test_a_password_is_right_however_its_letters_were_typed() -> None:
    composed = "Gehöft zur Mühle"
    hashed = records.hash_of(composed)
    assert records.is_password(unicodedata.normalize("NFD", composed), hashed)
    for wrong in ("Gehoft zur Muhle", composed + " ", "", "x" * 5_000):
        assert not records.is_password(wrong, hashed)
    assert not records.is_password(composed, "no hash")


def test_a_name_that_nobody_has_costs_the_same_computation(users: Users) -> None:
    of_nobody = records.hash_of_nobody()
    assert extract_parameters(of_nobody) == extract_parameters(users.users[0].password)
    assert not records.is_password("the password of nobody", None)
    assert records.is_password("the password of nobody", of_nobody)


@pytest.mark.parametrize("password", ["", "elevenchars", "x" * 1_025])
def test_a_password_has_a_length(password: str) -> None:
    with pytest.raises(ParameterError, match=f"Got {len(password):,}"):
        records.hash_of(password)


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "a\u202eb", "a\u200bb", "x" * 65, "a\tb", "a\u00a0b"])
def test_a_name_shows_every_character(name: str) -> None:
    with pytest.raises(ParameterError, match="1 to 64 printable characters"):
        checked_name(name)


def test_tokens_are_stored_as_digests_and_found_again(users: Users) -> None:
    token, other = new_token(), new_token()
    found = with_token(users, "ada kern", "nightly", "viewer", token)
    assert token not in repr(found)
    owner = found.of_token(token)
    assert owner is not None
    assert (owner[0].name, owner[1].role) == ("Ada Kern", "viewer")
    assert found.of_token(other) is None
    assert found.of_token("") is None
    assert without_token(found, "Ada Kern", "nightly").of_token(token) is None
    with pytest.raises(ParameterError, match="has a token nightly already"):
        with_token(found, "Ada Kern", "nightly", "viewer", other)
    with pytest.raises(ParameterError, match="must not be above"):
        with_token(users, "Ada Kern", "more", "admin", other)
