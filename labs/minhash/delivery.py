"""The experiment in the form that `labs.delivery` runs and writes."""

from __future__ import annotations

from labs.delivery import Experiment
from labs.minhash.experiment import run
from labs.minhash.tables import summary, tables

EXPERIMENT = Experiment(package=__package__, run=run, tables=tables, summary=summary, lists_tables=False)
