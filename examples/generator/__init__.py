"""The parts of generate.py: prose with slots, contracts, mail threads, similarity from its definition."""
