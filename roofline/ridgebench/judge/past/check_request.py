"""The words of `ridgebench run` that measure rows of a baseline again, whatever options its runs had.

The ids name operation, technique, format, shape and regime. A size that the profile lacks is passed by --shapes, so that
a baseline of --shape, --shapes or --model is measured as its runs were.
"""

import argparse
from pathlib import Path
from typing import NamedTuple

from ridgebench.base.command_line import CommandError
from ridgebench.data import program

from .baseline_store import Baseline

_CEILING, _KERNEL = "ceiling", "kernel"


class Request(NamedTuple):
    """words: of `run`, without the filter. names: the rows that the run measures; ceilings among them may be left out."""

    words: list[str]
    names: list[str]
    ceilings: set[str]


def _size_of(name: str) -> str:
    """An id without regime and device."""
    return name.partition("@")[0].rpartition("/")[0]


def _operation(name: str) -> str:
    return name.partition("/")[0]


def _shape_line(name: str) -> str:
    """The line of a file for --shapes that makes the size of this row."""
    op, _, format_, *shape = _size_of(name).split("/")
    return f"{op} {'/'.join(shape)} {format_}"


def _device_words(past: Baseline, names: list[str], device: str) -> list[str]:
    """The device of the rows, where they are of one; of a baseline of a model the host or every GPU."""
    found = {name.partition("@")[2] for name in names}
    if past.of_model:
        found = {"cpu"} if past.environment["devices"][0]["backend"] == "cpu" else set()
    chosen = device or (found.pop() if len(found) == 1 else "")
    return ["--device", chosen] if chosen else []


def _roles(words: list[str]) -> dict[str, str]:
    """The sizes that the program can measure, with their roles. Raises CommandError."""
    cases = program.ask("list", *words, seconds=program.SLOW_NODE_S)["cases"]
    return {_size_of(case["id"]): case["role"] for case in cases}


def _regime_words(past: Baseline, kernels: list[str], regimes: list[str]) -> list[str]:
    """The regime of the kernels where they share one; several are measured as the baseline's runs chose them."""
    found = {name.partition("@")[0].rpartition("/")[2] for name in kernels}
    if len(found) == 1:
        return ["--regime", found.pop()]
    if regimes:
        raise CommandError(f"the rows are of the regimes {', '.join(sorted(found))}, and one run of {past.path} has "
                           f"{', '.join(regimes)}; allowed: --filter for the rows of one")  # fmt: skip
    return []


def request(past: Baseline, names: list[str], options: argparse.Namespace, shapes: Path) -> Request:
    """The request for these rows; `shapes` is the file to write where the profile lacks their sizes.

    Raises CommandError for rows that one run cannot measure. Of a model, whose runs may have had several profiles, they
    are left out.
    """
    environment = past.environment
    words = _device_words(past, names, options.device)
    words += ["--profile", environment["profile"]] if environment["profile"] else []
    words += [word for one in environment.get("loaded") or [] for word in ("--load", one["file"])]
    known = _roles(words)
    of_ceilings = {_operation(size) for size, role in known.items() if role == _CEILING}
    ceilings = {name for name in names if _operation(name) in of_ceilings}
    kernels = [name for name in names if name not in ceilings]
    unknown = [name for name in names if _size_of(name) not in known]
    if any(name in kernels for name in unknown):
        shapes.write_text("".join(f"{line}\n" for line in dict.fromkeys(map(_shape_line, kernels))), "utf-8")
        words += ["--shapes", str(shapes)]
        more = _roles(words)
        unknown = [name for name in unknown if _size_of(name) not in more]
    if unknown and not past.of_model:
        raise CommandError(f"{unknown[0]}: `ridgebench run` cannot measure this row here (of the profile {environment['profile']}, or by "
                           "its shape); allowed: --filter for other rows, or DIR, a run that has it")  # fmt: skip
    left = [name for name in names if name not in unknown]
    if not left:
        raise CommandError(f"{past.path}: `ridgebench run` can measure none of the rows here; allowed: DIR, a run that has them")
    words += _regime_words(past, [name for name in left if name not in ceilings], environment["regimes"]) if set(left) - ceilings else []
    return Request(words, left, ceilings)
