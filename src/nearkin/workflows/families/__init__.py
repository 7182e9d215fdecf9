"""Families of near-duplicates, with the relation of each member to its principal.

::

    dedup's job → originals of the families, read again → differences and relation → table, page

In `nearkin.stages.differences`, ``wording`` splits a text, ``aligning`` finds where two texts differ, ``particulars``
recognises names, numbers, dates and blanks, ``relations`` holds the rules, and ``relating`` applies them to a member.
"""
