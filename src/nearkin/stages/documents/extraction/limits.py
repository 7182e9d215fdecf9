"""Limits of extraction: the maximum cost of one file."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass

from nearkin.errors import ParameterError, is_int
from nearkin.stages.documents.faults import RecordFault
from nearkin.stages.documents.sizes import SIZE_RULE, parse_size

_MIB = 1 << 20
OPTION = "--extraction-limit"
_VALUES = {
    "time": "SECONDS", "memory": "SIZE", "size": "SIZE", "total": "SIZE", "disk": "SIZE", "files": "N", "levels": "N",
    "ratio": "N", "ocr": "SECONDS",
}  # fmt: skip
_UNITS = {"SECONDS": " seconds", "SIZE": " bytes", "N": ""}
_MAX_S, _MAX_VALUE = 1 << 21, 1 << 50
"""Maximum values that system calls accept: for timers, and for everything else."""
IN_WORDS = (
    "time=60 (seconds), memory=4GiB, size=256MiB, total=16GiB, disk=1GiB, files=1000000, levels=12, ratio=1000, "
    "ocr=1800 (seconds)"
)
"""The defaults, in the syntax of the command line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionLimits:
    """Maximum cost of the extraction of a file, by the names on the command line; sizes are in bytes, times in seconds.

    ``time`` is for each document or recognised page; ``size`` for the text of a document
    and for a file that is read as a whole; ``total`` for everything inside one file; ``disk`` for an unpacked archive;
    ``ratio`` is unpacked to packed size.
    """

    time: int = 60
    memory: int = 4096 * _MIB
    size: int = 256 * _MIB
    total: int = 16384 * _MIB
    disk: int = 1024 * _MIB
    files: int = 1_000_000
    levels: int = 12
    ratio: int = 1000
    ocr: int = 1800

    def __post_init__(self) -> None:
        for name, kind in _VALUES.items():
            value, most = getattr(self, name), _MAX_S if kind == "SECONDS" else _MAX_VALUE
            if not is_int(value) or not 1 <= value <= most:
                rule = f"{SIZE_RULE}, at most {most >> 40:,}TiB" if kind == "SIZE" else f"an int from 1 to {most:,}"
                raise ParameterError.of("extraction_limit", f"{name}={kind}, with {rule}", value)

    @classmethod
    def of(cls, given: Mapping[str, int | str]) -> ExtractionLimits:
        """Make limits from those that differ from the defaults; ParameterError if there is no such limit.

        Examples
        --------
        >>> ExtractionLimits.of({"size": "1GiB", "time": 300}).given
        {'time': 300, 'size': 1073741824}
        """
        if not isinstance(given, Mapping):
            rule = 'a mapping of names to values, such as {"time": 300}'
            raise ParameterError.of("extraction_limits", rule, given)
        for name in given:
            if name not in _VALUES:
                raise ParameterError.of("extraction_limit", f"one of {', '.join(_VALUES)}", name)
        parsed = dict(given)
        for name, value in given.items():
            with suppress(ValueError):  # else `__post_init__` says what is wrong
                if isinstance(value, str):
                    parsed[name] = parse_size(value) if _VALUES[name] == "SIZE" else int(value)
        return cls(**parsed)  # type: ignore[arg-type]  # it checks

    def exceeded(self, name: str) -> RecordFault:
        """Return the fault of what goes beyond a limit.

        Examples
        --------
        >>> str(ExtractionLimits().exceeded("time"))
        'time-out: more than the limit of time, 60 seconds; raise it with --extraction-limit time=SECONDS'
        """
        kind = _VALUES[name]
        limit = f"the limit of {name}, {getattr(self, name):,}{_UNITS[kind]}"
        sentence = f"more than {limit}; raise it with {OPTION} {name}={kind}"
        return RecordFault("time-out" if kind == "SECONDS" else "too large", sentence)

    @property
    def given(self) -> dict[str, int]:
        """The limits that differ from the defaults."""
        usual = asdict(USUAL_LIMITS)
        return {name: value for name, value in asdict(self).items() if value != usual[name]}


USUAL_LIMITS = ExtractionLimits()
