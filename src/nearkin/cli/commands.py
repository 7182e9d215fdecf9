"""Every command, registered by being imported."""

from __future__ import annotations

from nearkin.cli import dedup, families, lab_minhash, lab_signatures, neighbours, regroup, sign, statistics  # noqa: F401
from nearkin.cli.shell import app, lab

app.add_typer(lab, name="lab")
