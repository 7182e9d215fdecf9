"""What a run of ``nearkin dedup --engine spark`` sent through Spark's shuffles, as Spark itself counted it.

Read from an application's log of events. Nearkin keeps what each of its stages makes in a folder of that name, and the
plan of a query tells where it writes: so every shuffle is known by Nearkin's stage, and by its number in it.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from nearkin.engines.spark.layout import Layout
from nearkin.workflows.dedup.on_spark import partitions as s

_KEPT = re.compile(r"^Arguments: \S*/stages/([^/,\s]+),", re.MULTILINE)


def _each(*layouts: Layout) -> str:
    """The bytes of a row."""
    return ", ".join(f"{layout.row_bytes} B" for layout in layouts)


CARRIES = {
    "read": ("which files to read",),
    "bands": (f"entries of long texts, {_each(s.ENTRIES)} a band",),
    "prefixes": (f"entries of short texts, {_each(s.ENTRIES)} a shingle of the prefix",),
    "foremost": (f"entries of skewed keys, {_each(s.SKEWED)}", f"the foremost of hot keys, {_each(s.RANKED)}"),
    "crowds": (
        f"entries of skewed keys to the partitions of their texts, {_each(s.SKEWED)}",
        f"the same with their ranks to where the key meets, {_each(s.RANKED)}",
    ),
    "candidates": (
        f"candidates as often as they were found, {_each(s.PAIRS)}",
        f"candidates once, and which profiles are wanted, {_each(s.ASKS)}",
        "profiles, a byte for one or two shingles of a mean text, once for each partition that asks",
    ),
    "matches": ("texts that may be alike, to the partition that verifies them",),
    "inside": ("texts of pairs inside groups that no match tells about",),
}
"""Stage of `nearkin dedup` → what each of its shuffles carries, in order."""


@dataclass(frozen=True, slots=True)
class Shuffle:
    """One shuffle.

    Parameters
    ----------
    stage : str
        Of Nearkin.
    number : int
        Which shuffle of the stage, from 0.
    size_bytes : int
        Written, compressed as it travels.
    """

    stage: str
    number: int
    size_bytes: int

    @property
    def carries(self) -> str:
        """What, in words."""
        known = CARRIES.get(self.stage, ())
        return known[self.number] if self.number < len(known) else ""


@dataclass(frozen=True, slots=True)
class Events:
    """What an application logged.

    Parameters
    ----------
    first_query_s : float
        When its first query began, in seconds since 1970.
    shuffles : tuple of Shuffle
        In order.
    other_bytes : int
        Of shuffles that no stage kept.
    """

    first_query_s: float
    shuffles: tuple[Shuffle, ...]
    other_bytes: int

    @classmethod
    def read(cls, log: Path) -> Events:
        """From JSON Lines."""
        first_query_ms = 0
        stage_of_query: dict[str, str] = {}
        query_of_spark_stage: dict[int, str] = {}
        written: defaultdict[int, int] = defaultdict(int)
        with log.open(encoding="utf-8") as lines:
            for event in map(json.loads, lines):
                kind = event["Event"].rpartition(".")[2]
                if kind == "SparkListenerSQLExecutionStart":
                    first_query_ms = first_query_ms or event["time"]
                    found = _KEPT.search(event["physicalPlanDescription"])
                    if found:
                        stage_of_query[str(event["executionId"])] = found[1]
                elif kind == "SparkListenerJobStart":
                    query = event["Properties"].get("spark.sql.execution.id", "")
                    query_of_spark_stage.update(dict.fromkeys(event["Stage IDs"], query))
                elif kind == "SparkListenerTaskEnd" and event["Task Type"] == "ShuffleMapTask":
                    metrics = event.get("Task Metrics") or {}  # none where its executor was lost
                    written[event["Stage ID"]] += metrics.get("Shuffle Write Metrics", {}).get(
                        "Shuffle Bytes Written", 0
                    )
        shuffles: list[Shuffle] = []
        other_bytes = 0
        for spark_stage, size_bytes in sorted(written.items()):
            stage = stage_of_query.get(query_of_spark_stage.get(spark_stage, ""))
            if stage is None:
                other_bytes += size_bytes
            else:
                number = sum(one.stage == stage for one in shuffles)
                shuffles.append(Shuffle(stage, number, size_bytes))
        return cls(first_query_ms / 1000, tuple(shuffles), other_bytes)
