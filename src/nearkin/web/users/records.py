"""Users and their tokens, as in the users file."""

from __future__ import annotations

import hashlib
import unicodedata

import msgspec

from nearkin.errors import ParameterError
from nearkin.hidden_characters import reveal_line
from nearkin.web.roles import Role

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
    """Return the name of a user, or the label of a token, in Unicode form NFC.

    Raises
    ------
    ParameterError
        It is blank, too long, or has characters that a reader cannot see: the activity log shows it.
    """
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
