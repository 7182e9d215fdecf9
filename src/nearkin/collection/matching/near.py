"""Contents found by a query, before their documents are looked up and compared."""

from __future__ import annotations

from dataclasses import dataclass

from nearkin.planning.part_recall import PartRecall
from nearkin.records import I64


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """Contents near a query, the nearest first, and the number that passed each stage."""

    contents: I64
    stages: tuple[tuple[str, int], ...]
    is_answered: bool
    n_not_compared: int = 0
    """Number of candidates that were not compared word by word, as there were too many; the nearest ones were."""
    n_hot_keys: int = 0
    """Number of keys that occur in too many texts to look at all of them."""
    part_recall: PartRecall | None = None
    """Expected recall of a search by containment, if it is known."""
