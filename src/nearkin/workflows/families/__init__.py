"""Families of near-duplicates, with the relation of each member to its principal.

::

    dedup's job → originals of the families, read again → lines → words → differences → relation → table, page

``wording`` splits a text, ``alignment`` finds where two texts differ, ``particulars`` recognises names, numbers, dates
and blanks, ``relations`` holds the rules; ``comparing`` applies them to all members, and ``files`` runs everything.
"""
