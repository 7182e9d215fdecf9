"""Results that consist of Arrow tables: as data frames, and in notebooks."""
