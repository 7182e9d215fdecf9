"""What a collection stores of documents and texts, and tables derived from them."""
