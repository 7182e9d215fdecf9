"""Passages that stand in several places of a corpus.

::

    documents → spool of texts → words with their bounds → fingerprints → windows around repeated fingerprints
              → classes of equal windows, compared as text → occurrences of passages → tables, page, cut corpus
"""
