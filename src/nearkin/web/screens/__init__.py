"""Screens of the review: what each shows, as a page and as JSON; and the forms on them."""

from __future__ import annotations

from nearkin.web.screen import ChangeForm, Screen
from nearkin.web.screens import compare, document, home

_ROOMS = (home, document, compare)
SCREENS: tuple[Screen, ...] = tuple(one for room in _ROOMS for one in room.SCREENS)
FORMS: tuple[ChangeForm, ...] = tuple(one for room in _ROOMS for one in getattr(room, "FORMS", ()))
