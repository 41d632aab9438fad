"""Reads the results that ridgebench wrote: figures, comparisons, tables, counters. It measures nothing."""
