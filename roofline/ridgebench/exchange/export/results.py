"""Opens the results that are exported: folders of runs, or folders of steps."""

from pathlib import Path
from typing import Any, Iterable, Optional, Union

from ridgebench.base.files import ResultsError
from ridgebench.data.each_once import each_once
from ridgebench.data.records import Run
from ridgebench.data.steps import StepFolder, holds_step, load_steps

from . import step_tables, table
from .table import Table


def _refuse_equal(keys: Iterable[tuple[str, str]]) -> None:
    listed = list(keys)
    if len(set(listed)) < len(listed):
        raise ResultsError("two of the folders have one name and rows in common; allowed: folders of different names")


def _opened(folders: list[Path]) -> Union[list[Run], list[StepFolder]]:
    """The folders, of one kind. Raises ResultsError."""
    steps = sum(map(holds_step, folders))
    if steps not in (0, len(folders)):
        raise ResultsError("some folders hold a step, and others do not; allowed: folders of one kind")
    if steps:
        found = each_once(folders, load_steps)
        _refuse_equal((one.folder.resolve().name, step.id) for one in found for step in one.steps)
        return found
    runs = each_once(folders, table.load)
    _refuse_equal((run.folder.resolve().name, row.id) for run in runs for row in run.rows)
    return runs


def runs(folders: list[Path]) -> list[Run]:
    """The runs. Raises ResultsError, also for a folder of a step."""
    found = _opened(folders)
    for one in found:
        if isinstance(one, StepFolder):
            raise ResultsError(f"{one.folder} holds a step; allowed: a folder of a run")
    return [one for one in found if isinstance(one, Run)]


def rows_of_steps(folders: list[Path]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The lines of the steps and those of their parts. Raises ResultsError."""
    found = [one for one in _opened(folders) if isinstance(one, StepFolder)]
    return step_tables.table_of(found, "step").rows, step_tables.table_of(found, "parts").rows


def table_of(folders: list[Path], rows: Optional[str]) -> Table:
    """The table of the folders; `rows` chooses that of steps, by default the one of parts. Raises ResultsError."""
    allowed = ", ".join(step_tables.ROWS)
    if rows is not None and rows not in step_tables.ROWS:
        raise ResultsError(f"rows {rows!r}; allowed: {allowed}, of a step")
    found = _opened(folders)
    steps = [one for one in found if isinstance(one, StepFolder)]
    if steps:
        table_of_steps = step_tables.table_of(steps, rows or "parts")
        if not table_of_steps.rows:
            raise ResultsError(f"{steps[0].folder}: the step was not measured and has no parts; allowed: rows step or memory")
        return table_of_steps
    if rows is not None:
        raise ResultsError(f"rows {rows!r} are those of a step; allowed: a folder that `ridgebench step` wrote")
    return table.table_of([one for one in found if isinstance(one, Run)])
