"""Bit signatures and their quality: the measurements of the article on due diligence, on any corpus.

Source: Adam Roegiest and Edward Lee, "On Tradeoffs Between Document Signature Methods for a Legal Due Diligence
Corpus", SIGIR 2019. Added: whether signatures find similar documents, and how many documents their statistics need.

::

    corpus → signing ─┬→ uniqueness ──────────────────────────────┬→ results → advice, shape → tables, page
             (truth) ─┼→ retrieval, confusion, drift ─────────────┤
                      └→ timing, paper_way ───────────────────────┘

``methods`` names what is compared; ``published`` holds the article's numbers; ``experiment`` chains all steps.
"""
