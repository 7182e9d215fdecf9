"""Differences between two texts, word by word; with limits, and a flag if a limit was reached."""
