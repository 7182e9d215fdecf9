"""Hot loops: arrays in, arrays out.

Each module here is the front of a family of kernels: typed and documented functions, which check, allocate and choose
the loops. ``compiled`` holds the loops for numba, ``plain`` their twins in Python and numpy, module for module and
function for function. Both give the same bits: the twin is the oracle of the loop, and it serves inputs so small that
starting numba would cost more than the work.
"""
