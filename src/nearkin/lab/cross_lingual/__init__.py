"""Similar documents of two languages, as the article measured them, on any documents and their translations.

Source: Ferhan Ture, Tamer Elsayed, Jimmy Lin, "No free lunch: brute force vs. locality-sensitive hashing for
cross-lingual pairwise similarity", SIGIR 2011. Added to it: what each step of the projection is worth, what the true
cosine of candidates does to recall, and the calibrated model of the search.

::

    documents → projecting ─┬→ finding (Figure 1, ranks, variants) ─┐
                            ├→ examples (Table 3) ──────────────────┤
                            ├→ signature_error (Table 1) ───────────┼→ tables, page
                            ├→ signature_recall (Table 2) ──────────┤
                            └→ windows (Figures 5 to 8) ────────────┘

``published`` holds what the article prints; ``experiment`` chains all.
"""
