"""Results directories that several commands take in one line: each run counts once."""

from pathlib import Path
from typing import Optional

from ridgebench.files import ResultsError, parse_json, read


def run_id_of(folder: Path) -> Optional[str]:
    """The number of the run; None where the reader of the folder will say what is wrong with it."""
    path = folder / "environment.json"
    try:
        environment = parse_json(read(path), str(path))
    except ResultsError:
        return None
    found = environment.get("run_id") if isinstance(environment, dict) else None
    return found if isinstance(found, str) else None


def each_once(folders: list[Path]) -> list[Path]:
    """The folders without links to others of them, as `results/local/*` has one that is called latest.

    Raises ResultsError for a folder that is named twice, and for a copy: a run is known by its run_id.
    """
    real = {folder.resolve() for folder in folders if not folder.is_symlink()}
    kept = [folder for folder in folders if not folder.is_symlink() or folder.resolve() not in real]
    places: dict[Path, Path] = {}
    runs: dict[str, Path] = {}
    for folder in kept:
        if places.setdefault(folder.resolve(), folder) is not folder:
            raise ResultsError(f"{folder}: named twice; allowed: each results directory once")
        number = run_id_of(folder)
        if number is not None and runs.setdefault(number, folder) is not folder:
            raise ResultsError(f"{folder} is a copy of {runs[number]}: both hold run {number}; allowed: each run once")
    return kept
