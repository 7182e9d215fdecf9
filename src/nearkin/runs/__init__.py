"""Files of a run: its directory, the cost of its stages, its progress, the texts it works on."""
