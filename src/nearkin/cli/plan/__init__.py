"""``nearkin plan``: what a search will find and what it will take, before it is run."""
