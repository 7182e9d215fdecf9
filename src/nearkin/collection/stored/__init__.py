"""Documents and texts as a collection stores them, and tables derived from them."""
