"""Candidates from signatures or sets: pairs worth an exact comparison."""
