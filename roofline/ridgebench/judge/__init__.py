"""Comparison of two binaries, of stored runs, and of a machine with its own past."""
