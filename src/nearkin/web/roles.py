"""Roles of users, and the role that each address needs; an address that is not listed here cannot be served."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from nearkin.errors import RefusedError

Role = Literal["viewer", "reviewer", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)
"""Roles, in ascending order of their permissions."""

_SCREENS: Mapping[Role, tuple[str, ...]] = {
    "viewer": (
        "/static/{name}",
        "/",
        "/search",
        "/since",
        "/list",
        "/document",
        "/document/alike",
        "/document/similar",
        "/document/histogram",
        "/compare",
        "/groups",
        "/group",
        "/group/member",
        "/group/differences",
        "/group/history",
        "/representatives",
        "/representatives/export",
        "/conflicts",
        "/threads",
        "/thread",
        "/history",
        "/exceptions",
        "/defensibility",
        "/reports",
        "/pairs",
    ),
    "reviewer": ("/check-in", "/exceptions/read"),
    "admin": ("/log", "/jobs", "/jobs/list", "/users"),
}
_FORMS: Mapping[Role, tuple[str, ...]] = {
    "viewer": (),
    "reviewer": (
        "/tags",
        "/group/split",
        "/group/unite",
        "/group/principal",
        "/undo",
        "/check-in/file",
        "/check-in/store",
        "/check-in/reject",
        "/exceptions/read",
        "/exceptions/store",
        "/pairs/decide",
        "/representatives/compare",
    ),
    # they begin jobs, for which those of all others wait
    "admin": ("/groups/update", "/threads/update", "/defensibility/audit"),
}
_OPERATIONS: Mapping[Role, tuple[str, ...]] = {
    "viewer": (
        "GET /openapi.json",
        "GET /documents/{id}",
        "GET /search",
        "GET /documents/{id}/similar",
        "GET /compare",
        "GET /groups",
        "GET /groups/{number}",
        "GET /waves",
        "GET /tags",
    ),
    "reviewer": ("PUT /documents/{id}", "POST /check", "POST /checks", "POST /tags", "GET /jobs/{number}"),
    "admin": ("DELETE /documents/{id}", "POST /groups", "GET /log", "GET /jobs"),
}


def role_of_screen(path: str) -> Role:
    """Return the role that a screen needs, with its JSON and its tables.

    Raises
    ------
    LookupError
        It has none: nobody may open it.

    Examples
    --------
    >>> role_of_screen("/groups"), role_of_screen("/log")
    ('viewer', 'admin')
    """
    return _found(path, _SCREENS)


def role_of_form(path: str) -> Role:
    """Return the role that a form needs.

    Raises
    ------
    LookupError
        It has none: nobody may send it.
    """
    return _found(path, _FORMS)


def role_of_operation(method: str, path: str) -> Role:
    """Return the role that an operation of the API needs.

    Raises
    ------
    LookupError
        It has none: nobody may ask for it.

    Examples
    --------
    >>> role_of_operation("POST", "/check")
    'reviewer'
    """
    return _found(f"{method} {path}", _OPERATIONS)


def _found(address: str, roles: Mapping[Role, tuple[str, ...]]) -> Role:
    for role, addresses in roles.items():
        if address in addresses:
            return role
    raise LookupError(f"{address} has no role. Enter it in nearkin/web/roles.py.")


def is_within(role: Role, limit: Role) -> bool:
    """Whether a role has no more permissions than another one.

    Examples
    --------
    >>> is_within("viewer", "reviewer"), is_within("admin", "reviewer")
    (True, False)
    """
    return ROLES.index(role) <= ROLES.index(limit)


def lower_of(one: Role, other: Role) -> Role:
    """Return the one of two roles that has fewer permissions."""
    return one if is_within(one, other) else other


def check_role(own: Role, needed: Role) -> None:
    """Refuse a visitor whose role is not sufficient.

    Raises
    ------
    RefusedError
    """
    if not is_within(needed, own):
        raise RefusedError(
            403, f"This needs the role {needed}; yours is {own}. Ask the person who manages the users of this service."
        )
