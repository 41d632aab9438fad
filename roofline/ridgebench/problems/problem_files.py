"""Where the files of a problem lie, in the layouts of both projects and in the folder that `import problem` writes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from ridgebench.base.files import ResultsError

DEFINITION = "definition.json"
WORKLOADS = "workload.jsonl"
SOLUTION = "solution.json"  # in a folder of the solution's own
PROBLEMS = Path("problems")  # below the current folder


@dataclass(frozen=True)
class ProblemFiles:
    """`root`: where paths of safetensors begin."""

    definition: Path
    workloads: Path
    root: Path


def find(given: Path, root: Optional[Path] = None) -> ProblemFiles:
    """The files of a folder with definition.json and workload.jsonl, or those of DATA/definitions/TYPE/NAME.json and
    DATA/workloads/TYPE/NAME.jsonl. `root`: where paths of safetensors begin, if not there. Raises ResultsError.
    """
    if given.is_dir():
        return ProblemFiles(given / DEFINITION, given / WORKLOADS, root or given)
    if not given.is_file() or given.parent.parent.name != "definitions":
        raise ResultsError(f"{given}: no problem; allowed: a folder with {DEFINITION} and {WORKLOADS}, or the file of a definition in "
                           "DATA/definitions/TYPE/")
    data = given.parent.parent.parent
    return ProblemFiles(given, data / "workloads" / given.parent.name / f"{given.stem}.jsonl", root or data)
