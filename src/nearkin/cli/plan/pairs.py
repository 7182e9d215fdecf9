"""``nearkin plan pairs``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from nearkin.cli.options.definitions import Json
from nearkin.cli.options.engine import check_engine
from nearkin.cli.parameters import option
from nearkin.cli.plan.arguments import PlanEngine
from nearkin.errors import ParameterError
from nearkin.options.reading import FileOptions

if TYPE_CHECKING:
    from nearkin.cli.plan.arguments import Machine
    from nearkin.cli.printing import Printer
    from nearkin.options.pairs import PairOptions
    from nearkin.planning.cluster_needs import ClusterNeeds
    from nearkin.planning.pairs.search import PairForecast, Plan, Question
    from nearkin.workflows.pairing.inputs import PairInput


_sought = partial(option, panel="The search")
_fixed = partial(option, panel="Fixed instead of chosen")
_sample = partial(option, panel="Samples to measure")

Left = Annotated[
    str | None,
    _sought(help="Number of documents in the left corpus: 3.44M, 200k or 1,470,000. [default: as in the sample]"),
]
Right = Annotated[str | None, _sought(help="Number of documents in the right corpus.")]
MinCosine = Annotated[float, _sought("--threshold", help="Minimum cosine of a pair, above 0 and up to 1.")]
WantedRecall = Annotated[
    float,
    _sought(
        "--recall",
        help="Minimum share of the pairs at or above the threshold that the search finds.",
    ),
]
Terms = Annotated[
    str | None,
    _sought(help="Mean number of terms of a vector: LEFT,RIGHT. [default: 100,100, or as in the sample]"),
]
MachineText = Annotated[
    str,
    _sought(
        "--machine",
        help="cores=N,speed=X, where X is the speed relative to the machine on which the costs were measured. this: "
        "measure the costs on this machine, which takes a second.",
    ),
]
SampleLeft = Annotated[
    list[str] | None,
    _sample("--sample-left", metavar="INPUT", help="A few thousand documents of the left corpus: files, as for "
    "nearkin pairs. The distribution of cosines is then measured instead of assumed. Repeatable."),
]  # fmt: skip
SampleRight = Annotated[
    list[str] | None,
    _sample("--sample-right", metavar="INPUT", help="A few thousand documents of the right corpus. Repeatable."),
]
SampleTable = Annotated[
    Path | None,
    _sample("--table", help="Translation table, if the corpora are in two languages; see nearkin pairs."),
]
SampleLeftLanguage = Annotated[
    str | None,
    _sample("--left-language", metavar="LANG", help="Language of the left sample. [default: the table's first]"),
]
SampleRightLanguage = Annotated[
    str | None,
    _sample("--right-language", metavar="LANG", help="Language of the right sample. [default: the table's second]"),
]
SampleText = Annotated[
    str | None, _sample("--text", metavar="COLUMN", help="Column with the text. [default: guessed and printed]")
]
LeftText = Annotated[str | None, _sample("--left-text", metavar="COLUMN", help="Column with the text, left only.")]
RightText = Annotated[str | None, _sample("--right-text", metavar="COLUMN", help="Column with the text, right only.")]
SearchMethod = Annotated[str | None, _fixed("--method", help="vectors, signatures or window.")]
SignatureBits = Annotated[int | None, _fixed("--bits", help="Length of a signature, a multiple of 8.")]
WithinDistance = Annotated[int | None, _fixed("--distance", help="Maximum number of different bits of a pair.")]
Permutations = Annotated[int | None, _fixed(help="Number of sorted orders of the signatures.")]
Window = Annotated[int | None, _fixed(help="Number of neighbours on each side that a signature is compared with.")]

HELP = """
Predict the search of nearkin pairs: the fastest method that reaches the requested recall, what it finds, and its \
time and memory.

There are three methods: all pairs of vectors, by an inverted index; all pairs of signatures, made by random \
projections; or each signature with its neighbours in sorted orders. The true cosine decides in each case, so \
nothing below the threshold is reported. With samples the plan measures the distribution of cosines; without samples \
it assumes one.

Examples:

  nearkin plan pairs --left 3.44M --right 1.47M --threshold 0.3 --recall 0.9 --machine cores=128

  nearkin plan pairs --left 200k --right 300k --threshold 0.5 --method window

  nearkin plan pairs --left 3.44M --right 1.47M --sample-left some.de.parquet --sample-right some.en.parquet
"""

Sizes = tuple[str | None, str | None]
"""Numbers of documents of the left and the right corpus, as they were given."""


def plan_pairs(
    *,
    left: Left = None,
    right: Right = None,
    threshold: MinCosine = 0.3,
    recall: WantedRecall = 0.9,
    terms: Terms = None,
    machine: MachineText = "cores=1",
    sample_left: SampleLeft = None,
    sample_right: SampleRight = None,
    table: SampleTable = None,
    left_language: SampleLeftLanguage = None,
    right_language: SampleRightLanguage = None,
    text: SampleText = None,
    left_text: LeftText = None,
    right_text: RightText = None,
    reading: FileOptions,
    method: SearchMethod = None,
    bits: SignatureBits = None,
    distance: WithinDistance = None,
    permutations: Permutations = None,
    window: Window = None,
    engine: PlanEngine = "local",
    as_json: Json = False,
) -> None:
    """Plan a search for pairs."""
    from nearkin.cli.plan.arguments import parse_machine
    from nearkin.options.pairs import PairOptions
    from nearkin.workflows.pairing.inputs import PairInput
    from nearkin.workflows.reading.request import ReadingRequest
    from nearkin.workflows.resources import Resources

    check_engine(engine)
    planned_for = parse_machine(machine, Resources(0).n_threads)
    options = PairOptions(
        threshold=threshold, recall=recall, bits=bits, distance=distance, permutations=permutations, window=window,
        method=method or "auto",  # type: ignore[arg-type]  # it checks the method
    )  # fmt: skip
    asked: Question | PairForecast
    if sample_left and sample_right:
        if terms is not None:
            raise ParameterError("--terms is measured on the samples: omit --terms or the samples.")
        samples = PairInput(
            ReadingRequest.of_side("left", sample_left, left_text or text, None, options=reading),
            ReadingRequest.of_side("right", sample_right, right_text or text, None, options=reading),
            table, left_language, right_language,
        )  # fmt: skip
        asked = _forecast(samples, (left, right), options, planned_for, is_quiet=as_json)
    else:
        _check_no_samples(
            sample_left, sample_right, table, left_language, right_language, text, left_text, right_text,
            reading.file_format,
        )  # fmt: skip
        asked = _question((left, right), options, terms, planned_for)
    answer(asked, options, planned_for, engine, as_json=as_json)


def _check_no_samples(
    sample_left: list[str] | None, sample_right: list[str] | None, table: Path | None, *of_samples: str | None
) -> None:
    """Refuse one sample without the other, and options of samples without samples."""
    if sample_left or sample_right or table is not None:
        raise ParameterError("--sample-left and --sample-right are needed together, and --table needs both.")
    if any(one is not None for one in of_samples):
        raise ParameterError(
            "Options for columns, format and languages need samples: add --sample-left and --sample-right."
        )


def _question(counts: Sizes, options: PairOptions, terms: str | None, machine: Machine) -> Question:
    """Make the question to the planner without samples."""
    from nearkin.cli.plan.arguments import parse_count, parse_terms
    from nearkin.planning.pairs.costs import Costs
    from nearkin.workflows.pairing.forecast import question_without_samples

    left, right = counts
    if left is None or right is None:
        raise ParameterError("--left and --right are required: the number of documents of each corpus.")
    given_terms = parse_terms(terms or "100,100")
    return question_without_samples(
        parse_count(left, "--left"),
        parse_count(right, "--right"),
        options,
        terms=given_terms,
        cores=machine.cores,
        costs=None if machine.is_this else Costs().scaled(machine.speed),
    )


def _forecast(
    samples: PairInput, counts: Sizes, options: PairOptions, machine: Machine, *, is_quiet: bool
) -> PairForecast:
    """Plan from samples of the documents."""
    from nearkin.cli.bars import bars_shown
    from nearkin.cli.plan.arguments import parse_count
    from nearkin.planning.pairs.costs import Costs
    from nearkin.workflows.pairing.forecast import forecast
    from nearkin.workflows.resources import Resources

    n_left, n_right = (
        None if count is None else parse_count(count, name) for count, name in zip(counts, ("--left", "--right"))
    )
    with bars_shown(is_quiet=is_quiet) as bars:
        return forecast(
            samples,
            options,
            n_left=n_left,
            n_right=n_right,
            cores=machine.cores,
            costs=None if machine.is_this else Costs().scaled(machine.speed),
            resources=Resources(),
            progress=bars,
        )


def answer(
    asked: Question | PairForecast,
    options: PairOptions,
    machine: Machine,
    engine: str,
    *,
    as_json: bool,
) -> None:
    """Choose the method as nearkin pairs does, by the default costs, and print it with those of the machine."""
    from nearkin.cli.plan.arguments import summary_of
    from nearkin.cli.printing import tell
    from nearkin.planning.pairs.search import PairForecast
    from nearkin.workflows.pairing.forecast import plan_as_stored
    from nearkin.workflows.pairing.on_spark.forecast import cluster_needs
    from nearkin.workflows.pairing.planning import plan_without_documents

    sampled = asked if isinstance(asked, PairForecast) else None
    question = asked.question if isinstance(asked, PairForecast) else asked
    planned = asked.plan if isinstance(asked, PairForecast) else plan_without_documents(asked, options)
    needs = cluster_needs(question, planned.search, planned.prediction) if engine == "spark" else None
    tell(
        lambda: plan_as_stored(question, planned, sampled) | summary_of(needs),
        lambda console: _show(console, question, planned, options, machine, sampled, needs),
        as_json=as_json,
    )


def _show(
    console: Printer,
    question: Question,
    planned: Plan,
    options: PairOptions,
    machine: Machine,
    sampled: PairForecast | None,
    needs: ClusterNeeds | None,
) -> None:
    """Print the question, the methods side by side, then the reason for the choice."""
    from nearkin.cli.plan.arguments import show_needs
    from nearkin.reports.facts.plan import plan_facts
    from nearkin.workflows.pairing.planning import MIN_PAIRS
    from nearkin.workflows.pairing.searching import MAX_PAIRS

    console.print(_ways(question, planned))
    facts = plan_facts(
        question,
        planned,
        sampled,
        speed=None if machine.is_this else machine.speed,
        is_fixed=options.method != "auto" or bool(options.fixed),
        min_pairs=MIN_PAIRS,
        max_pairs=MAX_PAIRS,
    )
    console.say(facts)
    show_needs(console, needs, question.cores, question.n_documents)


def _ways(question: Question, planned: Plan) -> object:
    """Tabulate the methods, one column each, the chosen one first."""
    from nearkin.cli.printing import table
    from nearkin.reports.facts.plan import predicted_recall_text
    from nearkin.reports.quantities import many_text, rough_share_text, size_text, time_text

    ways = ((planned.search, planned.prediction), *planned.alternatives)
    rows = table("", *(search.method for search, _ in ways))
    for column in rows.columns[1:]:
        column.justify = "right"
    rows.columns[1].style = "bold"

    def row(name: str, cells: list[str]) -> None:
        rows.add_row(name, *cells)

    row("recall", [predicted_recall_text(told) for _, told in ways])
    row("bits, distance", [f"{way.bits:,}, {way.distance:,}" if way.bits else "–" for way, _ in ways])
    row("orders × window", [f"{way.permutations:,} × {way.window:,}" if way.window else "–" for way, _ in ways])
    row("comparisons", [many_text(told.n_comparisons) for _, told in ways])
    row("relative cost", [rough_share_text(told.relative_cost) for _, told in ways])
    row("candidates", [many_text(told.n_candidates) if way.bits else "–" for way, told in ways])
    row("pairs found", [many_text(told.n_pairs) for _, told in ways])
    row("memory", [size_text(told.memory_bytes) for _, told in ways])
    if question.cores > 1:
        row("time on one core", [time_text(told.core_s) for _, told in ways])
    row("time", [time_text(told.elapsed_s) for _, told in ways])
    return rows
