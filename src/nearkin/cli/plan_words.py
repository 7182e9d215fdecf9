"""Counts, machines and times as the plan of a search reads and tells them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path

import typer

from nearkin.errors import ParameterError

_COUNT = re.compile(r"((?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+)\s*([kKmMgGbB]?)")
_TIMES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "b": 10**9}
_MOST = 10**12
_MOST_CORES = 10**6


@dataclass(frozen=True, slots=True)
class Machine:
    """What a plan is for.

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
    """A number of documents.

    Examples
    --------
    >>> [parse_count(text, "--left") for text in ("3.44M", "200k", "1,470,000")]
    [3440000, 200000, 1470000]
    """
    read = _COUNT.fullmatch(text.strip())
    if read is None and Path(text).is_file():
        sample = "--sample" if option == "--documents" else f"--sample-{option.removeprefix('--')}"
        raise typer.BadParameter(f"{option} is a number of documents; documents to go by are given as {sample}.")
    if read is None:
        raise typer.BadParameter(f"{option} must be a number such as 1,470,000, 200k or 3.44M. Got {text!r} instead.")
    n = round(float(read[1].replace(",", "")) * _TIMES[read[2].lower()])
    if not 1 <= n <= _MOST:
        raise typer.BadParameter(f"{option} must be from 1 to {_MOST:,}. Got {text!r} instead.")
    return n


def parse_terms(text: str) -> tuple[float, float]:
    """Mean numbers of terms, of both collections or of each.

    Examples
    --------
    >>> parse_terms("120,80"), parse_terms("50")
    ((120.0, 80.0), (50.0, 50.0))
    """
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if not 1 <= len(numbers) <= 2 or not all(0 < number < 1e6 for number in numbers):
        raise typer.BadParameter(f"--terms must be LEFT,RIGHT, two numbers above 0. Got {text!r} instead.")
    return numbers[0], numbers[-1]


def parse_machine(text: str, cores_here: int) -> Machine:
    """A machine.

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
            raise typer.BadParameter(f"--machine must be this, or cores=N,speed=X. Got {text!r} instead.")
        if part != "this":
            told[name] = value
    is_this = "this" in parts
    if is_this and told["speed"]:
        raise typer.BadParameter("--machine this measures the speed: leave speed= away.")
    try:
        cores = int(told["cores"]) if told["cores"] else cores_here if is_this else 1
        speed = float(told["speed"] or 1)
    except ValueError:
        raise typer.BadParameter(
            f"--machine must have numbers after cores= and speed=. Got {text!r} instead."
        ) from None
    if not 1 <= cores <= _MOST_CORES or not 0 < speed < math.inf:
        raise ParameterError.of("machine", "plan", f"of cores from 1 to {_MOST_CORES:,} and a speed above 0", text)
    return Machine(cores, speed, is_this)


def time_text(seconds: float) -> str:
    """A time as people tell it.

    Examples
    --------
    >>> [time_text(s) for s in (0.004, 0.34, 12.2, 200, 18360, 400_000, 6.3e9)]
    ['under 0.01 s', '0.34 s', '12 s', '3 min 20 s', '5.1 h', '4.6 days', '200 years']
    """
    if seconds < 0.01:
        return "under 0.01 s"
    if seconds < 59.5:
        return f"{seconds:.2g} s" if seconds < 9.95 else f"{seconds:.0f} s"
    if seconds < 3600:
        minutes, rest = divmod(round(seconds), 60)
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    for unit, size, most in (("h", 3600, 48), ("days", 86_400, 1000)):
        if seconds / size < most:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds / 86_400 / 365.25:,.0f} years"


def many_text(n: float) -> str:
    """A great number in words; the estimate of one.

    Examples
    --------
    >>> [many_text(n) for n in (0.02, 12.3, 64_000, 2.19e9, 5.06e12, 3e16)]
    ['under 1', '12', '64,000', '2.19 billion', '5.06 trillion', '30,000 trillion']
    """
    if n < 0.5:
        return "under 1" if n > 0 else "0"
    if n < 10_000:
        return f"{n:,.0f}"
    for size, word in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
        if n >= size:
            return f"{n / size:,.0f} {word}" if n >= 1000 * size else f"{n / size:.3g} {word}"
    return f"{float(f'{n:.3g}'):,.0f}"


def share_text(value: float) -> str:
    """A share in per cent, near the ends with more digits, and never rounded up to all.

    Examples
    --------
    >>> [share_text(value) for value in (0.9021, 1.0, 0.99996, 0.0001, 2.5)]
    ['90.2 %', '100 %', '99.99 %', '0.01 %', '250 %']
    """
    if value == 1 or value >= 1.995:
        return f"{value:.0%}".replace("%", " %")
    if 0.995 <= value < 1 or 0 < value < 0.005:
        return f"{math.floor(value * 10_000) / 100 or 0.01:.2f} %".replace("0.010 %", "0.01 %")
    return f"{100 * value:.1f} %"
