"""One number per document: the paper's measurements, and limits of such a number.

Source: M. Scott Roth, "Identifying similar documents with a similarity index", Armedia (fifteen files, 14 methods over
three streams, the score of every run). Added: the same runs with other multipliers than that of Java's hash, which
distinguish a method from chance; and thousands of documents of known families, searched by a similarity index and by
better numbers in a column.

::

    folder → zones ─┬→ runs (scores, Table 9, Figure 3) ─┐
                    └→ chance (other multipliers) ───────┤
    families → truths → columns (precision, recall) ─────┼→ page
                      └→ walk (why) ─────────────────────┘

``published`` holds the paper's numbers; ``experiment`` chains all steps.
"""
