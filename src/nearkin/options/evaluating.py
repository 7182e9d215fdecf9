"""Options of an evaluation."""

from __future__ import annotations

from pathlib import Path

from nearkin.options.declared import Options, Same, option


class EvaluateJob(Options):
    """Options of ``nearkin evaluate``."""

    out: Same[Path | str | None] = option(kind=Path, panel="Output", help="Page (.html) with the table and the figure.")
    overwrite: Same[bool] = option(False, panel="Output", needs="out", help="Replace the file of --out.")
