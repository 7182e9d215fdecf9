"""``nearkin pairs``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nearkin.cli.engine_options import EngineOptions
from nearkin.cli.options import Json, Out, Overwrite, Quiet, Report, Resume, Threads
from nearkin.cli.pair_options import BesideOptions, Left, PairChoices, Right, SidesOptions, Terms
from nearkin.nouns import agreeing, counted

if TYPE_CHECKING:
    from rich.console import Console

HELP = """
Find the similar pairs of two collections, in one language or in two: documents and their translations, articles about \
the same thing. Every reported pair has its exact cosine, and the words that add most to it. The search is planned \
from a sample of the documents, and the expected recall is printed before it begins.

With --table, the documents of one side are translated word by word by a translation table, which \
[bold]nearkin align[/] learns. Swapping left and right gives the same pairs, except with --top.

[bold]Examples[/]

  nearkin pairs --left news.de.parquet --right news.en.parquet --table de-en.parquet --out pairs

  nearkin pairs --left docs.parquet --left-text de --right docs.parquet --right-text en --table de-en.parquet \
--known same-ids --top 5 --out pairs

  nearkin pairs --left dewiki.xml.bz2 --right enwiki.xml.bz2 --table de-en.parquet --interwiki langlinks.sql.gz \
--out pairs

  nearkin pairs --left mine.jsonl --right theirs.jsonl --threshold 0.6 --out pairs

  nearkin pairs --left de.parquet --right en.parquet --table de-en.parquet --out /shared/pairs --engine spark \
--master spark://host:7077
"""


def pairs(
    left: Left,
    right: Right,
    out: Out,
    *,
    sides: SidesOptions,
    chosen: PairChoices,
    besides: BesideOptions,
    terms: Terms = 5,
    report: Report = True,
    as_json: Json = False,
    quiet: Quiet = False,
    resume: Resume = False,
    overwrite: Overwrite = False,
    threads: Threads = 0,
    engine: EngineOptions,
) -> None:
    """Find similar pairs."""
    from nearkin.cli.bars import bars_shown
    from nearkin.cli.printing import tell, warn_of_report
    from nearkin.workflows.pairing.job import pair_files
    from nearkin.workflows.resources import Resources

    given, options, where = sides.given(left, right), chosen.options(terms), engine.chosen()
    beside = besides.beside(sides.encoding, sides.rules)
    with bars_shown(is_quiet=quiet or as_json) as bars:
        manifest = pair_files(
            given, out, options, beside, resume=resume, overwrite=overwrite,
            report=report, resources=Resources(threads), progress=bars, engine=where,
        )  # fmt: skip
    warn_of_report(manifest, is_silent=quiet or as_json)
    tell(lambda: manifest, lambda console: _show(console, manifest, out), as_json=as_json, quiet=quiet)


def _show(console: Console, manifest: Mapping[str, Any], out: Path) -> None:
    """How many, what became of both sides, what was known, where to look."""
    from nearkin.cli.printing import shown, table
    from nearkin.cli.summary import warn_of_damage

    counts, predicted = manifest["counts"], manifest["plan"]["predicted"]
    rows = table("documents", "with a pair", "compared", "too few terms", "unreadable", "side", numbers=5)
    for side in ("left", "right"):
        facts = manifest[side]
        rows.add_row(
            f"{facts['n_documents']:,}", f"{counts[f'{side}_with_pairs']:,}", f"{facts['n_vectors']:,}",
            f"{facts['n_few_terms']:,}", f"{facts['n_unreadable']:,}", side,
        )  # fmt: skip
    console.print(rows)
    for side in ("left", "right"):
        warn_of_damage(console, manifest[side]["damaged_files"], f"--{side} has")
    top = manifest["parameters"]["top"]
    console.print(
        f"[bold]{counted(counts['pairs'], 'pair')}[/] with a cosine of {manifest['parameters']['threshold']} or more"
        + ("" if not top else f", the best {'one' if top == 1 else top} of each document on the left"),
        highlight=False,
    )
    if not counts["pairs"]:
        console.print(f"[yellow]{_why_none(manifest)}", highlight=False, soft_wrap=True)
    low, high = predicted["recall_low"], predicted["recall_high"]
    band = share_words(low) if high - low < 0.0005 else f"{share_words(low)} to {share_words(high)}"
    console.print(
        f"Search: {manifest['plan']['in_words']}; predicted recall {band}. Measure it: nearkin audit {shown(out)}",
        highlight=False,
        soft_wrap=True,
    )
    rare = " and ".join(
        f"{manifest[side]['n_rare_words']:,} of {manifest[side]['n_words']:,} on the {side}"
        for side in ("left", "right")
    )
    least = manifest["parameters"]["least_occurrences"]
    seldom = "only once" if least == 2 else f"less than {least} times"
    if least > 1:
        console.print(f"Left out are words that occur {seldom} in their collection: {rare}", highlight=False)
    if not manifest["plan"]["reaches_recall"]:
        wanted = manifest["parameters"]["recall"]
        console.print(f"[yellow]That is less than the {wanted:.1%} asked for: with what is fixed, it comes no nearer")
    _show_ways(console, manifest)
    _show_known(console, manifest, out)
    total_s = sum(stage["elapsed_s"] for stage in manifest["stages"])
    peak = max((stage["peak_memory_bytes"] for stage in manifest["stages"]), default=0)
    console.print(f"{total_s:.1f} s, at most {peak / 2**20:,.0f} MiB of memory", highlight=False)
    start = out / "report.html" if (out / "report.html").exists() else out / "pairs.tsv"
    console.print(f"Results in [bold]{shown(out)}[/]; start with {shown(start)}", highlight=False, soft_wrap=True)


def share_words(share: float) -> str:
    """A share in per cent with one digit, rounded down: not quite all is never all."""
    return f"{math.floor(round(1000 * share, 6)) / 10:.1f}%"


def _why_none(manifest: Mapping[str, Any]) -> str:
    """What may be wrong where no pair was found."""
    from nearkin.cli.printing import shown

    for side in ("left", "right"):
        facts = manifest[side]
        if facts["n_few_terms"] > facts["n_documents"] / 2:
            column = facts["inputs"][0]["source"]["text"]
            asked = f": is {shown(column)!r} the right column?" if column else ""
            return f"Most documents on the {side} have too few words to be compared{asked}"
    usual = " Translations often have a cosine of 0.3 to 0.6." if manifest["table"] else ""
    return f"No two are that much alike.{usual} --threshold may be lower."


def _show_ways(console: Console, manifest: Mapping[str, Any]) -> None:
    told = {"whole": "by the table", "stem": "by stem", "itself": "unchanged", "parts": "by parts"}
    for side in ("left", "right"):
        if ways := manifest[side]["ways"]:
            translated = ", ".join(f"{ways[way]:.1%} {words}" for way, words in told.items())
            console.print(
                f"{side.title()}-side words translated: {translated}; {ways['unknown']:.1%} untranslated",
                highlight=False,
            )


def _show_known(console: Console, manifest: Mapping[str, Any], out: Path) -> None:
    from nearkin.cli.printing import shown
    from nearkin.reports.quantities import share_text

    if known := manifest.get("known"):
        n_unknown = known["n_told"] - known["n_known"]
        unknown = f"{counted(n_unknown, 'more pair')} of documents that are not in the input; " if n_unknown else ""
        found = f"{known['n_found']:,} of {counted(known['n_known'], 'known pair')} found"
        by, mean = shown(known["told_by"]), known["mean_cosine"] or 0.0
        recall = share_words(known["recall"])
        console.print(
            f"[bold]{found}[/] ({unknown}{recall}, by {by}), {known['n_first']:,} of them as the most similar one; "
            f"mean cosine of known pairs {share_text(mean)}. Each of them is in {shown(out)}/known.tsv",
            highlight=False,
            soft_wrap=True,
        )
        if known["precision_of_all_pairs"] is not None:
            precision, n_pairs = share_words(known["precision_of_all_pairs"]), known["n_pairs"]
            precise = f"Precision: {precision} of all {counted(n_pairs, 'pair')} {agreeing(n_pairs, 'is', 'are')} known"
            if known["precision_of_known_left"] is not None:
                precision, n_pairs = share_words(known["precision_of_known_left"]), known["n_pairs_of_known_left"]
                precise += f"; {precision} of the {counted(n_pairs, 'pair')} of left documents with a known partner"
            console.print(precise, highlight=False, soft_wrap=True)
    if compared := manifest.get("translated"):
        console.print(
            f"{counted(compared['n_pairs'], 'pair')} {shown(compared['pairs'])}: mean cosine "
            f"{share_text(compared['mean_by_table'] or 0.0)} by the table, "
            f"{share_text(compared['mean_by_translation'] or 0.0)} by the translation",
            highlight=False,
        )
