"""Deduplication of a corpus.

::

    inputs → reading → spool → corpus (exact copies) → sampling, planning
           → searching (sketch, link; band_search or sample_search) → verifying → grouping → outcome
           → tables, manifest, reporting

``job`` chains these steps; ``files`` runs the job into a directory; ``options`` holds the user's options.
"""
