"""The first bytes of tables."""

PARQUET = b"PAR1"
ARROW_FILE = b"ARROW1\0\0"
ARROW_STREAM = b"\xff\xff\xff\xff"
