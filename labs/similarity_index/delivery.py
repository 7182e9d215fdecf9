"""The experiment in the form that `labs.delivery` runs and writes."""

from __future__ import annotations

from labs.delivery import Experiment
from labs.similarity_index.experiment import run
from labs.similarity_index.summary import summary
from labs.similarity_index.tables import tables

EXPERIMENT = Experiment(package=__package__, run=run, tables=tables, summary=summary)
