"""Screens of the review, as pages and as JSON, and their forms."""

from __future__ import annotations

from nearkin.web.screen import ChangeForm, Screen
from nearkin.web.screens import (
    check_in,
    compare,
    conflicts,
    decisions,
    defensibility,
    document,
    exceptions,
    groups,
    history,
    home,
    jobs,
    lists,
    log,
    pairs,
    reports,
    representatives,
    threads,
    users,
)

SCREENS: tuple[Screen, ...] = (
    *home.SCREENS,
    *document.SCREENS,
    *compare.SCREENS,
    *groups.SCREENS,
    *conflicts.SCREENS,
    *threads.SCREENS,
    *lists.SCREENS,
    *check_in.SCREENS,
    *history.SCREENS,
    *exceptions.SCREENS,
    *defensibility.SCREENS,
    *log.SCREENS,
    *jobs.SCREENS,
    *users.SCREENS,
    *pairs.SCREENS,
    *representatives.SCREENS,
    *reports.SCREENS,
)
"""All screens; a new one is entered here."""
FORMS: tuple[ChangeForm, ...] = (
    *groups.FORMS,
    *decisions.FORMS,
    *check_in.FORMS,
    *threads.FORMS,
    *exceptions.FORMS,
    *defensibility.FORMS,
    *pairs.FORMS,
    *representatives.FORMS,
)
"""All forms; a new one is entered here."""
