"""Families of near-duplicates, with the relation of each member to its principal.

::

    dedup's job → originals of the families, read again → differences and relation → table, page
"""
