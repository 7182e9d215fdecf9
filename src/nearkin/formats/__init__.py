"""Files and their formats: Parquet, CSV, and files that detect a changed bit."""
