"""Results directories that several commands take in one line: each run counts once."""

from pathlib import Path
from typing import Any, Callable, Iterable, Protocol, TypeVar

from ridgebench.base.files import ResultsError, real


class _Opened(Protocol):
    @property
    def folder(self) -> Path: ...

    @property
    def environment(self) -> dict[str, Any]: ...


_Results = TypeVar("_Results", bound=_Opened)


def each_once(folders: list[Path], load: Callable[[Path], _Results]) -> list[_Results]:
    """The runs of the folders without links to others of them, as `results/local/*` has one that is called latest.

    Raises ResultsError for a folder that is named twice, and for a copy: a run is known by its run_id.
    """
    plain = {real(folder) for folder in folders if not folder.is_symlink()}
    kept = [folder for folder in folders if not folder.is_symlink() or real(folder) not in plain]
    places: dict[Path, Path] = {}
    for folder in kept:
        if places.setdefault(real(folder), folder) is not folder:
            raise ResultsError(f"{folder}: named twice; allowed: each results directory once")
    runs = list(map(load, kept))
    require_once(runs)
    return runs


def require_once(runs: Iterable[_Opened]) -> None:
    """Raises ResultsError for a copy: a run is known by its run_id. Files of other programs have none."""
    found: dict[str, _Opened] = {}
    for run in runs:
        number = run.environment.get("run_id")
        if number is not None and found.setdefault(number, run) is not run:
            raise ResultsError(f"{run.folder} is a copy of {found[number].folder}: both hold run {number}; allowed: each run once")
