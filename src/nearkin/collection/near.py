"""What a query finds, before it is looked up and compared."""

from __future__ import annotations

from dataclasses import dataclass

from nearkin.records import I64


@dataclass(frozen=True, slots=True)
class Near:
    """Contents that are near a query, the nearest first, and how many passed each stage."""

    contents: I64
    stages: tuple[tuple[str, int], ...]
    is_answered: bool
