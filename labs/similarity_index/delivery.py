"""The experiment in the form that `labs.experiment` runs and writes."""

from __future__ import annotations

from labs.experiment import Experiment
from labs.similarity_index.experiment import run
from labs.similarity_index.tables import summary, tables

EXPERIMENT = Experiment(package=__package__, run=run, tables=tables, summary=summary)
