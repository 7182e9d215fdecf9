"""One number per document, as the paper measured it, and how good one number can be.

Source: M. Scott Roth, "Identifying similar documents with a similarity index", Armedia (fifteen files, 14 methods over
three streams, the score of every run). Added to it: the same runs with other multipliers than that of Java's hash,
which tell a method from luck; and thousands of documents of known families, searched by a similarity index and by
better numbers in a column.

::

    folder → zones ─┬→ runs (scores, Table 9, Figure 3) ─┐
                    └→ chance (other multipliers) ───────┤
    families → truths → columns (precision, recall) ─────┼→ page
                      └→ walk (why) ─────────────────────┘

``published`` holds what the paper prints; ``experiment`` chains all.
"""
