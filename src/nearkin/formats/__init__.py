"""How files are written and read back, whatever is in them: Parquet, CSV, and files that notice a changed bit."""
