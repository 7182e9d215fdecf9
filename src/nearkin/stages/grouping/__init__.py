"""Matches → groups."""
