"""Users of a service that other machines reach: their file, passwords, tokens, sessions and sign-in."""
