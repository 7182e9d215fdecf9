"""Screens of the review, as pages and as JSON, and their forms."""

from __future__ import annotations

from nearkin.web.screen import ChangeForm, Screen
from nearkin.web.screens import (
    administration,
    check_in,
    conflicts,
    decisions,
    defensibility,
    document,
    exceptions,
    groups,
    history,
    home,
    lists,
    representatives,
    runs,
    threads,
)

SCREENS: tuple[Screen, ...] = (
    *home.SCREENS,
    *document.SCREENS,
    *groups.SCREENS,
    *conflicts.SCREENS,
    *threads.SCREENS,
    *lists.SCREENS,
    *check_in.SCREENS,
    *history.SCREENS,
    *exceptions.SCREENS,
    *defensibility.SCREENS,
    *administration.SCREENS,
    *runs.SCREENS,
    *representatives.SCREENS,
)
"""All screens; a new one is entered here."""
FORMS: tuple[ChangeForm, ...] = (
    *groups.FORMS,
    *decisions.FORMS,
    *check_in.FORMS,
    *threads.FORMS,
    *exceptions.FORMS,
    *defensibility.FORMS,
    *runs.FORMS,
    *representatives.FORMS,
)
"""All forms; a new one is entered here."""
