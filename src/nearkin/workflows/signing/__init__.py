"""Documents → signatures of bits, and signatures → neighbours."""
