"""Sentences of answers, without colours, for the terminal and for pages."""
