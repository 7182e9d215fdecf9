"""``nearkin pairs`` and ``plan``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

from nearkin.cli.answering import answer, answer_run, working
from nearkin.cli.command_line import CommandEntry, CommandGroup
from nearkin.errors import ParameterError
from nearkin.options.declared import Same, argument, option
from nearkin.options.dedup import DedupOptions
from nearkin.options.measuring import CORES, PlanJob, PlanPairsJob
from nearkin.options.pairs import PairOptions, PairsJob, SideOptions
from nearkin.options.running import ENGINES, RESUME, DirectoryCommand, EngineOptions, PrintOptions
from nearkin.workflows.resources import Resources

if TYPE_CHECKING:
    from nearkin.planning.cluster_needs import ClusterNeeds
    from nearkin.planning.pairs.search import PairForecast, Plan, Question
    from nearkin.reports.facts.fact import Part


HELP = """
Find similar pairs of documents in two corpora, in one language or in two: documents and their translations, or \
articles about the same thing.

Every reported pair has its exact cosine, and the words that contribute most to it. The search is planned on a sample \
of the documents, and the expected recall is printed before it starts.

With --table, the documents of one side are translated word by word by a translation table from \
nearkin align. Swapping left and right gives the same pairs, except with --top.

Examples:

  nearkin pairs --left news.de.parquet --right news.en.parquet --table de-en.parquet --out pairs

  nearkin pairs --left docs.parquet --left-text de --right docs.parquet --right-text en --table de-en.parquet \
--known same-ids --top 5 --out pairs

  nearkin pairs --left dewiki.xml.bz2 --right enwiki.xml.bz2 --table de-en.parquet --known langlinks.sql.gz \
--out pairs

  nearkin pairs --left mine.jsonl --right theirs.jsonl --threshold 0.6 --out pairs

  nearkin pairs --left de.parquet --right en.parquet --table de-en.parquet --out /shared/pairs --engine spark \
--master spark://host:7077
"""


class PairsCommand(DirectoryCommand, EngineOptions, PairsJob):
    """Options of the command."""

    left: Same[Sequence[str]] = option(
        kind=list, required=True, metavar="INPUT", panel="Input",
        help="First corpus: files, folders or globs, as for nearkin dedup; also Wikipedia dumps. Repeatable.",
    )  # fmt: skip
    right: Same[Sequence[str]] = option(
        kind=list, required=True, metavar="INPUT", panel="Input", help="Second corpus. Repeatable."
    )
    resume: Same[bool] = RESUME


def pairs(job: PairsCommand) -> None:
    """Find similar pairs."""
    from nearkin.reports.facts.jobs import cost_facts
    from nearkin.reports.pairs import pairs_facts, sides_table
    from nearkin.workflows.pairing.inputs import PairInput
    from nearkin.workflows.pairing.job import pair_files

    given = PairInput.of_paths(job.left, job.right, job)
    where = job.chosen_engine()
    with working(job) as bars:
        manifest = pair_files(
            given, job.out, job.part(PairOptions), job.known, resume=job.resume, overwrite=job.overwrite,
            report=job.report, resources=Resources(job.threads), progress=bars, engine=where,
        )  # fmt: skip
    costs = cost_facts(manifest.stages, manifest.left.n_documents + manifest.right.n_documents)
    answer_run(job, manifest, job.out, "pairs.tsv", [sides_table(manifest), *pairs_facts(manifest), *costs])


plan = CommandGroup(
    "plan",
    "Predict the recall and the cost of a search before it is run.",
    {
        "Commands": (
            CommandEntry("pairs", "Predict a search for similar pairs of two corpora", "pairs", "plan_pairs"),
            CommandEntry("corpus", "Predict a run of nearkin dedup", "pairs", "plan_corpus"),
        )
    },
)
_sample = partial(option, panel="Samples to measure", metavar="INPUT")


class WhereOptions(PrintOptions):
    """Machine or cluster that a plan is for."""

    engine: Same[str] = option(
        "local", choices=ENGINES, panel="The engine",
        help="local, or spark: also print what is shuffled on a Spark cluster and the memory and disk it needs.",
    )  # fmt: skip
    cores: Same[int] = CORES


def _summary_of(needs: ClusterNeeds | None) -> dict[str, object]:
    return {} if needs is None else {"spark": asdict(needs) | {"shuffled_bytes": needs.shuffled_bytes}}


def _needs_view(needs: ClusterNeeds | None, n_cores: int, n_documents: int) -> Iterator[Part]:
    from nearkin.reports.facts.plan import cluster_facts, shuffles_table

    if needs is not None:
        yield shuffles_table(needs, n_documents)
        yield from cluster_facts(needs, n_cores)


PLAN_PAIRS_HELP = """
Predict the search of nearkin pairs: the fastest method that reaches the requested recall, what it finds, and its \
time and memory.

With samples the plan measures the distribution of cosines; without samples it assumes one.

Examples:

  nearkin plan pairs --documents 3.44M 1.47M --threshold 0.3 --recall 0.9 --cores 128

  nearkin plan pairs --documents 200k 300k --threshold 0.5 --method window

  nearkin plan pairs --left some.de.parquet --right some.en.parquet --table de-en.table --documents 3.44M 1.47M
"""


class PlanPairsCommand(WhereOptions, PlanPairsJob):
    """Options of the command."""

    left: Same[Sequence[str] | None] = _sample(
        kind=list, needs="right",
        help="A few thousand documents of the left corpus, as for nearkin pairs; the distribution of cosines is then "
        "measured. Repeatable.",
    )  # fmt: skip
    right: Same[Sequence[str] | None] = _sample(
        kind=list, needs="left", help="A few thousand documents of the right corpus. Repeatable."
    )


def plan_pairs(job: PlanPairsCommand) -> None:
    """Plan a search for pairs, as nearkin pairs does, by the default costs."""
    from nearkin.workflows.pairing import forecast
    from nearkin.workflows.pairing.inputs import PairInput
    from nearkin.workflows.pairing.on_spark.forecast import cluster_needs
    from nearkin.workflows.pairing.planning import chosen

    options, sampled = job.part(PairOptions), None
    if job.left and job.right:
        with working(job) as bars:
            sampled = forecast.forecast(
                PairInput.of_paths(job.left, job.right, job), options, n_documents=job.n_documents, cores=job.cores,
                resources=Resources.of(job.threads), progress=bars,
            )  # fmt: skip
        question, planned = sampled.question, sampled.plan
    else:
        if job.part(SideOptions) != SideOptions():
            raise ParameterError(
                "Options for columns, format, table and languages need samples: add --left and --right."
            )
        if job.n_documents is None:
            raise ParameterError("--documents is required without samples: the number of documents of each corpus.")
        question = forecast.question_without_samples(*job.n_documents, options, cores=job.cores)
        planned = chosen(question, options)
    needs = cluster_needs(question, planned.search, planned.prediction) if job.engine == "spark" else None
    summary = forecast.plan_as_stored(question, planned, sampled) | _summary_of(needs)
    answer(job, summary, _pairs_view(question, planned, options, sampled, needs))


def _pairs_view(
    question: Question, planned: Plan, options: PairOptions, sampled: PairForecast | None, needs: ClusterNeeds | None
) -> Iterator[Part]:
    from nearkin.reports.facts.plan import methods_table, plan_facts
    from nearkin.workflows.pairing.planning import MIN_PAIRS
    from nearkin.workflows.pairing.searching import MAX_PAIRS

    ways = (planned.search, planned.prediction), *planned.alternatives
    yield methods_table(ways, n_cores=question.cores)
    is_fixed = options.method != "auto"
    yield from plan_facts(question, planned, sampled, is_fixed=is_fixed, min_pairs=MIN_PAIRS, max_pairs=MAX_PAIRS)
    yield from _needs_view(needs, question.cores, question.n_documents)


PLAN_CORPUS_HELP = """
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


def plan_corpus(job: PlanCorpusCommand) -> None:
    """Plan the cleaning of a corpus by a sample of it."""
    from nearkin.reports.facts.plan import corpus_plan_facts
    from nearkin.workflows.dedup.forecast import forecast, forecast_as_stored, in_words
    from nearkin.workflows.dedup.on_spark.forecast import cluster_needs
    from nearkin.workflows.reading.request import ReadingRequest

    options = job.part(DedupOptions)
    with working(job) as bars:
        request = ReadingRequest.from_options(job.sample, job)
        prediction = forecast(
            request, options, n_documents=job.n_documents, resources=Resources.of(job.threads), progress=bars
        )
    needs = cluster_needs(prediction, options, job.cores) if job.engine == "spark" else None
    summary = forecast_as_stored(prediction, options) | _summary_of(needs)
    facts = corpus_plan_facts(prediction, in_words(prediction, options))
    answer(job, summary, [*facts, *_needs_view(needs, job.cores, prediction.n_documents)])
