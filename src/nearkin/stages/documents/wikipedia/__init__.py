"""Dumps of Wikipedia: extraction of articles as texts, and copies with only the kept pages."""
