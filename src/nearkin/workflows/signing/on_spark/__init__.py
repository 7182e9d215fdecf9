"""`nearkin sign` on a cluster: each input is read, counted and signed by one task, as on one machine.

::

    inputs → counting, where the method needs statistics: features of a range of hashes meet, and are added up
           → signing: a part of the file of signatures for each input, in the folder of work
           → job: the parts in reading order, as one machine has them

Only `nearkin.engines.spark` speaks to Spark. Texts stay in the files, which every executor sees.
"""
