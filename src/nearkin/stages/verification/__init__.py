"""Matches from candidates: the exact similarity of each pair."""
