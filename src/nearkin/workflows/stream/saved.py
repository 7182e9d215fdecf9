"""A stream in a file: an Arrow file with a checksum, with its parameters and ids, and the sketches of its documents."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nearkin.errors import OutputError, OutputExistsError, RunError, SourceError
from nearkin.paths import check_output, check_outside_collections, why
from nearkin.runs.arrays import Arrays, array_in, as_batch, mapped_batch, save_for_users

_KEY = b"nearkin.stream"
_VERSION = 1


def write_stream(path: Path, about: Mapping[str, object], arrays: Arrays) -> None:
    """Write a file that appears when it is complete and on disk; it replaces a saved stream or an empty file only."""
    check_output(path, "path")
    check_outside_collections(path, "the file")
    if path.exists() and not path.is_dir() and not _is_free(path):  # writing says that it is a directory
        raise OutputExistsError(f"{path} already exists, and is not a saved stream. Choose another path.")
    batch = as_batch(arrays).replace_schema_metadata({_KEY: json.dumps({**about, "version": _VERSION})})
    save_for_users(path, batch)


def read_stream(path: Path) -> tuple[Mapping[str, Any], Arrays]:
    """Read what `write_stream` wrote; the arrays are copies in memory."""
    try:
        with open(path, "rb"):
            batch = mapped_batch(path)
    except OSError as error:
        raise SourceError(f"Cannot read {path}: {why(error)}.") from error
    except RunError as error:
        raise RunError(
            f"{path} is damaged, or is not a saved stream. Check the path, or restore the file from a backup."
        ) from error
    stored = (batch.schema.metadata or {}).get(_KEY)
    about = {} if stored is None else json.loads(stored)
    if about.pop("version", None) != _VERSION:
        raise RunError(f"{path} is not a stream that this version of Nearkin saved. Use the Nearkin that wrote it.")
    return about, {name: array_in(batch, name, path).copy() for name in batch.schema.names}


def _is_free(path: Path) -> bool:
    try:
        if not path.is_file() or not path.stat().st_size:
            return path.is_file()
        read_stream(path)
    except (RunError, SourceError):
        return False
    except OSError as error:
        raise OutputError(f"Cannot write {path}: {why(error)}.") from error
    return True
