"""The experiment in the form that `nearkin.lab.delivery` runs and writes."""

from __future__ import annotations

from nearkin.lab.cross_lingual.experiment import run
from nearkin.lab.cross_lingual.summary import summary
from nearkin.lab.cross_lingual.tables import tables
from nearkin.lab.delivery import Experiment

EXPERIMENT = Experiment(package=__package__, run=run, tables=tables, summary=summary)
