"""From files into a collection, and what is written about one."""
