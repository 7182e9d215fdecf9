"""``nearkin lab``: the experiments of the published systems, a command for each."""

from __future__ import annotations

from typing import ClassVar

from nearkin.cli.command_line import CommandLine
from nearkin.cli.lazy_group import CommandEntry, LazyGroup, Panels


class LabCommands(LazyGroup):
    """The commands of ``nearkin lab``."""

    panels: ClassVar[Panels] = {
        "Experiments": (
            CommandEntry("minhash", "Measure shingles, MinHash and bands", "lab.minhash"),
            CommandEntry("range-search", "Measure range search by letter counts", "lab.range_search"),
            CommandEntry("signatures", "Measure bit signatures of 16 to 1,024 bits", "lab.signatures"),
            CommandEntry("similarity-index", "Measure one number per document as an index", "lab.similarity_index"),
            CommandEntry("collections", "Measure groups, versions and conflicts of a collection", "lab.collections"),
            CommandEntry("cross-lingual", "Measure the search for documents in two languages", "lab.cross_lingual"),
        )
    }


lab = CommandLine(
    help="Repeat the experiments of the published systems on your own documents.", cls=LabCommands, no_args_is_help=True
)
