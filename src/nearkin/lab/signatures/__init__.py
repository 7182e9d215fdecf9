"""Signatures of bits and what they are worth, as the article on due diligence measured them, on any corpus.

Source: Adam Roegiest and Edward Lee, "On Tradeoffs Between Document Signature Methods for a Legal Due Diligence
Corpus", SIGIR 2019. Added to it: whether signatures find what is similar, and how many documents their statistics need.

::

    corpus → signing ─┬→ uniqueness ──────────────────────────────┬→ results → advice, shape → tables, page
             (truth) ─┼→ retrieval, confusion, drift ─────────────┤
                      └→ timing, paper_way ───────────────────────┘

``methods`` names what is compared; ``published`` holds the article's numbers; ``experiment`` chains all.
"""
