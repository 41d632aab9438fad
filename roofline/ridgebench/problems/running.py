"""`run --solution`: writes a file of Python that has a solution and its reference as kernels, and runs it by `run --load`."""

import os
import shutil
import sys
from pathlib import Path
from typing import NoReturn, Optional

from ridgebench.base.command_line import CommandError, code_of, fail, what_failed
from ridgebench.base.files import ResultsError, write_at_once
from ridgebench.base.text import one_line
from ridgebench.data.program import require_program
from ridgebench.problems import problem_files
from ridgebench.problems.definition import name_of, read_definition
from ridgebench.problems.importing import import_problem
from ridgebench.problems.problem import checksum, open_problem
from ridgebench.problems.solution import Solution, read_solution

_TEXT = '''"""The solution {name} and the reference of its problem, which `ridgebench run --solution` made."""

from pathlib import Path

from ridgebench.problems import open_solution

_here = Path(__file__).parent
kernels = open_solution(_here, _here / "{folder}", "{checksum}")
'''


def _problem_of(solution: Solution, given: Optional[Path], file: Path) -> Path:
    """The imported folder of a solution's problem: of --problem, of the folder of the solution, or problems/NAME."""
    imported = problem_files.PROBLEMS / name_of(solution.definition)
    beside = file.parent / problem_files.DEFINITION
    if given is None and beside.is_file() and read_definition(beside).name == solution.definition:
        given = file.parent
    if given is None and not imported.is_dir():
        raise ResultsError(f"{file}: its problem {solution.definition!r} is missing; allowed: --problem DIR, or `ridgebench import "
                           f"problem DIR` first, which makes {imported}")
    folder = imported if given is None else import_problem(given)[0]
    found = open_problem(folder).definition.name
    if found != solution.definition:
        raise ResultsError(f"{file}: it solves {solution.definition!r}, and the problem is {found!r}")
    return folder


def _write_sources(folder: Path, file: Path, solution: Solution) -> Path:
    """The file of kernels, and beside it the sources in a folder."""
    name = f"solution_{name_of(solution.name)}"
    if (folder / name / problem_files.SOLUTION).is_file():  # an earlier version, which may have had other sources
        shutil.rmtree(folder / name)
    for path, content in solution.sources.items():
        target = folder / name / path
        target.parent.mkdir(parents=True, exist_ok=True)
        write_at_once(target, content)
    own = folder / name / problem_files.SOLUTION
    write_at_once(own, file.read_bytes())
    module = folder / f"{name}.py"
    write_at_once(module, _TEXT.format(name=name_of(solution.name), folder=name, checksum=checksum(folder, own)))
    return module


def _run(arguments: list[str]) -> NoReturn:
    file, given, others = Path(arguments[0]), Path(arguments[1]) if arguments[1] else None, arguments[2:]
    solution = read_solution(file)
    folder = _problem_of(solution, given, file)
    module = _write_sources(folder, file, solution)
    problem = open_problem(folder)
    if problem.fixed_note:
        print(one_line(f"ridgebench: note: {problem.fixed_note}"), file=sys.stderr, flush=True)
    shapes = [] if any(word.split("=")[0] in ("--shape", "--shapes") for word in others) else [
        f"--shape={problem.shape(workload)}" for workload in problem.workloads]
    command = [require_program("run"), "run", f"--load={module.resolve()}:kernels", *shapes, *others]
    os.execv(command[0], command)


def main(arguments: list[str]) -> int:
    """SOLUTION, PROBLEM or an empty text, and the other arguments of `run`, as which errors are told."""
    if len(arguments) < 2:
        raise CommandError("solution is what `ridgebench run --solution FILE` starts")
    try:
        _run(arguments)
    except (CommandError, OSError) as error:
        return fail(what_failed(error), code_of(error), "ridgebench")
