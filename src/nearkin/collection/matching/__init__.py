"""Pairs of stored texts that match, by wording or by letters, and their connection to groups."""
