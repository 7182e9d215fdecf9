"""``nearkin plan``: predictions of a search, before it is run."""

from nearkin.cli.command_line import CommandEntry, CommandGroup

plan = CommandGroup(
    "plan",
    "Predict the recall and the cost of a search before it is run.",
    {
        "Commands": (
            CommandEntry("pairs", "Predict a search for similar pairs of two corpora", "plan.pairs", work="plan_pairs"),
            CommandEntry("corpus", "Predict a run of nearkin dedup", "plan.corpus", work="plan_corpus"),
        )
    },
)
