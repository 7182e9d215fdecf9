"""Answers as lists of labels and numbers."""
