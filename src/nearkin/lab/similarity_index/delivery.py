"""The experiment in the form that `nearkin.lab.delivery` runs and writes."""

from __future__ import annotations

from nearkin.lab.delivery import Experiment
from nearkin.lab.similarity_index.experiment import run
from nearkin.lab.similarity_index.summary import summary
from nearkin.lab.similarity_index.tables import tables

EXPERIMENT = Experiment(package=__package__, run=run, tables=tables, summary=summary)
