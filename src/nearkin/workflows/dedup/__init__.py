"""Deduplication of a corpus.

::

    inputs → reading → spool → corpus (exact copies) → sampling, planning
           → searching (keys, links) → verifying → grouping → outcome
           → tables, manifest, reporting
"""
