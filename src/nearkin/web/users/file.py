"""Users that sign in, with their passwords and tokens: changes, and the file that stores them."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import secrets
import stat
import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from nearkin.errors import CollectionError, NearkinError, ParameterError
from nearkin.paths import why
from nearkin.runs.files import locked, published, writing
from nearkin.store.environment import usual_configuration
from nearkin.store.place import Place
from nearkin.web.roles import ROLES, Role, is_within
from nearkin.wording import reveal_line

_PRIVATE, _ROOT = 0o600, 0
_Signature = tuple[int, ...]


def usual_users_file(place: Place, collection: str) -> Path:
    """Return the users file of a collection: in ``XDG_CONFIG_HOME``, if that is absolute, else in ``~/.config``."""
    name = collection if place.directory is not None else place.name_outside(collection)
    return usual_configuration() / "users" / f"{name}.json"


def read_users(path: Path) -> Users:
    """Return the users in a file; nobody if there is none."""
    return _read(path)[0]


def change_users(path: Path, change: Callable[[Users], Users]) -> Users:
    """Replace the users in a file by the result of ``change``, and return them."""
    with writing(path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _refuse_open_folders(path)
    with locked(path.with_name(f".{path.name}.lock"), other="another --users-file"):
        users = change(read_users(path))
        with published(path) as aside:
            handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE)
            with open(handle, "wb") as file:
                file.write(msgspec.json.format(msgspec.json.encode(users), indent=2) + b"\n")
    return users


class CurrentUsers:
    """Users of a running service, as they are currently in the file.

    Parameters
    ----------
    say
        Receives why the file cannot be used, once for each reason.
    """

    def __init__(self, path: Path, say: Callable[[str], None]) -> None:
        self._path, self._say = path, say
        self._users, self._said = Users(), ""
        self._seen: _Signature | None = None

    def now(self) -> Users:
        """Return the users."""
        try:
            seen = _signature(os.stat(self._path))
            if seen != self._seen:
                self._users, self._seen = _read(self._path)
                self._said = ""
        except OSError as error:
            self._refuse(f"{self._path}: {why(error)}.")
        except NearkinError as error:
            self._refuse(str(error))
        return self._users

    def _refuse(self, reason: str) -> None:
        self._users, self._seen = Users(), None
        if reason != self._said:
            self._said = reason
            self._say(f"Nobody can sign in: {reason}")


def _read(path: Path) -> tuple[Users, _Signature | None]:
    try:
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            content = file.read()
    except FileNotFoundError:
        return Users(), None
    except OSError as error:
        raise CollectionError(f"{path}: {why(error)}.") from error
    _refuse_others(path, status)
    with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        users = msgspec.json.decode(content, type=Users)
        if users.version != VERSION:
            raise CollectionError(f"{path} was written by a newer version of Nearkin. Use that version.")
        return users, _signature(status)
    raise CollectionError(
        f"{path} is not a users file, or is damaged. Restore it, or remove it and add the users again."
    )


def _refuse_others(path: Path, status: os.stat_result) -> None:
    """Refuse a file that another user of the machine can read, change or replace, as ssh does with its keys."""
    if status.st_mode & 0o077:
        raise CollectionError(
            f"{path}: other users of this machine may read or change this file. Run: chmod 600 {path}"
        )
    _refuse_owner(path, status)
    _refuse_open_folders(path)


def _refuse_open_folders(path: Path) -> None:
    """Refuse a file in a folder in which another user could put another file in its place."""
    for folder in dict.fromkeys((path.absolute().parent, path.resolve().parent)):  # of a link, and of its target
        status = os.stat(folder)
        _refuse_owner(folder, status)
        if status.st_mode & (stat.S_IWOTH | stat.S_IWGRP) and not status.st_mode & stat.S_ISVTX:
            raise CollectionError(
                f"{path}: other users of this machine may replace this file, because they may write to its folder. "
                f"Run: chmod go-w {folder}"
            )


def _refuse_owner(path: Path, status: os.stat_result) -> None:
    if status.st_uid not in (os.geteuid(), _ROOT):
        raise CollectionError(
            f"{path} belongs to another user of this machine, who can therefore change who may sign in. Make the user "
            "that runs nearkin its owner."
        )


def _signature(status: os.stat_result) -> _Signature:
    return status.st_dev, status.st_ino, status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns


VERSION = 1
_MAX_OF_A_NAME = 64


class UserToken(msgspec.Struct, frozen=True, kw_only=True):
    """Token of a user's scripts.

    ``digest`` is the SHA-256 of the token: its 256 random bits cannot be guessed, so a slow hash would protect nothing.
    """

    label: str
    role: Role
    digest: str
    made_at: str


class User(msgspec.Struct, frozen=True, kw_only=True):
    """User of a service. ``password`` is a hash by Argon2id, with its parameters and its salt."""

    name: str
    role: Role
    password: str
    tokens: tuple[UserToken, ...] = ()

    def without_secrets(self) -> dict[str, object]:
        """Return the user as JSON types, without password and digests."""
        tokens = [{"label": token.label, "role": token.role, "made_at": token.made_at} for token in self.tokens]
        return {"name": self.name, "role": self.role, "tokens": tokens}


class Users(msgspec.Struct, frozen=True, kw_only=True):
    """All users of one collection."""

    version: int = VERSION
    users: tuple[User, ...] = ()

    def find(self, name: str) -> User | None:
        """Return the user of a name, whatever its case."""
        wanted = name_key(name)
        return next((user for user in self.users if name_key(user.name) == wanted), None)

    def of_token(self, token: str) -> tuple[User, UserToken] | None:
        """Return the owner of a token, and the token's record."""
        digest = digest_of(token)
        return next(((user, token) for user in self.users for token in user.tokens if token.digest == digest), None)

    def with_user(self, user: User) -> Users:
        """Return the users with a new or changed user, sorted by name."""
        kept = [other for other in self.users if other.name != user.name]
        return msgspec.structs.replace(self, users=tuple(sorted([*kept, user], key=lambda other: name_key(other.name))))

    def without(self, name: str) -> Users:
        """Return the users without a user."""
        return msgspec.structs.replace(self, users=tuple(user for user in self.users if user.name != name))


def digest_of(token: str) -> str:
    """Return the digest that is stored of a token."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def checked_name(name: str, what: str = "name") -> str:
    """Return the name of a user, or the label of a token, in Unicode form NFC."""
    plain_name = unicodedata.normalize("NFC", name).strip()
    is_plain = (
        plain_name.isprintable()
        and reveal_line(plain_name) == plain_name
        and not any(character.isspace() and character != " " for character in plain_name)
    )
    if not 0 < len(plain_name) <= _MAX_OF_A_NAME or not is_plain:
        raise ParameterError(
            f"The {what} must have 1 to {_MAX_OF_A_NAME} printable characters. Got {reveal_line(name)!r} instead."
        )
    return plain_name


def name_key(name: str) -> str:
    """Return the key of a name, which ignores case, Unicode form and surrounding spaces."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).strip().casefold())


MIN_CHARACTERS, MAX_CHARACTERS = 12, 1_024
_HASHER = PasswordHasher(time_cost=3, memory_cost=64 * 1024, parallelism=4)
"""The second recommendation of RFC 9106 (Biryukov, Dinu, Khovratovich, Josefsson, 2021): 64 MiB, three passes."""


def hash_of(password: str) -> str:
    """Return the hash of a new password, with its parameters and a new salt."""
    normal = _normal(password)
    if not MIN_CHARACTERS <= len(normal) <= MAX_CHARACTERS:
        raise ParameterError(
            f"A password must have {MIN_CHARACTERS} to {MAX_CHARACTERS:,} characters. Got {len(normal):,} instead."
        )
    return _HASHER.hash(normal.encode("utf-8", "surrogatepass"))


def is_password(password: str, expected: str | None) -> bool:
    """Whether a password has a hash.

    Parameters
    ----------
    expected
        None for a name that no user has: the answer is False, after the same computation.
    """
    normal = _normal(password)[: MAX_CHARACTERS + 1].encode("utf-8", "surrogatepass")  # no password is that long
    try:
        is_right = _HASHER.verify(expected or hash_of_nobody(), normal)
    except (VerificationError, InvalidHashError):
        return False
    return is_right and expected is not None


@functools.cache
def hash_of_nobody() -> str:
    """Return the hash that a password is compared with if nobody has the name; the first call computes it."""
    return _HASHER.hash(b"the password of nobody")


def _normal(password: str) -> str:
    """Return a password in NFC: keyboards differ in how they write an accented letter."""
    return unicodedata.normalize("NFC", password)


def added(users: Users, name: str, role: Role, password: str) -> Users:
    """Add a user."""
    user_name = checked_name(name)
    check_free(users, user_name)
    return users.with_user(User(name=user_name, role=role, password=hash_of(password)))


def check_free(users: Users, name: str) -> None:
    """Refuse a name that a user has."""
    if (there := users.find(name)) is not None:
        raise ParameterError(f"The user {there.name} already exists. Change the role or the password instead.")


def with_role(users: Users, name: str, role: Role) -> Users:
    """Change the role of a user; tokens keep their roles, but never have more permissions than the user."""
    return users.with_user(msgspec.structs.replace(known(users, name), role=role))


def with_password(users: Users, name: str, password: str) -> Users:
    """Change the password of a user, which ends all sessions; tokens stay."""
    return users.with_user(msgspec.structs.replace(known(users, name), password=hash_of(password)))


def removed(users: Users, name: str) -> Users:
    """Remove a user with all tokens and sessions."""
    return users.without(known(users, name).name)


def new_token() -> str:
    """Return a token of 256 random bits; its prefix lets scanners of repositories find one that was published."""
    return f"nearkin_{secrets.token_urlsafe(32)}"


def with_token(users: Users, name: str, label: str, role: Role, token: str) -> Users:
    """Add a token of a user's scripts."""
    user, token_label = known(users, name), checked_name(label, "label")
    if not is_within(role, user.role):
        raise ParameterError(
            f"The role of a token must not be above that of its user. Got {role}, but {user.name} is {user.role}."
        )
    if any(token.label == token_label for token in user.tokens):
        raise ParameterError(
            f"{user.name} has a token {token_label} already. Revoke it first, or choose another label."
        )
    at = datetime.now(UTC).isoformat(timespec="seconds")
    made = UserToken(label=token_label, role=role, digest=digest_of(token), made_at=at)
    return users.with_user(msgspec.structs.replace(user, tokens=(*user.tokens, made)))


def without_token(users: Users, name: str, label: str) -> Users:
    """Remove a token of a user."""
    user, token_label = known(users, name), checked_name(label, "label")
    kept = tuple(token for token in user.tokens if token.label != token_label)
    if len(kept) == len(user.tokens):
        raise ParameterError(f"{user.name} has no token {token_label}.")
    return users.with_user(msgspec.structs.replace(user, tokens=kept))


def known(users: Users, name: str) -> User:
    """Return a user."""
    user = users.find(checked_name(name))
    if user is None:
        raise ParameterError(f"There is no user {checked_name(name)}.")
    return user


def checked_role(role: str | None) -> Role:
    """Return a role."""
    for known_role in ROLES:
        if role == known_role:
            return known_role
    raise ParameterError(f"--role must be one of {', '.join(ROLES)}. Got {role!r} instead.")
