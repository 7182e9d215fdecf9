"""Published experiments, repeated on any corpus: a package and a command for each.

An experiment consists of its measurements (``experiment.py``: ``run`` and its results), its files (``tables.py``,
``summary.py``), its page (``figures.py``, ``page.py`` and the template), and ``delivery.py``, which names them for
`labs.experiment`. Its command in ``nearkin.cli.lab`` has options of its own and prints the results.
"""
