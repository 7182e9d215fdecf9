"""Twins of the compiled kernels in Python and numpy: slow, simple, and equal bit for bit."""
