"""Clean a corpus of copies.

::

    inputs → reading → spool → corpus (exact copies) → sampling, planning → searching (sketch, link) → verifying → grouping → outcome
                                                                                                      → tables, manifest, reporting

``job`` chains these steps; ``files`` runs the job on files into a directory, ``tables_in_memory`` on tables; ``options`` is what a user may
choose.
"""
