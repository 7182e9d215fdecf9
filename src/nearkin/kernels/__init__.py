"""Hot loops: arrays in, arrays out.

Each module here is the front of a family of kernels: typed, documented functions that check, allocate and choose the
loops. ``compiled`` holds the loops for numba, ``plain`` their twins in Python and numpy, with the same modules and
functions. Both give the same bits: tests compare each loop with its twin, which also serves inputs so small that
starting numba would take longer than the work.
"""
