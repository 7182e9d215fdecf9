"""Candidates → matches: the exact similarity of each pair."""
