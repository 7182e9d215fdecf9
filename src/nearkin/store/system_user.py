"""The user who runs this process, as the system names it."""

from __future__ import annotations

import getpass


def system_user() -> str | None:
    """Return the name of the user; None if the system has none, as for many users of containers."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # which of them depends on Python's version and the system
        return None
