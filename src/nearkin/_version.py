"""The version of Nearkin, and that of a library which is checked at run time, each in one place."""

__version__ = "0.1.0"
OLDEST_PYARROW = 26
"""Minimum version of pyarrow; before, its Unicode normalisation composed nothing, and equal texts differed."""
