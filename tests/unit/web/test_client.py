"""Errors of a service are those that a check on this machine has."""

from __future__ import annotations

import inspect
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from nearkin import errors
from nearkin.errors import CollectionError
from nearkin.web.client import _kind, checked_by

KINDS = [name for name, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, errors.NearkinError)]


@pytest.mark.parametrize("name", [*KINDS, "ValueError", "nothing", None])
def test_every_error_can_be_raised_here(name: str | None) -> None:
    kind = _kind(name)
    assert str(kind("it is locked")) == "it is locked"
    is_refusal = name in ("RefusedError", "BodyTooLargeError")
    assert kind.__name__ == (name if name in KINDS and not is_refusal else "CollectionError")


def test_a_service_without_encryption_is_named_so(capfd: pytest.CaptureFixture[str]) -> None:
    with HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as plain:
        threading.Thread(target=plain.handle_request, daemon=True).start()
        with pytest.raises(CollectionError, match="does not encrypt its connections: its address begins with http://"):
            checked_by(f"https://127.0.0.1:{plain.server_port}", "token", b"a text", {})
