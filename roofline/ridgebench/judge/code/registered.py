"""The file that registers each technique of ridgebench, and the files of libraries that its rows call, as the program itself lists them."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Optional

from ridgebench.base.files import ResultsError
from ridgebench.data.program import asked

_SECONDS = 60.0  # the program opens no device, but loads its libraries


class Key(NamedTuple):
    """The registrations of a file; `backend` is cpu or cuda."""

    op: str
    technique: str
    format: str
    backend: str


class Technique(NamedTuple):
    """The file from kernels/ on, or None, and the origin, hand or library."""

    source: Optional[str]
    origin: str


@dataclass(frozen=True)
class Registered:
    """The techniques, and the file of each library, or None for one that is missing."""

    techniques: dict[Key, Technique] = field(default_factory=dict)
    libraries: dict[str, Optional[str]] = field(default_factory=dict)


def _read(answer: dict[str, Any]) -> Registered:
    techniques = {Key(*(str(one[key]) for key in Key._fields)): Technique(*(one[key] for key in Technique._fields)) for one in answer["techniques"]}
    return Registered(techniques, dict(answer["libraries"]))


def registered_by(program: Path) -> Optional[Registered]:
    """The registrations of a program; None for one that does not list them: an older build, or one of another processor."""
    try:
        return _read(asked("list", "--sources", seconds=_SECONDS, program=str(program.resolve())))
    except (ResultsError, KeyError, TypeError, ValueError):
        return None
