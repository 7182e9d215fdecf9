"""``nearkin plan``: predictions of a search, before it is run."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

from nearkin.cli.answering import answer, working
from nearkin.cli.command_line import CommandEntry, CommandGroup
from nearkin.errors import ParameterError
from nearkin.options.declared import Same, argument, option
from nearkin.options.dedup import PlanJob
from nearkin.options.engine import check_engine
from nearkin.options.pairs import METHODS, Method, SideOptions
from nearkin.options.running import PrintOptions

if TYPE_CHECKING:
    from nearkin.cli.printing import Printer
    from nearkin.options.dedup import DedupOptions
    from nearkin.options.pairs import PairOptions
    from nearkin.planning.cluster_needs import ClusterNeeds, CorpusForecast
    from nearkin.planning.pairs.search import PairForecast, Plan, Question

plan = CommandGroup(
    "plan",
    "Predict the recall and the cost of a search before it is run.",
    {
        "Commands": (
            CommandEntry(
                "pairs", "Predict a search for similar pairs of two corpora", "plan", "PAIRS_HELP", "plan_pairs"
            ),
            CommandEntry("corpus", "Predict a run of nearkin dedup", "plan", "CORPUS_HELP", "plan_corpus"),
        )
    },
)
_COUNT = re.compile(r"((?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+)\s*([kKmMgGbB]?|[eE]\+?\d{1,2})", re.ASCII)
_TIMES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "b": 10**9}
_MOST = 10**12
_MAX_CORES = 10**6
_sought = partial(option, panel="The search")
_sample = partial(option, panel="Samples to measure")


class WhereOptions(PrintOptions):
    """Machine or cluster that a plan is for."""

    engine: Same[str] = option(
        "local", panel="The engine",
        help="local, or spark: also print what is shuffled on a Spark cluster and the memory and disk it needs.",
    )  # fmt: skip
    cores: Same[int] = option(
        1, minimum=1, maximum=_MAX_CORES, panel="The engine", help="Cores of the machine or of the cluster."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_engine(self.engine)


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


def _summary_of(needs: ClusterNeeds | None) -> dict[str, object]:
    return {} if needs is None else {"spark": asdict(needs) | {"shuffled_bytes": needs.shuffled_bytes}}


def _show_needs(console: Printer, needs: ClusterNeeds | None, n_cores: int, n_documents: int) -> None:
    if needs is None:
        return
    from nearkin.reports.facts.plan import cluster_facts, shuffles_table

    console.show(shuffles_table(needs, n_documents))
    console.say(cluster_facts(needs, n_cores))


PAIRS_HELP = """
Predict the search of nearkin pairs: the fastest method that reaches the requested recall, what it finds, and its \
time and memory.

There are three methods: all pairs of vectors, by an inverted index; all pairs of signatures, made by random \
projections; or each signature with its neighbours in sorted orders. The true cosine decides in each case, so \
nothing below the threshold is reported. With samples the plan measures the distribution of cosines; without samples \
it assumes one.

Examples:

  nearkin plan pairs --left 3.44M --right 1.47M --threshold 0.3 --recall 0.9 --cores 128

  nearkin plan pairs --left 200k --right 300k --threshold 0.5 --method window

  nearkin plan pairs --left 3.44M --right 1.47M --sample-left some.de.parquet --sample-right some.en.parquet
"""


class PlanPairsCommand(WhereOptions, SideOptions):
    """Options of the command."""

    left: Same[str | None] = _sought(
        help="Number of documents in the left corpus: 3.44M, 200k or 1,470,000. [default: as in the sample]"
    )
    right: Same[str | None] = _sought(help="Number of documents in the right corpus.")
    threshold: Same[float] = _sought(0.3, above=0, maximum=1, help="Minimum cosine of a pair, above 0 and up to 1.")
    recall: Same[float] = _sought(
        0.9, above=0, maximum=1,
        help="Minimum share of the pairs at or above the threshold that the search finds.",
    )  # fmt: skip
    method: Same[Method] = _sought("auto", choices=METHODS, help="auto, vectors, signatures or window.")
    sample_left: Same[Sequence[str] | None] = _sample(
        metavar="INPUT", kind=list, needs="sample_right",
        help="A few thousand documents of the left corpus: files, as for nearkin pairs. The distribution of cosines is "
        "then measured instead of assumed. Repeatable.",
    )  # fmt: skip
    sample_right: Same[Sequence[str] | None] = _sample(
        metavar="INPUT", kind=list, needs="sample_left",
        help="A few thousand documents of the right corpus. Repeatable.",
    )  # fmt: skip


def plan_pairs(job: PlanPairsCommand) -> None:
    """Plan a search for pairs, as nearkin pairs does, by the default costs."""
    from nearkin.options.pairs import PairOptions
    from nearkin.planning.pairs.costs import Costs
    from nearkin.workflows.pairing import forecast
    from nearkin.workflows.pairing.on_spark.forecast import cluster_needs
    from nearkin.workflows.pairing.planning import plan_without_documents

    options = PairOptions(threshold=job.threshold, recall=job.recall, method=job.method)
    n_left, n_right = (
        None if count is None else parse_count(count, name)
        for count, name in ((job.left, "--left"), (job.right, "--right"))
    )
    sampled: PairForecast | None = None
    if job.sample_left and job.sample_right:
        sampled = _sampled(job, options, n_left, n_right)
        question, planned = sampled.question, sampled.plan
    else:
        if job.part(SideOptions) != SideOptions():
            raise ParameterError(
                "Options for columns, format, table and languages need samples: add --sample-left and --sample-right."
            )
        if n_left is None or n_right is None:
            raise ParameterError("--left and --right are required: the number of documents of each corpus.")
        question = forecast.question_without_samples(n_left, n_right, options, cores=job.cores, costs=Costs())
        planned = plan_without_documents(question, options)
    needs = cluster_needs(question, planned.search, planned.prediction) if job.engine == "spark" else None
    answer(
        job,
        lambda: forecast.plan_as_stored(question, planned, sampled) | _summary_of(needs),
        lambda console: _show_pairs(console, question, planned, options, sampled, needs),
    )


def _sampled(job: PlanPairsCommand, options: PairOptions, n_left: int | None, n_right: int | None) -> PairForecast:
    from pathlib import Path

    from nearkin.planning.pairs.costs import Costs
    from nearkin.workflows.pairing.forecast import forecast
    from nearkin.workflows.pairing.inputs import PairInput
    from nearkin.workflows.reading.request import ReadingRequest
    from nearkin.workflows.resources import Resources

    samples = PairInput(
        ReadingRequest.of_side("left", job.sample_left or (), job.left_text, job.left_id, options=job),
        ReadingRequest.of_side("right", job.sample_right or (), job.right_text, job.right_id, options=job),
        None if job.table is None else Path(job.table), job.left_language, job.right_language,
    )  # fmt: skip
    with working(job) as bars:
        return forecast(
            samples, options, n_left=n_left, n_right=n_right, cores=job.cores, costs=Costs(), resources=Resources(),
            progress=bars,
        )  # fmt: skip


def _show_pairs(
    console: Printer, question: Question, planned: Plan, options: PairOptions, sampled: PairForecast | None,
    needs: ClusterNeeds | None,
) -> None:  # fmt: skip
    from nearkin.reports.facts.plan import methods_table, plan_facts
    from nearkin.workflows.pairing.planning import MIN_PAIRS
    from nearkin.workflows.pairing.searching import MAX_PAIRS

    console.show(methods_table(question, planned))
    is_fixed = options.method != "auto"
    console.say(plan_facts(question, planned, sampled, is_fixed=is_fixed, min_pairs=MIN_PAIRS, max_pairs=MAX_PAIRS))
    _show_needs(console, needs, question.cores, question.n_documents)


CORPUS_HELP = """
Predict the search that nearkin dedup makes in a large corpus, from a sample of this corpus: the recall, and the \
number of unrelated pairs that are compared. With --engine spark, also predict the memory, disk and network traffic of \
a cluster. Time is not predicted.

Examples:

  nearkin plan corpus some.parquet --documents 200M

  nearkin plan corpus some.parquet --documents 1B --engine spark --cores 512
"""


class PlanCorpusCommand(WhereOptions, PlanJob):
    """Options of the command."""

    sample: Same[Sequence[str]] = argument(
        "SAMPLE...", kind=list,
        help="A few thousand documents, drawn from the whole corpus: files, as for nearkin dedup.",
    )  # fmt: skip
    documents: Same[str | None] = option(
        panel="The corpus", help="Number of documents in the corpus, for example 1B. [default: as in the sample]"
    )


def plan_corpus(job: PlanCorpusCommand) -> None:
    """Plan the cleaning of a corpus by a sample of it."""
    from nearkin.options.dedup import DedupOptions
    from nearkin.workflows.dedup.forecast import forecast, forecast_as_stored
    from nearkin.workflows.dedup.on_spark.forecast import cluster_needs
    from nearkin.workflows.reading.request import ReadingRequest
    from nearkin.workflows.resources import Resources

    n_documents = None if job.documents is None else parse_count(job.documents, "--documents")
    options = job.part(DedupOptions)
    with working(job) as bars:
        request = ReadingRequest.from_options(job.sample, job)
        told = forecast(request, options, n_documents=n_documents, resources=Resources(), progress=bars)
    needs = cluster_needs(told, options, job.cores) if job.engine == "spark" else None
    answer(
        job,
        lambda: forecast_as_stored(told, options) | _summary_of(needs),
        lambda console: _show_corpus(console, told, options, needs, job.cores),
    )


def _show_corpus(
    console: Printer, told: CorpusForecast, options: DedupOptions, needs: ClusterNeeds | None, n_cores: int
) -> None:
    from nearkin.reports.facts.plan import corpus_plan_facts
    from nearkin.workflows.dedup.forecast import in_words

    console.say(corpus_plan_facts(told, in_words(told, options)))
    _show_needs(console, needs, n_cores, told.n_documents)
