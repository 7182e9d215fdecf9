"""Report of an executor about its own software.

Executors may lack Nearkin, so this module is sent to them by value: it imports nothing of Nearkin, and nothing beyond
Python's standard library except inside functions.
"""

from __future__ import annotations

import importlib
import json
import os
import socket
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

SCHEMA = "found string"
_LONG_ENOUGH_S = 0.2  # gives the other executors time to get some of the tasks


def looker(token: str) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Return a function of batches that yields a JSON row: host, Python, versions, and the content of ``token``."""

    def look(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa  # Spark itself needs it for such functions

        for _ in batches:
            pass
        time.sleep(_LONG_ENOUGH_S)
        # the Python processes of an executor are children of one process
        found = {"executor": f"{socket.gethostname()} {os.getppid()}", "host": socket.gethostname()}
        found |= {"python": sys.executable, "release": sys.version.split()[0]}
        for module in ("nearkin", "numpy", "pyarrow"):
            found[module], found[f"without_{module}"] = version(module)
        found["said"], found["unread"] = read(token)
        yield pa.RecordBatch.from_pydict({"found": [json.dumps(found)]})

    return look


def version(module: str) -> tuple[str, str]:
    """Return the version of a module, or the reason why it cannot be imported."""
    try:
        return str(importlib.import_module(module).__version__), ""
    except Exception as error:  # noqa: BLE001  # importing a module can run any code
        return "", f"{type(error).__name__}: {error}"


def read(token: str) -> tuple[str, str]:
    """Return the content of a file, or the reason why it cannot be read."""
    try:
        return Path(token).read_text(encoding="ascii"), ""
    except (OSError, ValueError) as error:
        return "", getattr(error, "strerror", None) or str(error)
