"""The version of Nearkin."""

__version__ = "0.1.0"
