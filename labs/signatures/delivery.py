"""The experiment in the form that `labs.delivery` runs and writes."""

from __future__ import annotations

from labs.delivery import Experiment
from labs.signatures.experiment import run
from labs.signatures.summary import summary
from labs.signatures.tables import tables

EXPERIMENT = Experiment(package=__package__, run=run, tables=tables, summary=summary)
