"""The experiment in the form that `nearkin.lab.delivery` runs and writes."""

from __future__ import annotations

from nearkin.lab.delivery import Experiment
from nearkin.lab.minhash.experiment import run
from nearkin.lab.minhash.tables import summary, tables

EXPERIMENT = Experiment(package=__package__, run=run, tables=tables, summary=summary, lists_tables=False)
