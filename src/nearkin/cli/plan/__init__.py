"""``nearkin plan``: predictions of a search, before it is run."""

from __future__ import annotations

from typing import ClassVar

from nearkin.cli.command_line import CommandEntry, CommandLine, LazyGroup, Panels


class PlanCommands(LazyGroup):
    """The commands of ``nearkin plan``."""

    panels: ClassVar[Panels] = {
        "Commands": (
            CommandEntry("pairs", "Predict a search for similar pairs of two corpora", "plan.pairs", work="plan_pairs"),
            CommandEntry("corpus", "Predict a run of nearkin dedup", "plan.corpus", work="plan_corpus"),
        )
    }


plan = CommandLine(
    help="Predict the recall and the cost of a search before it is run.", cls=PlanCommands, no_args_is_help=True
)
