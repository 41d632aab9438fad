"""docs/lecture.ipynb: its code runs cell after cell, and each cell holds what it printed.

nbformat 4.5, of which this module reads `cells`, their `cell_type`, `source` and `outputs`. Figures are not stored.
"""

import contextlib
import io
import json
from pathlib import Path
from typing import Any

from ridgebench.base.errors import CommandError

NOTEBOOK = Path("docs/lecture.ipynb")


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def _printed(source: str, names: dict[str, Any]) -> str:
    """The output of a cell's code; `names` are those of the cells before it, and get its own."""
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        exec(compile(source, str(NOTEBOOK), "exec"), names)  # code of this repository
    return shown.getvalue()


def executed(root: Path) -> str:
    """The notebook with the outputs of today. Raises CommandError for a cell that fails."""
    notebook = json.loads((root / NOTEBOOK).read_text("utf-8"))
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(code_cells(notebook), 1):
        try:
            text = _printed("".join(cell["source"]), names)
        except Exception as error:
            raise CommandError(f"{NOTEBOOK}: code cell {number}: {type(error).__name__}: {error}") from None
        cell["outputs"] = [{"name": "stdout", "output_type": "stream", "text": text.splitlines(keepends=True)}] if text else []
        cell["execution_count"] = number
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
