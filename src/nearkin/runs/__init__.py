"""A run on disk: its directory, its stages and their cost, its progress, the texts it works on."""
