"""The jobs as Python functions, which take documents in files or in memory and return records with Arrow tables."""
