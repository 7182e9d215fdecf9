"""Families of near-duplicates, with what each member has to do with its principal.

::

    dedup's job → originals of the families, read again → lines → words → differences → relation → table, page

``wording`` takes a text apart, ``alignment`` finds where two texts differ, ``particulars`` knows a name, a number, a
date and a blank, ``relations`` holds the rules; ``comparing`` does it for all members, and ``files`` runs the whole.
"""
