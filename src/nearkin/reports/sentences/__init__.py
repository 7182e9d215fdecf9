"""What answers say in words, without colours: for the terminal and for pages."""
