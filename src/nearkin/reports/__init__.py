"""The page that a finished run leaves for people: figures, differences, and the words around them."""
