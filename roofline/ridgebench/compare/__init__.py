"""Comparing two binaries, or runs that are stored; see cli.py."""
