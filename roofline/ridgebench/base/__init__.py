"""Shared by every part of the package: options, exit codes, files, texts, units, processes."""
