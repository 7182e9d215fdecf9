"""``python -m labs.signatures``."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence

from labs.experiment import add_corpus, command, conduct, print_table, reading
from labs.signatures.experiment import SignatureResults
from labs.signatures.methods import BITS, MINHASH, PUBLISHED_KINDS
from labs.signatures.page import EXPERIMENT
from nearkin.nouns import counted
from nearkin.workflows.reading.request import ReadingRequest

DESCRIPTION = """
Measure signatures of 16 to 1,024 bits on the first documents of your corpus: how well they separate documents,
whether near signatures have similar texts, what they cost, how many documents weighted signatures need, and which
signature to choose.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure signatures of bits."""
    parser = command("signatures", DESCRIPTION)
    add_corpus(parser)
    parser.add_argument("--documents", type=int, default=2000, help="documents to use; every pair is compared")
    return conduct(parser, arguments, EXPERIMENT, _plan, _show)


def _plan(options: Namespace) -> tuple[ReadingRequest, int]:
    return reading(options), options.documents


def _show(results: SignatureResults) -> None:
    """Print distinct signatures and F1 by bits, then the recommendation."""
    kinds = (*PUBLISHED_KINDS, MINHASH)
    rows = []
    for bits in BITS:
        cells = []
        for kind in kinds:
            f1 = results.retrieval(kind.key, bits).best.f1
            cells.append(f"{results.unique(kind.key, bits).n_unique:,} {'–' if f1 != f1 else f'{f1:.2f}'}")
        rows.append((f"{bits:,}", *cells))
    print("Distinct signatures, and F1 at the best distance:")
    print_table(("bits", *(kind.label for kind in kinds)), rows)
    if results.documents.n_without_text:
        print(f"Omitted: {counted(results.documents.n_without_text, 'document')} without text.")
    print()
    for sentence in results.advice.sentences:
        print(sentence)


if __name__ == "__main__":
    sys.exit(main())
