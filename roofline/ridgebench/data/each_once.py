"""Results directories that several commands take in one line: each run counts once."""

from pathlib import Path
from typing import Any, Callable, Protocol, TypeVar

from ridgebench.base.files import ResultsError


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
    real = {folder.resolve() for folder in folders if not folder.is_symlink()}
    kept = [folder for folder in folders if not folder.is_symlink() or folder.resolve() not in real]
    places: dict[Path, Path] = {}
    for folder in kept:
        if places.setdefault(folder.resolve(), folder) is not folder:
            raise ResultsError(f"{folder}: named twice; allowed: each results directory once")
    runs: dict[str, _Results] = {}
    for run in map(load, kept):
        number = run.environment["run_id"]
        if runs.setdefault(number, run) is not run:
            raise ResultsError(f"{run.folder} is a copy of {runs[number].folder}: both hold run {number}; allowed: each run once")
    return list(runs.values())
