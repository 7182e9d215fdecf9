"""`nearkin pairs` on a cluster: the same pairs as on one machine.

::

    inputs → reading (an input a task; the driver numbers the words of all, weighs and plans)
           → vector_files (mapped by every task) → signing
               → window: sorting (each order of bits is cut into chunks) → comparing (chunk by chunk)
               → signatures, vectors: tiles (a part of the left side beside one of the right)
           → meeting (the pairs of a document on the left) → searching: the pairs, as one machine has them

Source: Ture, Elsayed, Lin, SIGIR 2011 (see `nearkin.stages.search.sliding_window`), section 4.3.2.
"""
