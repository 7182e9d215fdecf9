"""Results of a finished run, read again and checked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from nearkin.errors import NearkinError, ParameterError, RunError
from nearkin.formats.sealed import has_right_checksum
from nearkin.runs.files import text_of

MANIFEST = "manifest.json"
FORMAT = 1
"""Format of the files of a run."""
WORK = ".work"
IDENTITY = "run.json"
"""Name of the work file with the parameters and the input of an unfinished run."""
HOW_TO_FINISH = "Run the command that began it again with --resume or --overwrite"
TABLES = (
    "documents.parquet", "pairs.parquet", "groups.parquet", "against.parquet", "problems.parquet", "families.parquet",
    "families.csv", "exceptions.csv", "pairs.tsv", "known.tsv", "threads.parquet",
    "passages.parquet", "cut.parquet",
    "report.html",
)  # fmt: skip


def json_in(path: Path) -> object:
    """Read a small JSON file; None if it is missing or invalid."""
    try:
        return json.loads(text_of(path))
    except (OSError, ValueError, RecursionError):
        return None


def manifest_if_any(directory: Path) -> Mapping[str, Any] | None:
    """Return the manifest in a directory, unchecked; None if there is none of Nearkin."""
    stored = json_in(directory / MANIFEST)
    is_ours = isinstance(stored, dict) and {"nearkin", "command"} <= stored.keys()
    return stored if is_ours else None  # type: ignore[return-value]  # it is a mapping


def read_manifest(directory: Path) -> Mapping[str, Any]:
    """Read the manifest of a finished run; RunError if there is none, or it is of another format."""
    path = directory / MANIFEST
    try:
        stored = json.loads(text_of(path))
    except FileNotFoundError as error:
        if (directory / WORK).exists():
            raise RunError(f"The run in {directory} is not finished. {HOW_TO_FINISH}.") from error
        raise RunError(f"{directory} holds no finished run: there is no file {MANIFEST}.") from error
    except (OSError, ValueError, RecursionError) as error:
        raise RunError(f"{path} cannot be read ({error}). Run the command again.") from error
    if not isinstance(stored, dict) or not has_right_checksum(stored):
        raise _changed(directory, MANIFEST)
    if (given := stored.get("format")) != FORMAT:
        raise RunError(f"{path} has format {given}; this version of Nearkin reads format {FORMAT}.")
    return stored


def read_results(directory: Path, tables: Collection[str] = TABLES) -> Mapping[str, Any]:
    """Read the manifest of a finished run, and check that these of its tables are unchanged, else RunError."""
    manifest = read_manifest(directory)
    digests = manifest.get("digests", {})
    for name, digest in digests.items() if isinstance(digests, dict) else ():
        if name not in TABLES:
            raise _changed(directory, MANIFEST)
        if name not in tables:
            continue
        try:
            if digest_of(directory / name) != digest:
                raise _changed(directory, name)
        except FileNotFoundError:
            continue  # a job that needs the file reports it
        except OSError as error:
            raise RunError(f"{directory / name} cannot be read: {error.strerror}.") from error
    return manifest


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file, which must exist."""
    if path.exists() and not path.is_file():
        raise FileNotFoundError(path)
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _changed(directory: Path, name: str) -> RunError:
    return RunError(f"The run in {directory} is damaged: {name} was changed. Run the command again.")


_ERRORS = (
    OSError, pa.ArrowException, msgspec.ValidationError, ArithmeticError, ValueError, TypeError, LookupError,
    AttributeError,
)  # fmt: skip


@contextmanager
def damage_of(directory: Path, advice: str = "Run the command again.") -> Iterator[None]:
    """Convert errors that a damaged file of a run causes to one that names the run; those of Nearkin pass.

    Examples
    --------
    >>> with damage_of(Path("clean")):
    ...     {}["parameters"]
    Traceback (most recent call last):
    nearkin.errors.RunError: The run in clean is damaged ('parameters' is missing). Run the command again.
    """
    try:
        yield
    except NearkinError:
        raise
    except _ERRORS as error:
        why = str(error.args[0] if isinstance(error, KeyError) and error.args else error).partition("\n")[0].rstrip(".")
        if isinstance(error, KeyError) and " " not in why:
            why = f"{why!r} is missing"
        if isinstance(error, FileNotFoundError) and error.filename:
            why = f"{Path(error.filename).name} is missing"
        raise damaged_run(directory, why, advice) from error


@contextmanager
def damage_of_options(directory: Path, advice: str = "Run the command again.") -> Iterator[None]:
    """Treat invalid stored options as damage of the run."""
    try:
        yield
    except ParameterError as error:
        raise damaged_run(directory, str(error), advice) from error


def damaged_run(directory: Path, why: str, advice: str = "Run the command again.") -> RunError:
    """Return the error for a run that its command cannot have written."""
    return RunError(f"The run in {directory} is damaged ({why}). {advice}")


def listing_of(directory: Path) -> dict[str, object]:
    """Return the part of a manifest that lists the files of a directory, with digests of the tables."""
    order = {name: place for place, name in enumerate(TABLES)}
    names = [str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file()]
    files = sorted(names, key=lambda name: (order.get(name, len(order)), name))
    checked = [name for name in files if name in order and name.endswith(".parquet")]
    return {"format": FORMAT, "files": files, "digests": {name: digest_of(directory / name) for name in checked}}


def files_of(directory: Path, manifest: object) -> list[Path]:
    """Return the files in a directory that a manifest lists; RunError if it was changed to list others."""
    advice = "Remove it, or choose another --out."
    with damage_of(directory, advice):
        names = manifest["files"] if isinstance(manifest, dict) and has_right_checksum(manifest) else TABLES
        files, root = [directory / name for name in names], directory.resolve()
        if outside := next((path for path in files if root not in path.resolve().parents), None):
            raise damaged_run(directory, f"{MANIFEST} lists {outside}, which is outside", advice)
        return files
