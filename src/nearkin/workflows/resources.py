"""Resources of a run; used by all jobs."""

from __future__ import annotations

import os
from dataclasses import dataclass

from nearkin.errors import ParameterError, is_int
from nearkin.stages.documents.rules import parse_size

MIN_MEMORY = 256 << 20
_AT_LEAST = "at least 256MiB"
"""Minimum memory: below this, blocks of work would be too small for their overhead."""


MAX_THREADS = 1024
"""More would leave each of them no memory to work in."""


@dataclass(frozen=True, slots=True)
class Resources:
    """Resources that a run may use; no result depends on them.

    Parameters
    ----------
    memory_bytes
        Memory limit that the run aims at, above the interpreter and its libraries.
    """

    threads: int = 0
    memory_bytes: int = 2 << 30

    def __post_init__(self) -> None:
        if not is_int(self.threads) or not 0 <= self.threads <= MAX_THREADS:
            rule = f"an int from 1 to {MAX_THREADS:,}, or 0 for one per CPU core"
            raise ParameterError.of("threads", rule, self.threads)
        if not is_int(self.memory_bytes) or self.memory_bytes < MIN_MEMORY:
            raise ParameterError.of("memory", _AT_LEAST, self.memory_bytes)

    @classmethod
    def of(cls, threads: int = 0, memory: str | int = 2 << 30) -> Resources:
        """Make the resources from the user's values.

        Examples
        --------
        >>> Resources.of(memory="2GiB").memory_bytes
        2147483648
        >>> Resources.of(memory="64MB")
        Traceback (most recent call last):
        ...
        nearkin.errors.ParameterError: memory: must be at least 256MiB. Got: '64MB'
        """
        if isinstance(memory, str) and parse_size(memory) < MIN_MEMORY:
            raise ParameterError.of("memory", _AT_LEAST, memory)
        return cls(threads, parse_size(memory) if isinstance(memory, str) else memory)

    @property
    def n_threads(self) -> int:
        """Number of threads to start: the requested number, else one per CPU core that the process may use."""
        if self.threads:
            return self.threads
        if hasattr(os, "sched_getaffinity"):
            return len(os.sched_getaffinity(0))
        return os.cpu_count() or 1  # systems that do not report which CPU cores are allowed
