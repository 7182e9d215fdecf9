"""Changes of users and of their tokens, as functions from users to users."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime

import msgspec

from nearkin.errors import ParameterError
from nearkin.web.roles import ROLES, Role, is_within
from nearkin.web.users.passwords import hash_of
from nearkin.web.users.records import User, Users, UserToken, checked_name, digest_of


def added(users: Users, name: str, role: Role, password: str) -> Users:
    """Add a user.

    Raises
    ------
    ParameterError
        The name is taken, whatever its case, or name or password break their rules.
    """
    told = checked_name(name)
    check_free(users, told)
    return users.with_user(User(name=told, role=role, password=hash_of(password)))


def check_free(users: Users, name: str) -> None:
    """Refuse a name that a user has.

    Raises
    ------
    ParameterError
    """
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
    """Add a token of a user's scripts.

    Raises
    ------
    ParameterError
        There is no such user, the label is taken, or the role is above the user's.
    """
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
    """Remove a token of a user.

    Raises
    ------
    ParameterError
        There is no such user or token.
    """
    user, told = known(users, name), checked_name(label, "label")
    kept = tuple(one for one in user.tokens if one.label != told)
    if len(kept) == len(user.tokens):
        raise ParameterError(f"{user.name} has no token {told}.")
    return users.with_user(msgspec.structs.replace(user, tokens=kept))


def known(users: Users, name: str) -> User:
    """Return a user.

    Raises
    ------
    ParameterError
        There is none of this name.
    """
    found = users.find(checked_name(name))
    if found is None:
        raise ParameterError(f"There is no user {checked_name(name)}.")
    return found


def checked_role(role: str | None) -> Role:
    """Return a role.

    Raises
    ------
    ParameterError
    """
    for one in ROLES:
        if role == one:
            return one
    raise ParameterError(f"--role must be one of {', '.join(ROLES)}. Got {role!r} instead.")
