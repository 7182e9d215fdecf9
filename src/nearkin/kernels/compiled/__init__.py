"""Kernels compiled by numba; no other package imports numba."""
