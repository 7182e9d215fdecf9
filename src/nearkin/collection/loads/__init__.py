"""Documents on their way into a collection: checked, compared with stored texts, and written in one transaction."""
