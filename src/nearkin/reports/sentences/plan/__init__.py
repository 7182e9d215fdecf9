"""Sentences of ``nearkin plan``."""
