"""The experiment in the form that `labs.delivery` runs and writes."""

from __future__ import annotations

from labs.collections.experiment import run
from labs.collections.summary import summary
from labs.collections.tables import tables
from labs.delivery import Experiment

EXPERIMENT = Experiment(package=__package__, run=run, tables=tables, summary=summary)
