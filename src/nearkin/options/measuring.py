"""Options of plans, audits and evaluations."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nearkin.errors import ParameterError, is_int
from nearkin.options.collection import ToleranceOptions
from nearkin.options.declared import PYTHON, Option, Options, Same, option
from nearkin.options.dedup import PlannedSearch
from nearkin.options.pairs import PairOptions, SideOptions
from nearkin.options.reading import ReadingOptions
from nearkin.options.running import ThreadOptions

if TYPE_CHECKING:
    from nearkin.runs.progress import Progress

_COUNT = re.compile(r"((?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+)\s*([kKmMgGbB]?|[eE]\+?\d{1,2})", re.ASCII)
_TIMES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "b": 10**9}
_MOST = 10**12
_RULE = f"a number from 1 to {_MOST:,} such as 1,470,000, 200k, 3.44M or 2e6"
_sample = partial(option, panel="The sample")
_corpus = partial(option, panel="The corpus", names=("--documents",))
CORES = option(
    1, minimum=1, maximum=10**6, panel="The engine", help="CPU cores of the machine or of the cluster that is planned."
)


def count_of(given: object) -> int:
    """Return a number of documents.

    Examples
    --------
    >>> [count_of(given) for given in ("3.44M", "200k", "1,470,000", "1e6", 40)]
    [3440000, 200000, 1470000, 1000000, 40]
    """
    if isinstance(given, str) and (read := _COUNT.fullmatch(given.strip())) is not None:
        unit = read[2].lower()
        n = round(float(read[1].replace(",", "")) * (10 ** int(unit[1:]) if unit[:1] == "e" else _TIMES[unit]))
    else:
        n = given if is_int(given) else 0
    if not 1 <= n <= _MOST:
        raise ParameterError.of("n_documents", _RULE, given)
    return n


def _counts(given: Any) -> tuple[int, int]:
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise ParameterError.of("n_documents", "two numbers", given)
    return count_of(given[0]), count_of(given[1])


class PlanJob(ThreadOptions, PlannedSearch, ReadingOptions):
    """Options of ``nearkin plan corpus``."""

    n_documents: Option[int | None, int | str] = _corpus(
        parse=count_of, help="Number of documents in the corpus, for example 1B. [default: as in the sample]"
    )
    progress: Progress | Callable[[str], object] | None = None


class PlanPairsJob(ThreadOptions, PairOptions, SideOptions):
    """Options of ``nearkin plan pairs``."""

    n_documents: Option[tuple[int, int] | None, tuple[int | str, int | str]] = _corpus(
        kind=tuple, metavar="LEFT RIGHT", parse=_counts,
        help="Number of documents in each corpus: 3.44M, 200k or 1,470,000. [default: as in the samples]",
    )  # fmt: skip
    cores: Same[int] = CORES
    progress: Progress | Callable[[str], object] | None = None


class AuditJob(ThreadOptions, ToleranceOptions):
    """Options of ``nearkin audit``."""

    sample: Same[int] = _sample(500, minimum=1, help="Number of documents to sample; all of them if there are fewer.")
    seed: Same[int] = _sample(0, help="Random seed of the sample.")
    documents: Option[Any, Any] = option(panel=PYTHON, kind=object, help="Documents of the run that were in memory.")
    other: Option[Any, Any] = option(panel=PYTHON, kind=object, help="The same for its other set or its right side.")
    progress: Progress | Callable[[str], object] | None = None


class EvaluateJob(Options):
    """Options of ``nearkin evaluate``."""

    out: Same[Path | str | None] = option(kind=Path, panel="Output", help="Page (.html) with the table and the figure.")
    overwrite: Same[bool] = option(False, panel="Output", needs="out", help="Replace the file of --out.")
