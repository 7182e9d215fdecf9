"""Comparison of all stored data with its sources."""
