"""Dumps of Wikipedia: their pages, as texts, and kept pages written again."""
