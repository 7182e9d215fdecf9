"""Users of a service, made by the command, and what the service refuses without them."""

from __future__ import annotations

import json
import stat
from dataclasses import dataclass
from pathlib import Path

import pytest

from functional.conftest import nearkin_done, nearkin_here, nearkin_json
from nearkin.collection.collection import Collection
from review_client import small_collection

PASSWORD = b"correct horse battery\n"


@dataclass(frozen=True)
class Administered:
    """A collection with a user."""

    place: Path
    users_file: Path


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Administered:
    folder = tmp_path_factory.mktemp("team")
    small_collection(folder).close()
    users_file = folder / "users.json"
    added = ("users", folder / "matter", "add", "ada", "--role", "reviewer", "--users-file", users_file)
    nearkin_done(*added, stdin=PASSWORD)
    token = ("users", folder / "matter", "token", "ada", "--label", "nightly", "--role", "reviewer")
    nearkin_done(*token, "--users-file", users_file)
    return Administered(folder / "matter", users_file)


def test_users_are_listed_without_their_secrets(served: Administered) -> None:
    listed = nearkin_here("users", served.place, "list", "--json", "--users-file", served.users_file).out
    stored = json.loads(served.users_file.read_text("utf-8"))
    assert [one["name"] for one in json.loads(listed)["users"]] == ["ada"]
    for user in stored["users"]:
        assert user["password"].startswith("$argon2id$")
        assert user["password"] not in listed
        assert not [one for one in user["tokens"] if one["digest"] in listed]
    assert stat.S_IMODE(served.users_file.stat().st_mode) == 0o600


def test_the_usual_file_belongs_to_the_collection_wherever_it_lies(
    served: Administered, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with Collection.open(served.place, read_only=True) as collection:
        own = tmp_path / "nearkin" / "users" / f"{collection.opened.store.facts['collection']}.json"
    told = nearkin_json("users", served.place)
    assert told == {"file": str(own), "users": []}


def test_other_machines_are_refused_until_there_are_users(
    served: Administered, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    proxy = ("--behind-proxy", "10.0.8.1", "--public-url", "https://review.example.org")
    for options in (("--host", "0.0.0.0"), ("--host", "0.0.0.0", *proxy), proxy, (*proxy, "--by", "ada")):
        assert nearkin_here("serve", served.place, *options).code == 2
    assert list(tmp_path.iterdir()) == []
