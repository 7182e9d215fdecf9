"""Choice of a search for pairs of two collections, with its predicted recall and cost."""
