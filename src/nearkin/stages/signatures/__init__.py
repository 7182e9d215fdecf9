"""Signatures of fixed size, made from features."""
