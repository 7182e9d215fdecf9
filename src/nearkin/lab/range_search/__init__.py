"""Similar documents by range search over letter counts, as the paper measured it, on any corpus.

Source: Michael Sperling, Rong Jin, Illya Rayvych, Jianghong Li, Jinfeng Yi, "Similar Document Detection and Electronic
Discovery: So Many Documents, So Little Time", 2013 (vectors of 62 letter counts, random projections, 13 million
documents). Added to it: Algorithm 1, which the paper does not measure, the index of Nearkin, the spread over several
draws of the projections, other values of τ, and the same numbers without the query itself.

::

    corpus → letter counts → queries → exhaustive ─┬→ ways (Tables 1 and 2), projections (Figure 2) ─┐
                                                   └→ similarity (Figure 1) ─────────────────────────┴→ claims → page

``ways`` names what is compared; ``published`` holds the paper's numbers; ``experiment`` chains all.
"""
