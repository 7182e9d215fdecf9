"""Pairs of sentences, or a dictionary → a translation table."""
