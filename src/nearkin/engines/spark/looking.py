"""What an executor has, as it tells itself.

Executors may have no Nearkin, so this module travels to them as it is: nothing of Nearkin is imported here, and nothing
that a bare Python lacks, but within the function that says so.
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
_LONG_ENOUGH_S = 0.2  # for the other executors to get some of the tasks


def looker(token: str) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """A function of batches that yields one row of JSON: host, Python, versions, and what the file ``token`` says."""

    def look(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa  # Spark needs it there for any such function

        for _ in batches:
            pass
        time.sleep(_LONG_ENOUGH_S)
        # executors have processes of Python of their own, which are children of one process of theirs
        found = {"executor": f"{socket.gethostname()} {os.getppid()}", "host": socket.gethostname()}
        found |= {"python": sys.executable, "release": sys.version.split()[0]}
        for module in ("nearkin", "numpy", "pyarrow"):
            found[module], found[f"without_{module}"] = version(module)
        found["said"], found["unread"] = read(token)
        yield pa.RecordBatch.from_pydict({"found": [json.dumps(found)]})

    return look


def version(module: str) -> tuple[str, str]:
    """Of a module that can be imported; else why it cannot."""
    try:
        return str(importlib.import_module(module).__version__), ""
    except Exception as error:  # noqa: BLE001  # whatever its code does there
        return "", f"{type(error).__name__}: {error}"


def read(token: str) -> tuple[str, str]:
    """What the file says, or why it cannot be read."""
    try:
        return Path(token).read_text(encoding="ascii"), ""
    except (OSError, ValueError) as error:
        return "", getattr(error, "strerror", None) or str(error)
