"""Similar documents in two languages: the article's measurements on any documents with translations.

Source: Ferhan Ture, Tamer Elsayed, Jimmy Lin, "No free lunch: brute force vs. locality-sensitive hashing for
cross-lingual pairwise similarity", SIGIR 2011. Added: the effect of each step of the projection, the effect of true
cosines of candidates on recall, and the calibrated model of the search.

::

    documents → projecting ─┬→ finding (Figure 1, ranks, variants) ─┐
                            ├→ examples (Table 3) ──────────────────┤
                            ├→ signature_error (Table 1) ───────────┼→ tables, page
                            ├→ signature_recall (Table 2) ──────────┤
                            └→ windows (Figures 5 to 8) ────────────┘

``published`` holds the article's numbers; ``experiment`` chains all steps.
"""
