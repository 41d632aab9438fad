"""Data frames and Parquet files, by whichever library is installed."""

import io
from pathlib import Path
from typing import Any, Optional, Union

from ridgebench.base.command_line import CommandError

from .results import table_of
from .table import Table

_PANDAS = {"string": "string", "number": "float64", "integer": "Int64", "boolean": "boolean"}


def _pandas_frame(table: Table) -> Any:
    import pandas

    return pandas.DataFrame({name: pandas.array([row[name] for row in table.rows], dtype=_PANDAS[kind])
                             for name, kind in table.columns.items()})


def _polars_frame(table: Table) -> Any:
    import polars

    types = {"string": polars.String, "number": polars.Float64, "integer": polars.Int64, "boolean": polars.Boolean}
    return polars.DataFrame({name: [row[name] for row in table.rows] for name in table.columns},
                            schema={name: types[kind] for name, kind in table.columns.items()})


def load(*folders: Union[str, Path], rows: Optional[str] = None) -> Any:
    """All rows of results directories as a data frame of pandas or, without it, of polars.

    One line per row; the names of the columns end in their unit (SI base units). Of folders of a step, `rows` chooses
    "parts" (the default), "step" or "memory". Raises CommandError, whose text is one line, for results that cannot be
    read or are given twice, and without both libraries.
    """
    table = table_of(list(map(Path, folders)), rows)
    for make in (_pandas_frame, _polars_frame):
        try:
            return make(table)
        except ModuleNotFoundError:
            continue
    raise CommandError("a data frame needs pandas or polars; `pip install pandas` installs one")


def parquet(table: Table) -> bytes:
    """A Parquet file. Raises CommandError without pyarrow and polars."""
    file = io.BytesIO()
    try:
        import pyarrow
        from pyarrow.parquet import write_table
    except ModuleNotFoundError:
        try:
            _polars_frame(table).write_parquet(file)
            return file.getvalue()
        except ModuleNotFoundError:
            raise CommandError("Parquet needs pyarrow or polars; `pip install pyarrow` installs one") from None
    types = {"string": pyarrow.string(), "number": pyarrow.float64(), "integer": pyarrow.int64(),
             "boolean": pyarrow.bool_()}
    arrays = [pyarrow.array([row[name] for row in table.rows], types[kind]) for name, kind in table.columns.items()]
    write_table(pyarrow.table(arrays, names=list(table.columns)), file)
    return file.getvalue()
