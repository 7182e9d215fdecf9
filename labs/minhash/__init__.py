"""Shingles, MinHash and bands: the article's measurements on any corpus.

Source: Matti Lyra's article on finding near-duplicates with character shingles, MinHash and locality-sensitive hashing,
measured on the Reuters corpus RCV1; it goes with the library mattilyra/LSH.

::

    corpus (the first documents) → truth (every pair, exactly) → banding, copies, lengths → results → tables, page

``sentences`` needs no corpus; ``published`` holds the article's numbers; ``experiment`` chains all steps.
"""
