"""Models that predict the recall and the cost of a search before it runs."""
