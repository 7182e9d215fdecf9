"""The experiments of the published systems, repeated on any corpus: a package for each, a command for each.

An experiment is what it measures (``experiment.py``: ``run`` and its results), what it writes (``tables.py``,
``summary.py``), its page (``figures.py``, ``page.py`` and the template), and ``delivery.py``, which names them for
`nearkin.lab.delivery`. Its command in ``nearkin.cli.lab`` has its own options and prints its results.
"""
