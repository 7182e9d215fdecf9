"""Limits of extraction: the maximum cost of one file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TypeGuard

from nearkin.errors import ParameterError
from nearkin.stages.documents.sizes import SIZE_RULE, parse_size

_MIB = 1 << 20
OPTION = "--extraction-limit"
_FIELDS = {
    "time": ("cpu_s", "wall_s"), "memory": ("memory_bytes",), "size": ("output_bytes",), "total": ("total_bytes",),
    "disk": ("disk_bytes",), "files": ("n_members",), "levels": ("n_levels",), "ratio": ("compression_ratio",),
    "ocr": ("ocr_s",),
}  # fmt: skip
"""Fields of `ExtractionLimits` by the names of the limits on the command line."""
_VALUES = {"time": "SECONDS", "ocr": "SECONDS", "memory": "SIZE", "size": "SIZE", "total": "SIZE", "disk": "SIZE"}
_MAX_S, _MAX_VALUE = 1 << 31, 1 << 50
"""Maximum values that system calls accept: for timers, and for everything else."""
IN_WORDS = (
    "time=60 (seconds), memory=4GiB, size=256MiB, total=16GiB, disk=1GiB, files=1000000, levels=12, ratio=1000, "
    "ocr=1800 (seconds)"
)
"""The defaults, in the syntax of the command line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionLimits:
    """Maximum cost of the extraction of a file; the time limits apply to each document in it separately.

    Parameters
    ----------
    memory_bytes : int
        Address space of a worker process.
    cpu_s, wall_s : int
        Processor time and elapsed time for one document; both start again for each page that is recognised.
    ocr_s : int
        Elapsed time after which no further page of a document is recognised.
    output_bytes : int
        Size of the text of one document, and of one file that is read as a whole: a PDF, an office file or a mail, or
        any file inside an archive or a mail.
    total_bytes : int
        Unpacked size of everything inside one file.
    disk_bytes : int
        Size of the nameless temporary file into which a compressed archive is unpacked.
    n_members : int
        Number of files inside one file, at all levels.
    n_levels : int
        Number of levels of files inside files.
    compression_ratio : int
        Unpacked size of a file inside an archive, divided by its packed size.

    Examples
    --------
    >>> ExtractionLimits().wall_s
    60
    """

    memory_bytes: int = 4096 * _MIB
    cpu_s: int = 60
    wall_s: int = 60
    ocr_s: int = 1800
    output_bytes: int = 256 * _MIB
    total_bytes: int = 16384 * _MIB
    disk_bytes: int = 1024 * _MIB
    n_members: int = 1_000_000
    n_levels: int = 12
    compression_ratio: int = 1000

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if not _is_limit(value, one.name):
                raise ParameterError.of(one.name, f"an int from 1 to {_max_of(one.name):,}", value)

    @classmethod
    def of(cls, given: Mapping[str, int | str]) -> ExtractionLimits:
        """Make limits from those that differ from the defaults, by their names on the command line.

        Raises
        ------
        ParameterError
            There is no such limit, or a value breaks its rule.

        Examples
        --------
        >>> ExtractionLimits.of({"size": "1GiB", "time": 300}).given
        {'time': 300, 'size': 1073741824}
        """
        if not isinstance(given, Mapping):
            rule = 'a mapping of names to values, such as {"time": 300}'
            raise ParameterError.of("extraction_limits", rule, given)
        return cls(**{field: value for name, told in given.items() for field, value in _parsed(name, told).items()})

    @property
    def given(self) -> dict[str, int]:
        """The limits that differ from the defaults, by their names on the command line."""
        return {
            name: getattr(self, own[0])
            for name, own in _FIELDS.items()
            if getattr(self, own[0]) != getattr(USUAL_LIMITS, own[0])
        }


def _parsed(name: str, told: int | str) -> dict[str, int]:
    """Return the fields that a limit sets, with their values."""
    if name not in _FIELDS:
        raise ParameterError.of("extraction_limit", f"one of {', '.join(_FIELDS)}", name)
    is_size = _VALUES.get(name) == "SIZE"
    most = _max_of(_FIELDS[name][0])
    rule = f"{SIZE_RULE}, at most {most >> 40:,}TiB" if is_size else f"an int from 1 to {most:,}"
    value: int | str | None = told
    if isinstance(told, str):
        try:
            value = parse_size(told) if is_size else int(told)
        except ValueError:
            value = None
    if not _is_limit(value, _FIELDS[name][0]):
        raise ParameterError.of("extraction_limit", f"{name}={_VALUES.get(name, 'N')}, with {rule}", told)
    return dict.fromkeys(_FIELDS[name], value)


def raised_by(name: str) -> str:
    """Return the end of a sentence: how to raise a limit.

    Examples
    --------
    >>> raised_by("size"), raised_by("ratio")
    ('; raise it with --extraction-limit size=SIZE', '; raise it with --extraction-limit ratio=N')
    """
    return f"; raise it with {OPTION} {name}={_VALUES.get(name, 'N')}"


def _is_limit(value: object, field: str) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= _max_of(field)


def _max_of(field: str) -> int:
    return _MAX_S if field in (*_FIELDS["time"], *_FIELDS["ocr"]) else _MAX_VALUE


USUAL_LIMITS = ExtractionLimits()
