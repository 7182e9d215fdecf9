"""Comparison of two documents, for a page or a terminal."""
