"""The experiment in the form that `labs.delivery` runs and writes."""

from __future__ import annotations

from labs.cross_lingual.experiment import run
from labs.cross_lingual.summary import summary
from labs.cross_lingual.tables import tables
from labs.delivery import Experiment

EXPERIMENT = Experiment(package=__package__, run=run, tables=tables, summary=summary)
