"""Report pages of finished runs, and the sentences that commands print."""
