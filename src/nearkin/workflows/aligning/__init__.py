"""Sentence pairs or a dictionary → translation table."""
