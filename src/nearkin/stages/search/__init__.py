"""Signatures or sets → candidates: which pairs are worth an exact look."""
