"""What whoever has only SQL can ask of a collection: queries, functions of PostgreSQL, a copy for DuckDB."""
