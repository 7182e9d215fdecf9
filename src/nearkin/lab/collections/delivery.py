"""The experiment in the form that `nearkin.lab.delivery` runs and writes."""

from __future__ import annotations

from nearkin.lab.collections.experiment import run
from nearkin.lab.collections.summary import summary
from nearkin.lab.collections.tables import tables
from nearkin.lab.delivery import Experiment

EXPERIMENT = Experiment(package=__package__, run=run, tables=tables, summary=summary)
