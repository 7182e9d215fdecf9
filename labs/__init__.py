"""Published experiments, repeated on any corpus: a package and a command, ``python -m labs.NAME``, for each.

An experiment consists of its measurements (``experiment.py``: ``run`` and its results), its files (``tables.py``), its
page (``figures.py``, ``page.py`` and the template), and ``delivery.py``, which names them for `labs.experiment`.
"""
