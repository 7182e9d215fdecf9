"""Documents → bit signatures, and signatures → neighbours."""
