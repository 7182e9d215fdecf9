"""Errors of a service are those that a check on this machine has."""

from __future__ import annotations

import inspect

import pytest

from nearkin import errors
from nearkin.web.client import _kind

KINDS = [name for name, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, errors.NearkinError)]


@pytest.mark.parametrize("name", [*KINDS, "ValueError", "nothing", None])
def test_every_error_can_be_raised_here(name: str | None) -> None:
    kind = _kind(name)
    assert str(kind("it is locked")) == "it is locked"
    assert kind.__name__ == (name if name in KINDS and name != "RefusedError" else "CollectionError")
