"""``nearkin plan corpus``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

from nearkin.cli.options.definitions import Json
from nearkin.cli.options.engine import check_engine
from nearkin.cli.parameters import argument, option
from nearkin.cli.plan.arguments import PlanEngine
from nearkin.errors import ParameterError
from nearkin.options.dedup import PlanJob

if TYPE_CHECKING:
    from nearkin.cli.printing import Printer
    from nearkin.options.dedup import DedupOptions
    from nearkin.planning.cluster_needs import ClusterNeeds, CorpusForecast

_corpus = partial(option, panel="The corpus")

Sample = Annotated[
    list[str],
    argument(
        metavar="SAMPLE...",
        help="A few thousand documents, drawn from the whole corpus: files, as for nearkin dedup.",
    ),
]
CorpusSize = Annotated[
    str | None,
    _corpus("--documents", help="Number of documents in the corpus, for example 1B. [default: as in the sample]"),
]
ClusterCores = Annotated[
    int | None,
    option(
        "--cores",
        min=1,
        max=10**6,
        panel="The engine",
        help="With --engine spark: cores of the cluster. [default: 1]",
    ),
]

HELP = """
Predict the search that nearkin dedup makes in a large corpus, from a sample of this corpus: the recall, and the \
number of unrelated pairs that are compared. With --engine spark, also predict the memory, disk and network traffic of \
a cluster. Time is not predicted.

Examples:

  nearkin plan corpus some.parquet --documents 200M

  nearkin plan corpus some.parquet --documents 1B --engine spark --cores 512
"""


def plan_corpus(
    sample: Sample,
    *,
    documents: CorpusSize = None,
    job: PlanJob,
    engine: PlanEngine = "local",
    cores: ClusterCores = None,
    as_json: Json = False,
) -> None:
    """Plan the cleaning of a corpus by a sample of it."""
    from nearkin.cli.bars import bars_shown
    from nearkin.cli.plan.arguments import parse_count, summary_of
    from nearkin.cli.printing import tell
    from nearkin.options.dedup import DedupOptions
    from nearkin.workflows.dedup.forecast import forecast, forecast_as_stored
    from nearkin.workflows.dedup.on_spark.forecast import cluster_needs
    from nearkin.workflows.reading.request import ReadingRequest
    from nearkin.workflows.resources import Resources

    check_engine(engine)
    if cores is not None and engine == "local":
        raise ParameterError("--cores is the size of a cluster: add --engine spark.")
    n_documents = None if documents is None else parse_count(documents, "--documents")
    options = job.part(DedupOptions)
    with bars_shown(is_quiet=as_json) as bars:
        told = forecast(
            ReadingRequest.from_options(sample, job),
            options,
            n_documents=n_documents,
            resources=Resources(),
            progress=bars,
        )
    n_cores = cores or 1
    needs = cluster_needs(told, options, n_cores) if engine == "spark" else None
    tell(
        lambda: forecast_as_stored(told, options) | summary_of(needs),
        lambda console: _show(console, told, options, needs, n_cores),
        as_json=as_json,
    )


def _show(
    console: Printer, told: CorpusForecast, options: DedupOptions, needs: ClusterNeeds | None, n_cores: int
) -> None:
    from nearkin.cli.plan.arguments import show_needs
    from nearkin.reports.facts.plan import corpus_plan_facts
    from nearkin.workflows.dedup.forecast import in_words

    console.say(corpus_plan_facts(told, in_words(told, options)))
    show_needs(console, needs, n_cores, told.n_documents)
