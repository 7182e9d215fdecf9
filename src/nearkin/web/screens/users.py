"""Users who can sign in, their roles, and the tokens of scripts; ``nearkin users`` changes them."""

from __future__ import annotations

from nearkin.web.answers import ScreenAnswer
from nearkin.web.screen import NoQuery, Screen
from nearkin.web.service import ReviewService


def users(service: ReviewService, _: NoQuery) -> ScreenAnswer:
    """List the users, without secrets."""
    found = () if service.users is None else service.users().users
    rows = [one.without_secrets() for one in found]
    return ScreenAnswer("users.html.j2", {"users": rows, "is_team": service.users is not None}, {"users": rows})


SCREENS = (Screen("/users", NoQuery, users),)
