"""The experiment in the form that `labs.delivery` runs and writes."""

from __future__ import annotations

from labs.delivery import Experiment
from labs.range_search.experiment import run
from labs.range_search.summary import summary
from labs.range_search.tables import tables

EXPERIMENT = Experiment(package=__package__, run=run, tables=tables, summary=summary)
