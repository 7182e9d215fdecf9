"""Access to a collection in plain SQL: queries, functions of PostgreSQL, a copy for DuckDB."""
