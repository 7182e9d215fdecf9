"""Choice of a search for pairs of two corpora, with its predicted recall and cost."""
