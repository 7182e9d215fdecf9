"""How a search for pairs of two collections goes, what it finds and what it costs."""
