"""Limits of extraction: the maximum cost of one file."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields

from nearkin.errors import ParameterError

_MIB = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionLimits:
    """Maximum cost of the extraction of a file; each document in it has the limits of time for itself.

    Parameters
    ----------
    memory_bytes : int
        Address space of a worker process.
    cpu_s, wall_s : int
        Processor time and elapsed time for one document.
    output_bytes : int
        Text of one document, and size of one file inside an archive or a mail.
    total_bytes : int
        Unpacked size of all that is inside one file.
    n_members : int
        Documents inside one file.
    n_levels : int
        Levels of files inside files.
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
    output_bytes: int = 256 * _MIB
    total_bytes: int = 16384 * _MIB
    n_members: int = 1_000_000
    n_levels: int = 12
    compression_ratio: int = 1000

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ParameterError.of(one.name, "ExtractionLimits", "an int >= 1", value)

    def as_request(self) -> dict[str, int]:
        """Return the limits for the request to a worker."""
        return asdict(self)
