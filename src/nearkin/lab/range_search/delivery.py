"""The experiment in the form that `nearkin.lab.delivery` runs and writes."""

from __future__ import annotations

from nearkin.lab.delivery import Experiment
from nearkin.lab.range_search.experiment import run
from nearkin.lab.range_search.summary import summary
from nearkin.lab.range_search.tables import tables

EXPERIMENT = Experiment(package=__package__, run=run, tables=tables, summary=summary)
