"""Comparison of all that is stored with what it is made from."""
