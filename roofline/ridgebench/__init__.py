"""Reads the results that ridgebench wrote: figures, comparisons, tables, counters. It measures nothing."""

from typing import Any


def load(*folders: Any) -> Any:
    """All rows of results directories as a data frame (pandas, else polars); docs/exchange.md describes the columns."""
    from ridgebench.export import frame

    return frame.load(*folders)
