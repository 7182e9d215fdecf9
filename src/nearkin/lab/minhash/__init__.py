"""Shingles, MinHash and bands, as the article measured them, on any corpus.

Source: Matti Lyra, "Deduplication: near-duplicate documents with character shingles, MinHash and locality-sensitive
hashing" (the article that goes with the library mattilyra/LSH), measured there on the Reuters corpus RCV1.

::

    corpus (the first documents) → truth (every pair, exactly) → banding, copies, lengths → results → tables, page

``sentences`` needs no corpus; ``published`` holds the article's numbers; ``experiment`` chains all.
"""
