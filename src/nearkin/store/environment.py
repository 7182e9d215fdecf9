"""What the system says of the user: a name, directories, and a token."""

from __future__ import annotations

import getpass
import os
from pathlib import Path


def system_user() -> str | None:
    """Return the system's name for the user; None if it has none, as in many containers."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # which of them depends on Python's version and the system
        return None


def service_token() -> str | None:
    """Return the token of a service that the environment variable NEARKIN_TOKEN has."""
    return os.environ.get("NEARKIN_TOKEN")


def usual_cache() -> Path:
    """Return the directory for indexes of collections on servers: in ``XDG_CACHE_HOME``, if that is absolute."""
    return _own_directory("XDG_CACHE_HOME", ".cache")


def usual_configuration() -> Path:
    """Return the directory for configuration: in ``XDG_CONFIG_HOME``, if that is absolute."""
    return _own_directory("XDG_CONFIG_HOME", ".config")


def _own_directory(variable: str, default: str) -> Path:
    base = Path(os.environ.get(variable, ""))
    return (base if base.is_absolute() else Path.home() / default) / "nearkin"
