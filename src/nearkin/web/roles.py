"""Roles of users, and the role that each address needs; an address that is not listed here cannot be served."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from nearkin.errors import RefusedError

Role = Literal["viewer", "reviewer", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)
"""Roles, in ascending order of their permissions."""

_ADDRESSES: Mapping[Role, tuple[str, ...]] = {
    "viewer": (
        "GET /static/{name}",
        "GET /",
        "GET /search",
        "GET /search/facets",
        "GET /since",
        "GET /list",
        "GET /document",
        "GET /document/alike",
        "GET /document/similar",
        "GET /document/histogram",
        "GET /compare",
        "GET /groups",
        "GET /group",
        "GET /group/member",
        "GET /group/differences",
        "GET /group/history",
        "GET /representatives",
        "GET /representatives/export",
        "GET /conflicts",
        "GET /threads",
        "GET /thread",
        "GET /history",
        "GET /passage",
        "GET /exceptions",
        "GET /defensibility",
        "GET /reports",
        "GET /pairs",
        "GET /api/v1/openapi.json",
        "GET /api/v1/documents/{id}",
        "GET /api/v1/search",
        "GET /api/v1/searches",
        "GET /api/v1/documents/{id}/similar",
        "GET /api/v1/documents/{id}/passages",
        "GET /api/v1/passages/{passage}",
        "GET /api/v1/compare",
        "GET /api/v1/groups",
        "GET /api/v1/groups/{number}",
        "GET /api/v1/waves",
        "GET /api/v1/tags",
    ),
    "reviewer": (
        "GET /check-in",
        "GET /code",
        "GET /batches",
        "GET /privilege-log",
        "GET /exceptions/read",
        "POST /tags",
        "POST /code",
        "POST /search/save",
        "POST /batches/hold",
        "POST /group/split",
        "POST /group/unite",
        "POST /group/principal",
        "POST /undo",
        "POST /check-in/file",
        "POST /check-in/store",
        "POST /check-in/reject",
        "POST /exceptions/read",
        "POST /exceptions/store",
        "POST /pairs/decide",
        "POST /representatives/compare",
        "PUT /api/v1/documents/{id}",
        "POST /api/v1/check",
        "POST /api/v1/checks",
        "POST /api/v1/tags",
        "POST /api/v1/searches",
        "GET /api/v1/batches",
        "POST /api/v1/batches/hold",
        "GET /api/v1/jobs/{number}",
    ),
    "admin": (
        "GET /log",
        "GET /code/layout",
        "GET /jobs",
        "GET /jobs/list",
        "GET /users",
        # these begin jobs, for which those of all others wait
        "POST /groups/update",
        "POST /code/layout",
        "POST /batches/make",
        "POST /batches/second-look",
        "POST /threads/update",
        "POST /defensibility/audit",
        "POST /api/v1/groups",
        "POST /api/v1/batches",
        "DELETE /api/v1/documents/{id}",
        "GET /api/v1/log",
        "GET /api/v1/jobs",
    ),
}
SCREEN_PATHS = tuple(
    address.removeprefix("GET ")
    for addresses in _ADDRESSES.values()
    for address in addresses
    if address.startswith("GET ") and "/api/" not in address and "{" not in address
)
"""Paths of all screens."""


def role_of(method: str, path: str) -> Role:
    """Return the role that an address needs; a screen's JSON, tables and files need that of the screen.

    Examples
    --------
    >>> role_of("GET", "/groups"), role_of("POST", "/groups/update"), role_of("POST", "/api/v1/check")
    ('viewer', 'admin', 'reviewer')
    """
    for role, addresses in _ADDRESSES.items():
        if f"{method} {path}" in addresses:
            return role
    raise LookupError(f"{method} {path} has no role. Enter it in nearkin/web/roles.py.")


def is_within(role: Role, limit: Role) -> bool:
    """Whether a role has no more permissions than another one.

    Examples
    --------
    >>> is_within("viewer", "reviewer"), is_within("admin", "reviewer")
    (True, False)
    """
    return ROLES.index(role) <= ROLES.index(limit)


def check_role(role: Role, needed: Role) -> None:
    """Refuse a visitor whose role is not sufficient."""
    if not is_within(needed, role):
        raise RefusedError(
            403, f"This needs the role {needed}; yours is {role}. Ask the person who manages the users of this service."
        )
