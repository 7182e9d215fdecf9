"""The twins of the compiled kernels in Python and numpy: slow, plain, and equal bit for bit."""
