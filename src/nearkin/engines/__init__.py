"""Engines that run batches, without algorithms of their own."""
