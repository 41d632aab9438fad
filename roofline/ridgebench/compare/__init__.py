"""Comparing two binaries, or runs that are stored; see scripts/compare.py."""
