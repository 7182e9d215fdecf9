"""Screens of the review, as pages and as JSON, and their forms."""

from __future__ import annotations

from nearkin.web.screen import ChangeForm, Screen
from nearkin.web.screens import administration, batches, coding, decisions, document, exceptions, groups, lists

SCREENS: tuple[Screen, ...] = (
    *lists.SCREENS, *document.SCREENS, *groups.SCREENS, *decisions.SCREENS, *coding.SCREENS, *batches.SCREENS,
    *exceptions.SCREENS, *administration.SCREENS,
)  # fmt: skip
"""All screens; those of a new module are entered here."""
FORMS: tuple[ChangeForm, ...] = (
    *lists.FORMS, *groups.FORMS, *decisions.FORMS, *coding.FORMS, *batches.FORMS, *exceptions.FORMS,
    *administration.FORMS,
)  # fmt: skip
