"""Where the files of a problem lie, in the layouts of both projects and in the folder that `import problem` writes."""

from dataclasses import dataclass
from pathlib import Path

from ridgebench.base.files import ResultsError

DEFINITION = "definition.json"
WORKLOADS = "workload.jsonl"
SOLUTION = "solution.json"  # in a folder of the solution's own
PROBLEMS = Path("problems")  # below the current folder


@dataclass(frozen=True)
class _Places:
    """`root`: where paths of safetensors begin."""

    definition: Path
    workloads: Path
    root: Path


def find(given: Path) -> _Places:
    """The files of a folder with definition.json and workload.jsonl, or those of DATA/definitions/TYPE/NAME.json and
    DATA/workloads/TYPE/NAME.jsonl. Raises ResultsError.
    """
    if given.is_dir():
        return _Places(given / DEFINITION, given / WORKLOADS, given)
    if not given.is_file() or given.parent.parent.name != "definitions":
        raise ResultsError(f"{given}: no problem; allowed: a folder with {DEFINITION} and {WORKLOADS}, or the file of a definition in "
                           "DATA/definitions/TYPE/")
    root = given.parent.parent.parent
    return _Places(given, root / "workloads" / given.parent.name / f"{given.stem}.jsonl", root)
