"""Sizes in the syntax of users: ``2GiB``, ``500MB``."""

from __future__ import annotations

import re

from nearkin.errors import ParameterError

MAX_SIZE_OPTION = "--max-document-size"
"""Name of the maximum size of a document in problems, which are stored."""
SIZE_RULE = "a size such as 2GiB or 500MB"
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(?:([kmgt])(i?))?(b?)\s*", re.IGNORECASE | re.ASCII)


def parse_size(text: str, parameter: str = "memory") -> int:
    """Parse a size such as ``2GiB``, ``500MB`` or ``1073741824`` into bytes; ParameterError for anything else."""
    occurrence = _SIZE.fullmatch(text)
    if not occurrence:
        raise ParameterError.of(parameter, SIZE_RULE, text)
    size = float(occurrence[1]) * _unit_of(occurrence)
    if size >= 2**63:
        raise ParameterError.of(parameter, "a size below 8 EiB", text)
    return int(size)


def _unit_of(occurrence: re.Match[str]) -> int:
    base: int = 1024 if occurrence[3] else 1000
    power: int = " kmgt".index(occurrence[2].lower()) if occurrence[2] else 0
    return int(base**power)
