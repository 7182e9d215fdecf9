"""The command line: every command and its place in the list of commands."""

from __future__ import annotations

from typing import Annotated

import typer

from nearkin._version import __version__
from nearkin.cli import (
    add,
    align,
    audit,
    check,
    collection_info,
    compare,
    conflicts,
    dedup,
    families,
    groups,
    neighbours,
    pairs,
    regroup,
    sign,
    similar,
    sql,
    statistics,
)
from nearkin.cli.command_line import CommandLine
from nearkin.cli.lab import cross_lingual, minhash, range_search, signatures, similarity_index
from nearkin.cli.plan import corpus as plan_corpus
from nearkin.cli.plan import pairs as plan_pairs
from nearkin.cli.plan import paper as plan_paper

app = CommandLine(
    name="nearkin",
    help="Find documents that say nearly the same thing. What is reported is verified; what may have been missed is "
    "measured.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
plan = CommandLine(help="Predict what a search will find and take, before it is run.", no_args_is_help=True)
lab = CommandLine(help="Repeat the experiments of the published systems on your own documents.", no_args_is_help=True)


def _version(is_wanted: bool) -> None:
    if is_wanted:
        typer.echo(f"nearkin {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


# clean a corpus
app.command(help=dedup.HELP)(dedup.dedup)
app.command(help=regroup.HELP)(regroup.regroup)
app.command(help=families.HELP)(families.families)
# collections
app.command(help=add.ADD_HELP)(add.add)
app.command(help=add.REMOVE_HELP)(add.remove)
app.command(help=check.HELP)(check.check)
app.command(help=similar.HELP)(similar.similar)
app.command(help=compare.COMPARE_HELP)(compare.compare)
app.command(help=compare.VERSIONS_HELP)(compare.versions)
app.command(help=groups.HELP)(groups.groups)
app.command(help=conflicts.HELP)(conflicts.conflicts)
app.command(help=collection_info.INFO_HELP)(collection_info.info)
app.command(help=collection_info.WAVES_HELP)(collection_info.waves)
app.command(help=collection_info.VERIFY_HELP)(collection_info.verify)
app.add_typer(sql.sql, name="sql")
# signatures
app.command(help=statistics.HELP)(statistics.statistics)
app.command(help=sign.HELP)(sign.sign)
app.command(help=neighbours.HELP)(neighbours.neighbours)
# two languages
app.add_typer(align.align, name="align")
app.command(help=pairs.HELP)(pairs.pairs)
# measure
plan.command("pairs", help=plan_pairs.HELP)(plan_pairs.plan_pairs)
plan.command("corpus", help=plan_corpus.HELP)(plan_corpus.plan_corpus)
plan.command("paper", help=plan_paper.HELP)(plan_paper.plan_paper)
app.add_typer(plan, name="plan")
app.command(help=audit.HELP)(audit.audit)
lab.command(help=minhash.HELP)(minhash.minhash)
lab.command("range-search", help=range_search.HELP)(range_search.range_search)
lab.command(help=signatures.HELP)(signatures.signatures)
lab.command("similarity-index", help=similarity_index.HELP)(similarity_index.similarity_index)
lab.command("cross-lingual", help=cross_lingual.HELP)(cross_lingual.cross_lingual)
app.add_typer(lab, name="lab")
