"""The numba kernels: the only place that imports numba."""
