"""``nearkin plan``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nearkin.cli.engine_options import check_engine
from nearkin.cli.options import JsonSummary, Overwrite
from nearkin.cli.reading_rules import (
    LARGEST_DOCUMENT,
    MOST_UNREADABLE,
    SKIP_DOCUMENTS,
    MaxDocumentSize,
    MaxUnreadable,
    OnError,
    rules_of,
)

if TYPE_CHECKING:
    from nearkin.cli.plan_words import Machine
    from nearkin.planning.pair_forecast import PairForecast
    from nearkin.planning.pair_search import Question
    from nearkin.workflows.pairing.inputs import PairInput
    from nearkin.workflows.pairing.options import PairOptions

_asked = partial(typer.Option, rich_help_panel="What is searched", show_default=False)
_fixed = partial(typer.Option, rich_help_panel="What is fixed", show_default=False)
_told = partial(typer.Option, rich_help_panel="Output", show_default=False)

_sample = partial(typer.Option, rich_help_panel="Documents to calibrate by", show_default=False)

_CORPUS = "A corpus to clean, instead"
_OF_BOTH = {
    "--threshold", "--recall", "--text", "--machine", "--engine", "--json",
    "--on-error", "--max-unreadable", "--max-document-size",
}  # fmt: skip
_corpus = partial(typer.Option, rich_help_panel=_CORPUS, show_default=False)

Left = Annotated[
    str | None,
    _asked(help="Documents of the one collection: 3.44M, 200k or 1,470,000. [dim]default: as in the sample[/]"),
]
Right = Annotated[str | None, _asked(help="Documents of the other.")]
SampleLeft = Annotated[
    list[str] | None,
    _sample("--sample-left", metavar="INPUT", help="Documents of the one collection, or some thousands of them: files, "
            "as for nearkin pairs. How alike they are, and how they crowd, is measured instead of assumed."),
]  # fmt: skip
SampleRight = Annotated[list[str] | None, _sample("--sample-right", metavar="INPUT", help="Likewise of the other.")]
SampleTable = Annotated[
    Path | None, _sample("--table", help="Translation table, where the two are in two languages; see nearkin pairs.")
]
SampleLeftLanguage = Annotated[
    str | None,
    _sample("--left-language", metavar="LANG", help="Language of the left sample. [dim]default: the table's first[/]"),
]
SampleRightLanguage = Annotated[
    str | None,
    _sample(
        "--right-language", metavar="LANG", help="Language of the right sample. [dim]default: the table's second[/]"
    ),
]
SampleText = Annotated[str | None, _sample("--text", help="Column with the text. [dim]default: guessed and printed[/]")]
LeftText = Annotated[str | None, _sample("--left-text", metavar="COLUMN", help="In the left sample alone.")]
RightText = Annotated[str | None, _sample("--right-text", metavar="COLUMN", help="In the right sample alone.")]
LeastCosine = Annotated[
    float | None,
    _asked(help="Least cosine of a pair, above 0 and up to 1. [dim]default: 0.3; of a corpus, as in nearkin dedup[/]"),
]
WantedRecall = Annotated[
    float | None,
    _asked(
        help="Share of the pairs from the threshold on that is to be found. [dim]default: 0.9; of a corpus, as in "
        "nearkin dedup[/]"
    ),
]
Terms = Annotated[
    str | None,
    _asked(help="Mean number of terms of a vector: LEFT,RIGHT. [dim]default: 100,100, or as in the sample[/]"),
]
MachineText = Annotated[
    str,
    _asked(
        "--machine",
        help="cores=N,speed=X, with X times the speed of the machine on which costs were measured. this: costs are "
        "measured here, which takes a second.",
        show_default=True,
    ),
]
SearchMethod = Annotated[str | None, _fixed("--method", help="vectors, signatures or window.")]
SignatureBits = Annotated[int | None, _fixed("--bits", help="Length of a signature, a multiple of 8.")]
WithinDistance = Annotated[int | None, _fixed("--distance", help="Bits in which the signatures of a pair may differ.")]
Permutations = Annotated[int | None, _fixed(help="Sorted orders of the signatures.")]
Window = Annotated[int | None, _fixed(help="Signatures before and after it that each is compared with.")]
CorpusSize = Annotated[
    str | None, _corpus("--documents", help="Documents of the corpus: 1B. [dim]default: as in the sample[/]")
]
CorpusSample = Annotated[
    list[str] | None,
    _corpus(
        "--sample",
        metavar="INPUT",
        help="Some thousands of documents, drawn from all of it: files, as for nearkin dedup.",
    ),
]
CorpusShingle = Annotated[str | None, _corpus("--shingle", help="As in nearkin dedup.")]
CorpusMeasure = Annotated[str | None, _corpus("--measure", help="As in nearkin dedup.")]
PlanEngine = Annotated[
    str,
    _told(
        "--engine",
        help="local, or spark: also what passes between the machines of a Spark cluster with the cores of --machine, "
        "and what memory and disks they need.",
        show_default=True,
    ),
]
Figure = Annotated[
    Path | None,
    _told("--figure", help="SVG file for a chart of recall against cost; needs the extra report."),
]
Paper = Annotated[
    bool,
    _told("--paper", help="The model at the parameters of the published experiment, beside what the article tells."),
]

HELP = """
Plan a search of two collections for pairs of documents whose vectors have at least some cosine, before it is run: \
which way is the quickest that finds the wanted share of them, what it will find and what it takes.

There are three ways: every pair of vectors, by an inverted index; signatures of random projections, each compared \
with every other; signatures, each compared with those near it in sorted orders. After signatures the true cosine \
decides, so nothing under the threshold is reported. Without a look at documents the model assumes how cosines are \
spread; with some, it measures that.

With [bold]--sample[/], and without two sides, it is the search of nearkin dedup that is planned, for a corpus like \
the sample.

[bold]Examples[/]

  nearkin plan --left 3.44M --right 1.47M --threshold 0.3 --recall 0.9 --machine cores=128

  nearkin plan --left 200k --right 300k --threshold 0.5 --method window --figure plan.svg

  nearkin plan --left 3.44M --right 1.47M --sample-left some.de.parquet --sample-right some.en.parquet

  nearkin plan --paper

  nearkin plan --documents 1B --sample some.parquet --engine spark --machine cores=512
"""

Sizes = tuple[str | None, str | None]
"""Documents of both collections, as they were given."""


def plan(
    context: typer.Context,
    left: Left = None,
    right: Right = None,
    threshold: LeastCosine = None,
    recall: WantedRecall = None,
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
    method: SearchMethod = None,
    bits: SignatureBits = None,
    distance: WithinDistance = None,
    permutations: Permutations = None,
    window: Window = None,
    documents: CorpusSize = None,
    corpus_sample: CorpusSample = None,
    shingle: CorpusShingle = None,
    measure: CorpusMeasure = None,
    on_error: OnError = SKIP_DOCUMENTS,
    max_unreadable: MaxUnreadable = MOST_UNREADABLE,
    max_document_size: MaxDocumentSize = LARGEST_DOCUMENT,
    engine: PlanEngine = "local",
    figure: Figure = None,
    paper: Paper = False,
    as_json: JsonSummary = False,
    overwrite: Overwrite = False,
) -> None:
    """Plan a search for pairs, or of a corpus."""
    from nearkin.cli.plan_pairs import plan_pairs
    from nearkin.cli.plan_words import parse_machine
    from nearkin.workflows.pairing.inputs import PairInput
    from nearkin.workflows.pairing.options import PairOptions
    from nearkin.workflows.reading.request import ReadingRequest
    from nearkin.workflows.resources import Resources

    check_engine(engine)
    rules = rules_of(on_error, max_unreadable, max_document_size)
    given, wanted = _given(context), parse_machine(machine, Resources(0).n_threads)
    if _is_of_corpus(given):
        from nearkin.cli.plan_corpus import Chosen, plan_corpus

        if "--machine" in given and (engine == "local" or wanted.speed != 1):
            raise typer.BadParameter(
                "Of a corpus --machine is cores=N, and says how large the cluster of --engine spark is."
            )
        options = Chosen(threshold=threshold, recall=recall, shingle=shingle, measure=measure)
        plan_corpus(documents, corpus_sample or (), text, options, rules, wanted, engine, as_json=as_json)
        return
    if figure is not None:
        _check_figure(figure, overwrite=overwrite)
    if paper:
        if left is not None or right is not None or engine != "local":
            raise typer.BadParameter(
                "--paper has documents and machines of its own: omit --left, --right and --engine."
            )
        from nearkin.cli.plan_paper import tell_paper

        tell_paper(figure, as_json=as_json)
        return
    chosen = PairOptions(
        threshold=0.3 if threshold is None else threshold, recall=0.9 if recall is None else recall,
        bits=bits, distance=distance, permutations=permutations, window=window,
        method=method or "auto",  # type: ignore[arg-type]  # it checks the method
    )  # fmt: skip
    if not (sample_left or sample_right or table):
        plan_pairs(_question((left, right), chosen, terms, wanted), chosen, wanted, figure, engine, as_json=as_json)
        return
    if not (sample_left and sample_right):
        raise typer.BadParameter("--sample-left and --sample-right are needed together, and --table needs both.")
    if terms is not None:
        raise typer.BadParameter("--terms is measured on the samples: omit --terms or the samples.")
    samples = PairInput(
        ReadingRequest(sample_left, text=left_text or text, rules=rules),
        ReadingRequest(sample_right, text=right_text or text, rules=rules), table, left_language, right_language,
    )  # fmt: skip
    sampled = _forecast(samples, (left, right), chosen, wanted, is_quiet=as_json)
    plan_pairs(sampled, chosen, wanted, figure, engine, as_json=as_json)


def _given(context: typer.Context) -> dict[str, str | None]:
    """The options that were given, and where --help shows them."""
    found = {}
    for option in context.command.params:
        source = context.get_parameter_source(str(option.name))
        if source is not None and source.name == "COMMANDLINE":
            found[option.opts[0]] = getattr(option, "rich_help_panel", None)
    return found


def _is_of_corpus(given: Mapping[str, str | None]) -> bool:
    """Which of both is planned; options of both do not go together."""
    corpus = [name for name, panel in given.items() if panel == _CORPUS]
    pairs = [name for name in given if name not in corpus and name not in _OF_BOTH]
    if pairs and corpus:
        raise typer.BadParameter(f"{corpus[0]} is of a corpus to clean, {pairs[0]} of pairs: plan one at a time.")
    return bool(corpus)


def _check_figure(figure: Path, *, overwrite: bool) -> None:
    from nearkin.cli.result_file import check_free

    if figure.suffix.lower() != ".svg":
        raise typer.BadParameter(f"--figure is an SVG file: its name must end in .svg. Got {figure.name!r} instead.")
    check_free(figure, overwrite=overwrite, inputs=[], option="--figure")


def _question(counts: Sizes, options: PairOptions, terms: str | None, machine: Machine) -> Question:
    """What is asked of the planner where there are no samples to go by."""
    from nearkin.cli.plan_words import parse_count, parse_terms
    from nearkin.planning.pair_costs import Costs
    from nearkin.planning.pair_measuring import measured_costs
    from nearkin.planning.pair_search import Question

    left, right = counts
    if left is None or right is None:
        raise typer.BadParameter("--left and --right are needed: how many documents each collection has.")
    left_terms, right_terms = parse_terms(terms or "100,100")
    is_this = machine.is_this
    costs = measured_costs(left_terms=left_terms, right_terms=right_terms) if is_this else Costs().scaled(machine.speed)
    n_left, n_right = parse_count(left, "--left"), parse_count(right, "--right")
    return Question(
        n_left, n_right, options.threshold, options.recall, machine.cores, left_terms, right_terms, costs=costs
    )


def _forecast(
    samples: PairInput, counts: Sizes, options: PairOptions, machine: Machine, *, is_quiet: bool
) -> PairForecast:
    """The plan by a sample of the documents."""
    from nearkin.cli.bars import bars_shown
    from nearkin.cli.plan_words import parse_count
    from nearkin.planning.pair_costs import Costs
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
