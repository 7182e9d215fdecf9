"""Errors of reading a damaged run → one error that names the run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from nearkin.errors import NearkinError, ParameterError, RunError

_ERRORS = (OSError, pa.ArrowException, ArithmeticError, ValueError, TypeError, LookupError, AttributeError)


@contextmanager
def damage_of(directory: Path, advice: str = "Run the command again.") -> Iterator[None]:
    """Convert any error that a damaged file of a run causes to one that names the run; those of Nearkin pass.

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
        raise damaged_run(directory, why_damaged(error), advice) from error


@contextmanager
def damage_of_options(directory: Path, advice: str = "Run the command again.") -> Iterator[None]:
    """Treat invalid stored options as damage of the run rather than errors in those that were given."""
    try:
        yield
    except ParameterError as error:
        raise damaged_run(directory, str(error), advice) from error


def damaged_run(directory: Path, why: str, advice: str = "Run the command again.") -> RunError:
    """Return the error for a run that its command cannot have written."""
    return RunError(f"The run in {directory} is damaged ({why}). {advice}")


def why_damaged(error: Exception) -> str:
    """Say in words what an error of reading a damaged run means, without the name of the exception.

    Examples
    --------
    >>> why_damaged(KeyError("parameters")), why_damaged(ValueError("not a number: x"))
    ("'parameters' is missing", 'not a number: x')
    """
    if isinstance(error, FileNotFoundError) and error.filename:
        return f"{Path(error.filename).name} is missing"
    said = str(error.args[0] if isinstance(error, KeyError) and error.args else error).partition("\n")[0].rstrip(".")
    if isinstance(error, KeyError) and " " not in said:
        return f"{said!r} is missing"
    return said or "a value has another type"
