"""Two documents compared, shown as a page or in a terminal."""
