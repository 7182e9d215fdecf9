"""Hot loops: arrays in, arrays out.

``compiled`` holds the loops for numba, ``plain`` their twins in Python and numpy. Both give the same bits; the twins
process inputs too small to start numba for.
"""
