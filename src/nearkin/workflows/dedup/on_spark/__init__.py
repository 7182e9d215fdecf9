"""`nearkin dedup` on a cluster: the same steps on the same batches, each where its documents are.

::

    inputs → reading: spool files, several of them a partition
           → texts (exact copies meet by their digests) → plan (a sample, on the driver)
           → linking (keys of a band meet) → verifying (shingle sets travel to one text of each pair)
           → grouping (matches of a component meet) → job: the result, as one machine has it

Tasks exchange blocks of numbers (`engines.spark.layout`); texts stay in the spool, which every executor can
read.
"""
