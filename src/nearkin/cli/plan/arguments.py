"""Parsers for the arguments of a plan: counts, terms and machines."""

from __future__ import annotations

import math
import os
import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

from nearkin.cli.parameters import option
from nearkin.errors import ParameterError

if TYPE_CHECKING:
    from nearkin.cli.printing import Printer
    from nearkin.planning.cluster_needs import ClusterNeeds


_COUNT = re.compile(r"((?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+)\s*([kKmMgGbB]?|[eE]\+?\d{1,2})", re.ASCII)
_TIMES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "b": 10**9}
_MOST = 10**12
_MAX_CORES = 10**6


@dataclass(frozen=True, slots=True)
class Machine:
    """Machine for which a plan is made.

    Parameters
    ----------
    cores : int
    speed : float
        Times as fast on one core as the machine on which costs were measured.
    is_this : bool
        Costs are measured on the present machine.
    """

    cores: int = 1
    speed: float = 1.0
    is_this: bool = False


def parse_count(text: str, option: str) -> int:
    """Parse a number of documents.

    Examples
    --------
    >>> [parse_count(text, "--left") for text in ("3.44M", "200k", "1,470,000", "1e6")]
    [3440000, 200000, 1470000, 1000000]
    """
    read = _COUNT.fullmatch(text.strip())
    if read is None and os.path.isfile(text):
        sample = "SAMPLE" if option == "--documents" else f"--sample-{option.removeprefix('--')}"
        raise ParameterError(f"{option} is a number of documents; pass sample documents as {sample}.")
    if read is None:
        raise ParameterError(f"{option} must be a number such as 1,470,000, 200k, 3.44M or 2e6. Got {text!r} instead.")
    unit = read[2].lower()
    n = round(float(read[1].replace(",", "")) * (10 ** int(unit[1:]) if unit[:1] == "e" else _TIMES[unit]))
    if not 1 <= n <= _MOST:
        raise ParameterError(f"{option} must be from 1 to {_MOST:,}. Got {text!r} instead.")
    return n


def parse_terms(text: str) -> tuple[float, float]:
    """Parse mean numbers of terms: one for both corpora, or one for each.

    Examples
    --------
    >>> parse_terms("120,80"), parse_terms("50")
    ((120.0, 80.0), (50.0, 50.0))
    """
    parts = text.split(",")
    try:
        numbers = [number for number in map(float, parts) if 0 < number < 1e6]
    except ValueError:
        numbers = []
    if len(numbers) != len(parts) or len(parts) > 2:
        raise ParameterError(f"--terms must be LEFT,RIGHT, two numbers above 0. Got {text!r} instead.")
    return numbers[0], numbers[-1]


def parse_machine(text: str, cores_here: int) -> Machine:
    """Parse a machine.

    Examples
    --------
    >>> parse_machine("cores=128,speed=1.5", cores_here=2)
    Machine(cores=128, speed=1.5, is_this=False)
    >>> parse_machine("this", cores_here=2)
    Machine(cores=2, speed=1.0, is_this=True)
    """
    told = {"cores": "", "speed": ""}
    parts = [part.strip() for part in text.split(",")]
    for part in parts:
        name, _, value = part.partition("=")
        if part != "this" and (name not in told or not value):
            raise ParameterError(f"--machine must be this, or cores=N,speed=X. Got {text!r} instead.")
        if part != "this":
            told[name] = value
    is_this = "this" in parts
    if is_this and told["speed"]:
        raise ParameterError("--machine this measures the speed: omit speed=.")
    try:
        cores = int(told["cores"] or (cores_here if is_this else 1))
        speed = float(told["speed"] or 1.0)
    except ValueError:
        raise ParameterError.of("machine", "of numbers after cores= and speed=", text) from None
    if not 1 <= cores <= _MAX_CORES or not 0 < speed < math.inf:
        raise ParameterError.of("machine", f"of cores from 1 to {_MAX_CORES:,} and a speed above 0", text)
    return Machine(cores, speed, is_this)


def summary_of(needs: ClusterNeeds | None) -> dict[str, object]:
    """Return the needs as JSON types; empty without a cluster."""
    return {} if needs is None else {"spark": asdict(needs) | {"shuffled_bytes": needs.shuffled_bytes}}


def show_needs(console: Printer, needs: ClusterNeeds | None, n_cores: int, n_documents: int) -> None:
    """Print the shuffled data, memory and disk space; nothing without a cluster."""
    if needs is None:
        return
    from nearkin.reports.facts.plan import cluster_facts, shuffles_table

    console.show(shuffles_table(needs, n_documents))
    console.say(cluster_facts(needs, n_cores))


PlanEngine = Annotated[
    str,
    option(
        "--engine",
        panel="The engine",
        help="local, or spark: also print what is shuffled on a Spark cluster and the memory and disk it needs.",
    ),
]
