"""Exact search for all signatures within a Hamming distance."""
