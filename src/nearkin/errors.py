"""Every error that Nearkin raises on purpose.

::

    NearkinError
    ├── ParameterError (ValueError)
    ├── InputError
    │   ├── SourceError
    │   │   ├── MissingColumnError
    │   │   └── TruncatedInputError
    │   └── DocumentError
    ├── RunError
    │   ├── OutputExistsError
    │   ├── ResumeError
    │   └── OutputError
    ├── CollectionError
    │   ├── MissingCollectionError
    │   ├── ReplacedCollectionError
    │   ├── CollectionBusyError
    │   ├── ChangedMeanwhileError
    │   ├── UnavailableCollectionError
    │   └── UnknownDocumentError (KeyError)
    ├── EngineError
    │   └── DriverMemoryError (MemoryError)
    ├── RefusedError
    ├── FingerprintError
    └── MissingExtraError (ImportError)

A message says what is wrong and where, and gives the rule and the invalid value. An error about a parameter has its
name in `NearkinError.parameter`, and its text begins with it; the command line puts the option there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeGuard

_MAX_QUOTED, _N_QUOTED = 1_000, 200


def _escaped(message: str) -> str:
    r"""Escape a byte that is not UTF-8 as ``\xff``, and any other unpaired surrogate as ``\ud800``."""
    if message.isascii():
        return message
    return _SURROGATE.sub(_code_of, message)


def _code_of(character: re.Match[str]) -> str:
    code = ord(character[0])
    return rf"\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else rf"\u{code:04x}"


_SURROGATE = re.compile("[\ud800-\udfff]")


class NearkinError(Exception):
    """Base of all errors above; ``exit_code`` is that of the command line, ``status`` that of HTTP.

    Examples
    --------
    >>> error = SourceError("a.csv: there is no column 'body'.", parameter="text")
    >>> str(error), error.message, error.parameter
    ("text: a.csv: there is no column 'body'.", "a.csv: there is no column 'body'.", 'text')
    """

    exit_code, status = 1, 500

    def __init__(self, message: str, *, parameter: str | None = None) -> None:
        super().__init__(message)
        self.parameter = parameter

    @property
    def message(self) -> str:
        """The message without the name of the parameter, in printable characters: unpaired surrogates are escaped."""
        return _escaped(str(self.args[0]) if self.args else "")

    def __str__(self) -> str:
        """Return the message, after the name of the parameter."""
        return self.message if self.parameter is None else f"{self.parameter}: {self.message}"


class ParameterError(NearkinError, ValueError):
    """A parameter breaks its rule.

    Examples
    --------
    >>> raise ParameterError.of("rows", "an int >= 1", 0)
    Traceback (most recent call last):
    ...
    nearkin.errors.ParameterError: rows: must be an int >= 1. Got: 0
    """

    exit_code, status = 2, 400

    @classmethod
    def of(cls, parameter: str, rule: str, came: object) -> ParameterError:
        """Make an error that names the parameter, the rule, and the invalid value."""
        return cls(f"must be {rule}. Got: {quoted(came)}", parameter=parameter)


_MAX_BITS = 1024
"""Length of the first ints that are too large for a float."""


def quoted(text: object) -> str:
    """Write a value as Python does; of a very long value, such as a cell of megabytes, only the beginning.

    Examples
    --------
    >>> quoted("x" * 1_000_000)[-32:]
    "xxxxxxxxxxx'… (length 1,000,000)"
    """
    if isinstance(text, str) and len(text) > _MAX_QUOTED:
        return f"{text[:_N_QUOTED]!r}… (length {len(text):,})"
    try:
        whole = repr(text)
    except ValueError:  # an int of more digits than Python prints
        return f"{type(text).__name__} of too many digits"
    return whole if len(whole) <= _MAX_QUOTED * 10 else f"{whole[:_N_QUOTED]}… (length {len(whole):,})"


def is_int(value: object) -> TypeGuard[int]:
    """Whether a value is an int; True and False are not."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a value is a float, or an int that a float can hold; True and False are not."""
    return isinstance(value, float) or (is_int(value) and value.bit_length() < _MAX_BITS)


def in_percent(value: object) -> str:
    """Return a hint for a number that looks like a percentage; 1.5 is rather a slip."""
    return f" ({value:g} percent is {value / 100:g})" if is_number(value) and 2 <= value <= 100 else ""


def is_among(value: object, names: Iterable[str]) -> TypeGuard[str]:
    """Whether a value is one of the names; lists and arrays, which may not be compared with a name, are not."""
    return isinstance(value, str) and value in names


def check_int(parameter: str, value: object, least: int, most: int | None = None, *, rule: str | None = None) -> None:
    """Refuse a value that is not an int of at least ``least``, and at most ``most`` if that is given."""
    if not is_int(value) or value < least or (most is not None and value > most):
        usual = f"an int >= {least}" if most is None else f"an int from {least} to {most}"
        raise ParameterError.of(parameter, rule or usual, value)


class InputError(NearkinError):
    """The input as a whole cannot be used."""

    exit_code, status = 3, 422


class SourceError(InputError):
    """A file, a folder or a column of it cannot be used."""


class MissingColumnError(SourceError):
    """A column that was named does not exist."""


class TruncatedInputError(SourceError):
    """A file is truncated, or the rest of it is damaged; the number of missing documents is unknown."""

    exit_code = 13


class DocumentError(InputError):
    """A document cannot be read, and the run stops at the first such document; or too many cannot be read."""

    exit_code = 4


class RunError(NearkinError):
    """A run directory cannot be used."""

    exit_code = 5


class OutputExistsError(RunError):
    """The output directory already holds results or an unfinished run."""


class ResumeError(RunError):
    """An unfinished run was made from other parameters or other input."""


class OutputError(RunError):
    """Results could not be written: disk full, no permission."""


class FingerprintError(NearkinError):
    """Things made by different methods, or with other parameters, were mixed."""

    exit_code = 2

    @classmethod
    def of(cls, what: str, cannot: str, left: tuple[str, str], other: tuple[str, str]) -> FingerprintError:
        """Make an error that names what was mixed and the parameters in which the two fingerprints differ."""
        parts = [dict(map(_named_part, fingerprint.split(";"))) for _, fingerprint in (left, other)]
        names = [name for name in dict.fromkeys([*parts[0], *parts[1]]) if parts[0].get(name) != parts[1].get(name)]
        if "method" in names:  # whose other parameters then say nothing
            names = ["method"]
        descriptions = [
            f"{name} has {', '.join(f'{part}={named_parts.get(part, chr(8211))}' for part in names) or fingerprint}"
            for (name, fingerprint), named_parts in zip((left, other), parts, strict=True)
        ]
        different = " and ".join(names) or "fingerprint"
        return cls(f"{what} that differ in {different} cannot {cannot}: {', '.join(descriptions)}.")


_PARTS = {"size": "bits", "shingle": "features", "nonzero": "density"}
"""Parameter names that users know, by their names in a fingerprint."""


def _named_part(part: str) -> tuple[str, str]:
    """``"size=64"`` -> ``("bits", "64")``; the bare word of a fingerprint is its method."""
    name, equals, value = part.partition("=")
    if not equals or name == "simhash":
        return "method", part
    return _PARTS.get(name, name), value


class RefusedError(NearkinError):
    """A request to ``nearkin serve`` is refused with an HTTP status."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.headers = status, dict(headers or {})


class MissingExtraError(NearkinError, ImportError):
    """An optional part of Nearkin is not installed, or a library is too old."""

    exit_code = 6

    @classmethod
    def of(cls, what: str, extra: str) -> MissingExtraError:
        """Make an error that names what needs the extra, and the command that installs it."""
        return cls(f"{what} needs the {extra} extra: pip install 'nearkin[{extra}]'")


class CollectionError(NearkinError):
    """A collection cannot be used: missing, damaged, of another format, or its database does not answer."""

    exit_code = 7


class MissingCollectionError(CollectionError):
    """There is no collection at the place."""


class ReplacedCollectionError(CollectionError):
    """The database of an open collection was deleted, moved or replaced. Open the collection again."""

    status = 503


class CollectionBusyError(CollectionError):
    """Another process is writing to the collection."""

    exit_code, status = 9, 503


class ChangedMeanwhileError(CollectionError):
    """A decision would replace values that were changed after the state that it names; nothing is stored.

    Parameters
    ----------
    activities
        What was changed: who, when, and each value before and after.
    """

    status = 409

    def __init__(self, message: str, activities: tuple[Any, ...] = ()) -> None:
        super().__init__(message)
        self.activities = activities


class UnavailableCollectionError(CollectionError):
    """The database of a collection does not answer, is not accepting connections, or ended the connection."""

    status = 503


class UnknownDocumentError(CollectionError, KeyError):
    """The collection has no such document."""

    exit_code, status = 3, 404


class EngineError(NearkinError):
    """A cluster cannot be used, or stopped working: no Java, no master, no memory, incomplete workers."""

    exit_code = 8


class DriverMemoryError(EngineError, MemoryError):
    """The driver of a cluster has too little memory, which ``--memory`` does not change."""
