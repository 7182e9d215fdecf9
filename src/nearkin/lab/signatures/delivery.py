"""The experiment in the form that `nearkin.lab.delivery` runs and writes."""

from __future__ import annotations

from nearkin.lab.delivery import Experiment
from nearkin.lab.signatures.experiment import run
from nearkin.lab.signatures.summary import summary
from nearkin.lab.signatures.tables import tables

EXPERIMENT = Experiment(package=__package__, run=run, tables=tables, summary=summary)
