"""Range search over letter counts: the paper's measurements on any corpus.

Source: Michael Sperling, Rong Jin, Illya Rayvych, Jianghong Li, Jinfeng Yi, "Similar Document Detection and Electronic
Discovery: So Many Documents, So Little Time", 2013 (vectors of 62 letter counts, random projections, 13 million
documents). Added: Algorithm 1, which the paper does not measure, the index of Nearkin, the spread over several draws of
the projections, other values of τ, and the same numbers without the query itself.

::

    corpus → letter counts → queries → exhaustive ─┬→ ways (Tables 1 and 2), projections (Figure 2) ─┐
                                                   └→ similarity (Figure 1) ─────────────────────────┴→ claims → page

``ways`` names the compared methods; ``published`` holds the paper's numbers; ``experiment`` chains all steps.
"""
