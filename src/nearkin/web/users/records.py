"""Users and their tokens, as in the users file, and what nearkin users changes about them."""

from __future__ import annotations

import functools
import hashlib
import secrets
import unicodedata
from datetime import UTC, datetime

import msgspec
from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from nearkin.errors import ParameterError
from nearkin.web.roles import ROLES, Role, is_within
from nearkin.wording import reveal_line

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
        tokens = [{"label": one.label, "role": one.role, "made_at": one.made_at} for one in self.tokens]
        return {"name": self.name, "role": self.role, "tokens": tokens}


class Users(msgspec.Struct, frozen=True, kw_only=True):
    """All users of one collection."""

    version: int = VERSION
    users: tuple[User, ...] = ()

    def find(self, name: str) -> User | None:
        """Return the user of a name, whatever its case."""
        wanted = name_key(name)
        return next((one for one in self.users if name_key(one.name) == wanted), None)

    def of_token(self, token: str) -> tuple[User, UserToken] | None:
        """Return the owner of a token, and the token's record."""
        digest = digest_of(token)
        return next(((user, one) for user in self.users for one in user.tokens if one.digest == digest), None)

    def with_user(self, user: User) -> Users:
        """Return the users with a new or changed user, sorted by name."""
        kept = [one for one in self.users if one.name != user.name]
        return msgspec.structs.replace(self, users=tuple(sorted([*kept, user], key=lambda one: name_key(one.name))))

    def without(self, name: str) -> Users:
        """Return the users without a user."""
        return msgspec.structs.replace(self, users=tuple(one for one in self.users if one.name != name))


def digest_of(token: str) -> str:
    """Return the digest that is stored of a token."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def checked_name(name: str, what: str = "name") -> str:
    """Return the name of a user, or the label of a token, in Unicode form NFC."""
    told = unicodedata.normalize("NFC", name).strip()
    is_plain = (
        told.isprintable() and reveal_line(told) == told and not any(one.isspace() and one != " " for one in told)
    )
    if not 0 < len(told) <= _MAX_OF_A_NAME or not is_plain:
        raise ParameterError(
            f"The {what} must have 1 to {_MAX_OF_A_NAME} printable characters. Got {reveal_line(name)!r} instead."
        )
    return told


def name_key(name: str) -> str:
    """Return the key of a name, which ignores case, Unicode form and surrounding spaces."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).strip().casefold())


MIN_CHARACTERS, MAX_CHARACTERS = 12, 1_024
_HASHER = PasswordHasher(time_cost=3, memory_cost=64 * 1024, parallelism=4)
"""The second recommendation of RFC 9106 (Biryukov, Dinu, Khovratovich, Josefsson, 2021): 64 MiB, three passes."""


def hash_of(password: str) -> str:
    """Return the hash of a new password, with its parameters and a new salt."""
    told = _normal(password)
    if not MIN_CHARACTERS <= len(told) <= MAX_CHARACTERS:
        raise ParameterError(
            f"A password must have {MIN_CHARACTERS} to {MAX_CHARACTERS:,} characters. Got {len(told):,} instead."
        )
    return _HASHER.hash(told.encode("utf-8", "surrogatepass"))


def is_password(password: str, expected: str | None) -> bool:
    """Whether a password has a hash.

    Parameters
    ----------
    expected
        None for a name that no user has: the answer is False, after the same computation.
    """
    told = _normal(password)[: MAX_CHARACTERS + 1].encode("utf-8", "surrogatepass")  # no password is that long
    try:
        is_right = _HASHER.verify(expected or hash_of_nobody(), told)
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
    told = checked_name(name)
    check_free(users, told)
    return users.with_user(User(name=told, role=role, password=hash_of(password)))


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
    user, told = known(users, name), checked_name(label, "label")
    if not is_within(role, user.role):
        raise ParameterError(
            f"The role of a token must not be above that of its user. Got {role}, but {user.name} is {user.role}."
        )
    if any(one.label == told for one in user.tokens):
        raise ParameterError(f"{user.name} has a token {told} already. Revoke it first, or choose another label.")
    at = datetime.now(UTC).isoformat(timespec="seconds")
    made = UserToken(label=told, role=role, digest=digest_of(token), made_at=at)
    return users.with_user(msgspec.structs.replace(user, tokens=(*user.tokens, made)))


def without_token(users: Users, name: str, label: str) -> Users:
    """Remove a token of a user."""
    user, told = known(users, name), checked_name(label, "label")
    kept = tuple(one for one in user.tokens if one.label != told)
    if len(kept) == len(user.tokens):
        raise ParameterError(f"{user.name} has no token {told}.")
    return users.with_user(msgspec.structs.replace(user, tokens=kept))


def known(users: Users, name: str) -> User:
    """Return a user."""
    found = users.find(checked_name(name))
    if found is None:
        raise ParameterError(f"There is no user {checked_name(name)}.")
    return found


def checked_role(role: str | None) -> Role:
    """Return a role."""
    for one in ROLES:
        if role == one:
            return one
    raise ParameterError(f"--role must be one of {', '.join(ROLES)}. Got {role!r} instead.")
