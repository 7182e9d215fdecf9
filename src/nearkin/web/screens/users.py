"""Users: who may sign in, with which role, and the tokens of scripts; they are changed by ``nearkin users``."""

from __future__ import annotations

from nearkin.web.answers import ScreenAnswer
from nearkin.web.screen import NoQuery, Screen
from nearkin.web.service import ReviewService


def users(service: ReviewService, _: NoQuery) -> ScreenAnswer:
    """List the users, without what is secret."""
    found = () if service.users is None else service.users().users
    rows = [one.without_secrets() for one in found]
    return ScreenAnswer("users.html.j2", {"users": rows, "is_team": service.users is not None}, {"users": rows})


SCREENS = (Screen("/users", NoQuery, users),)
