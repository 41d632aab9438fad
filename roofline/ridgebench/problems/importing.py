"""`import problem`: copies a definition and its workloads to a folder, with a file of Python that has the operation."""

import argparse
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Optional

from ridgebench.base.command_line import OK, CommandError, Parser
from ridgebench.base.files import ResultsError
from ridgebench.base.text import one_line
from ridgebench.base.units import counted
from ridgebench.problems import problem_files
from ridgebench.problems.definition import Definition, name_of, read_definition
from ridgebench.problems.work import flops_of, other_count
from ridgebench.problems.workload import Workload, read_workloads

_MODULE = "problem.py"
_TEXT = '''"""The operation {name}, which `ridgebench import problem` made of definition.json and workload.jsonl.

`reference` is the reference as a kernel: ridgebench run --load {module}:reference --shape {shape}
Own kernels: from problem import operation
"""

from pathlib import Path

from ridgebench.problems import open_problem

problem = open_problem(Path(__file__).parent)
operation = problem.operation
reference = problem.reference_kernel
'''


def _copy_tensors(workloads: list[Workload], root: Path, folder: Path) -> None:
    paths = {entry["path"] for workload in workloads for entry in workload.inputs.values() if entry["type"] == "safetensors"}
    for path in sorted(paths):
        source, target = root / path, folder / path
        if Path(path).is_absolute() or ".." in Path(path).parts or not source.is_file():
            raise ResultsError(f"{root}: the file {path!r} of a workload; allowed: a file below that folder")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


def _copy(found: problem_files.ProblemFiles, definition: Definition, workloads: list[Workload], folder: Path) -> None:
    """Writes a folder that is the whole problem. Raises ResultsError."""
    for source, name in ((found.definition, problem_files.DEFINITION), (found.workloads, problem_files.WORKLOADS)):
        shutil.copyfile(source, folder / name)
    _copy_tensors(workloads, found.root, folder)
    from ridgebench.problems.problem import open_problem

    problem = open_problem(folder)
    operation = problem.operation.name  # raises where it cannot be made
    (folder / _MODULE).write_text(_TEXT.format(name=operation, module=_MODULE, shape=problem.shape(workloads[0])), "utf-8")


def import_problem(given: Path, out: Optional[Path] = None, root: Optional[Path] = None) -> tuple[Path, Definition, list[Workload]]:
    """Writes the folder, by default problems/NAME, or nothing. Raises ResultsError."""
    found = problem_files.find(given, root)
    definition = read_definition(found.definition)
    workloads = read_workloads(found.workloads, definition)
    folder = out or problem_files.PROBLEMS / name_of(definition.name)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir()) and not (folder / _MODULE).is_file()):
        raise ResultsError(f"{folder} holds other files; allowed: a new folder, or one of `import problem`")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder.parent, prefix=".importing") as fresh:
        _copy(found, definition, workloads, Path(fresh))
        shutil.copytree(fresh, folder, dirs_exist_ok=True)
    return folder, definition, workloads


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = Parser(prog="import problem", description="Make an operation of a problem of FlashInfer-trace or SOL-ExecBench.")
    parser.add_argument("problem", type=Path, metavar="DIR",
                        help="a folder with definition.json and workload.jsonl, or the file of a definition of FlashInfer-trace")
    parser.add_argument("--root", type=Path, metavar="DIR",
                        help="where paths of safetensors begin; default: DIR, or the folder above definitions/")
    parser.add_argument("-o", "--out", type=Path, metavar="DIR", help="default: problems/NAME, of the definition's name")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    options = _parse(arguments)
    try:
        folder, definition, workloads = import_problem(options.problem, options.out, options.root)
    except OSError as error:
        raise CommandError(f"{error.filename}: {error.strerror}") from None
    flops = flops_of(definition)
    if other := other_count(definition, definition.sizes(workloads[0].axes)):
        print(one_line(f"import: note: flops of {definition.name} are {other[0]:g} at its first workload, and the suite counts {other[1]:g} "
                       f"for {definition.op_type}"), file=sys.stderr)
    from ridgebench.problems.problem import open_problem

    if fixed := open_problem(folder).fixed_note:
        print(one_line(f"import: note: {fixed}"), file=sys.stderr)
    work = f"FLOPs {flops}" if flops else "FLOPs unknown: its rows have the roof of the memory only"
    print(one_line(f"operation {name_of(definition.name)} in {folder}; {counted(len(workloads), 'workload')}; {work}"))
    return OK
