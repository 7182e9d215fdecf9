"""Where batches run. No algorithm lives here."""
