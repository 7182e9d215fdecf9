"""Two texts → where they differ, word by word; bounded, and it says so where a bound was hit."""
