"""Reads what other benchmarks and profilers wrote, and makes records of it: external, unverified."""
