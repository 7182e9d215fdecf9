"""``nearkin lab signatures``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearkin.cli.lab.experiment_command import PlannedExperiment, experiment_command, result_table
from nearkin.cli.options.definitions import Corpus, Documents, Out
from nearkin.cli.options.inputs import ReadingOptions
from nearkin.nouns import counted

if TYPE_CHECKING:
    from nearkin.cli.printing import Printer
    from nearkin.lab.signatures.experiment import SignatureResults

HELP = """
Measure signatures of 16 to 1,024 bits on the first documents of your corpus: how well they separate documents, \
whether near signatures have similar texts, what they cost, how many documents weighted signatures need, and which \
signature to choose.

[bold]Examples[/]

  nearkin lab signatures contracts/ --out lab

  nearkin lab signatures news.parquet --text body --documents 20000 --out lab
"""


@experiment_command
def signatures(
    inputs: Corpus,
    out: Out,
    *,
    reading: ReadingOptions,
    documents: Documents = 2000,
) -> PlannedExperiment:
    """Measure signatures of bits."""
    from nearkin.lab.signatures.delivery import EXPERIMENT

    return PlannedExperiment(EXPERIMENT, (reading.request(inputs), documents), out, _show)


def _show(console: Printer, results: SignatureResults) -> None:
    """Print distinct signatures and F1 by bits, then the recommendation."""
    from nearkin.lab.signatures.methods import BITS, MINHASH, PUBLISHED_KINDS

    kinds = (*PUBLISHED_KINDS, MINHASH)
    table = result_table(("bits", *(kind.label for kind in kinds)), is_narrow=False)
    for bits in BITS:
        cells = []
        for kind in kinds:
            f1 = results.retrieval(kind.key, bits).best.f1
            cells.append(f"{results.unique(kind.key, bits).n_unique:,} {'–' if f1 != f1 else f'{f1:.2f}'}")
        table.add_row(f"{bits:,}", *cells)
    console.print("Distinct signatures, and F1 at the best distance:", highlight=False)
    console.print(table)
    if results.documents.n_without_text:
        without = counted(results.documents.n_without_text, "document")
        console.print(f"Omitted: {without} without text.", highlight=False)
    console.print()
    for sentence in results.advice.sentences:
        console.print(sentence, highlight=False, markup=False)
