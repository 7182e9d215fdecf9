"""All signatures within a Hamming distance, exactly."""
