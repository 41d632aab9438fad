"""Runs a command: `python3 -m ridgebench COMMAND [ARGUMENTS]`, with roofline/ in PYTHONPATH."""

import gc
import sys
from importlib import import_module

from ridgebench.base import installed, memory, streams
from ridgebench.base import interruption
from ridgebench.base.command_line import INTERRUPTED, TREE, USAGE, fail

# Command: its module, whose main() takes the arguments and returns the exit code; what it does. The build reads this
# table for the binary, which runs these commands as `ridgebench COMMAND`.
COMMANDS = {
    "plot": ("figures.plot", "Draw the figures of a results directory"),
    "report": ("figures.html.cli", "Make one HTML page of runs and data sheets"),
    "slides": ("figures.slides.slides", "Draw a lecture's slides, of a data sheet or of a run"),
    "exercises": ("exercises.cli", "Print exercises, their answers, or a student's marks"),
    "playground": ("figures.playground.cli", "Make one HTML page that answers what-if questions"),
    "compare": ("judge.compare_cli", "Describe two stored results"),
    "gate": ("judge.gate_cli", "Judge whether a change made any benchmark slower"),
    "baseline": ("judge.past.baseline", "Judge a machine by its own past"),
    "fleet": ("fleet.cli", "Measure the GPUs of many nodes, and find the odd ones"),
    "roofline-energy": ("judge.power_limits_cli", "Find the power limit with the most FLOP per joule"),
    "import": ("exchange.importers.cli", "Make a results directory of another tool's file"),
    "export": ("exchange.export.cli", "Write results as CSV, Markdown, Parquet or metrics"),
    "schema": ("exchange.schemas", "Print the JSON schema of a file or of an answer"),
    "counters": ("exchange.counters", "Measure the rows of a run again under Nsight Compute"),
    "stream": ("exchange.stream", "Put a host's DRAM ceilings next to STREAM"),
}
# Commands for the scripts of a checkout and for the program.
_SCRIPTED = {
    "serve": ("kernels.serve", "Run the kernels of a file of Python for the program"),
    "solution": ("problems.running", "Make kernels of a solution and run them, for `ridgebench run --solution`"),
    "tree": ("command_tree", "Print the commands with their options as JSON"),
    "tables": ("pages.tables", "Fill the tables and pictures of the pages; write llms.txt and SKILL.md"),
    "site": ("pages.site", "Build the pages as a site"),
    "summary": ("gpu_check.summary", "Print the short table of a run on a GPU"),
    "rivals": ("gpu_check.rivals", "Print hand-written matrix products next to the library's"),
    "pytorch": ("gpu_check.pytorch", "Measure copy and cuBLAS products again by PyTorch"),
}
_ALL = {**COMMANDS, **_SCRIPTED}
_OF_GATE = ("compare", "gate", "baseline", "fleet")  # need the extra `gate` of pyproject.toml; the others need `plot`
_HELP = "usage: python3 -m ridgebench COMMAND [ARGUMENTS]; COMMAND --help lists its options\n" + "".join(
    f"  {name:<17}{what}\n" for name, (_, what) in _ALL.items()
)


def main(arguments: list[str]) -> int:
    """Runs the command that the first argument names; returns its exit code."""
    streams.prepare()
    memory.prepare()
    name = arguments[0] if arguments else ""
    if name not in _ALL and TREE.is_dir():
        return _of_tree(arguments)
    if name in ("-h", "--help"):
        print(_HELP, end="")
        return streams.finish(0, "ridgebench")
    if name not in _ALL:
        return fail(f"unknown command '{name}'; allowed: {', '.join(_ALL)}", USAGE, "ridgebench")
    gc.disable()  # commands are short, and no record refers to itself
    return streams.finish(run(name, arguments[1:]), name)


def start(arguments: list[str]) -> int:
    """main() of a process of its own, which signals interrupt."""
    try:
        interruption.listen()
        code = main(arguments)
        interruption.ignore()
    except KeyboardInterrupt:  # before the command began, or while it said how it ended
        code = fail("interrupted", INTERRUPTED, "".join(arguments[:1]) or "ridgebench")
    return code


def _of_tree(arguments: list[str]) -> int:
    """Answers for the wheel's tree: its place for CMake's find_package(), and every command of the program."""
    if arguments != ["--cmake-prefix"]:
        installed.execute(TREE / "bin" / "ridgebench", arguments)
    print(TREE)
    return streams.finish(0, "ridgebench")


def run(name: str, arguments: list[str]) -> int:
    """Runs a command; every failure is one line and its exit code."""
    try:
        return import_module(f"ridgebench.{_ALL[name][0]}").main(arguments)
    except ModuleNotFoundError as error:
        if interruption.came():
            return fail("interrupted", INTERRUPTED, name)
        if (error.name or "").startswith("ridgebench"):
            raise
        extra = "gate" if name in _OF_GATE else "plot"
        missing = f"{sys.executable} lacks {error.name}; `pip install 'ridgebench[{extra}]'` or, in a checkout, scripts/setup.sh installs it"
        return fail(missing, USAGE, name)
    except streams.ENDING as error:
        return streams.ended(error, name)
    except SystemExit as stop:  # of argparse, after its line or its help
        return stop.code if isinstance(stop.code, int) else fail(str(stop.code), USAGE, name) if stop.code else 0
    except Exception as error:
        if interruption.came():
            return fail("interrupted", INTERRUPTED, name)
        if sys.flags.dev_mode:  # python3 -X dev: for whoever looks for the cause
            raise
        return streams.unexpected(error, name)


if __name__ == "__main__":
    sys.exit(start(sys.argv[1:]))
