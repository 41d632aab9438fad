"""The findings on the rows of two programs: of ridgebench by its techniques, of others by the kernels that they launch."""

from pathlib import Path
from typing import Any, Optional, Protocol

from ridgebench.base.files import ResultsError

from .compare import Programs, compare, judge_code
from .elf import Unreadable
from .finding import UNKNOWN, Finding
from .launches import kernels_named, read_launches
from .names import readable
from .own import SCRIPT, OwnRows, is_own
from .program import Program, load


class _Rows(Protocol):
    """Findings by row."""

    def of_row(self, row: Any) -> Finding:
        """The finding on a row, which has an id."""

    def listed(self) -> dict[str, Finding]:
        """All findings that need no row of a run: by file, or by kernel."""


class _Unknown:
    """Programs of which nothing can be said."""

    def __init__(self, name: str, reason: str) -> None:
        self.name, self.finding = name, Finding(UNKNOWN, reason)

    def of_row(self, row: Any) -> Finding:
        return self.finding

    def listed(self) -> dict[str, Finding]:
        return {self.name: self.finding}


class _OtherRows:
    """Rows of programs that are not ridgebench. A row that no list of launches has may launch every kernel."""

    def __init__(self, programs: Programs, launches: Optional[dict[str, set[str]]]) -> None:
        self.programs, self.launches = programs, launches or {}
        self.differences = compare(*programs)
        self.changed = self.differences.changed_kernels(programs)
        self.kernels = programs[0].kernels | programs[1].kernels

    def _of_kernels(self, kernels: set[str]) -> Finding:
        return judge_code(self.differences, self.changed & kernels, self.differences.host)

    def whole(self) -> Finding:
        """The finding on all kernels."""
        return self._of_kernels(self.kernels)

    def of_row(self, row: Any) -> Finding:
        return self._of_id(row.id)

    def _of_id(self, name: str) -> Finding:
        if name not in self.launches:
            return self._of_kernels(self.kernels)
        kernels, unknown = kernels_named(self.launches[name], self.kernels)
        return Finding(UNKNOWN, f"the programs have no kernel {unknown[0]}") if unknown else self._of_kernels(kernels)

    def listed(self) -> dict[str, Finding]:
        if self.launches:
            return {name: self._of_id(name) for name in self.launches}
        if not self.kernels:
            return {self.programs[1].path.name: self._of_kernels(set())}
        return {readable(kernel): self._of_kernels({kernel}) for kernel in sorted(self.kernels)}


def _loaded(path: Path, arm: str) -> Program:
    try:
        return load(path)
    except Unreadable as error:
        raise Unreadable(f"the {arm} ({path}): {error}") from None


def of_objects(baseline: Path, candidate: Path) -> Finding:
    """The finding on two shared objects of which a row may launch every kernel. Raises ResultsError for what does not exist."""
    if SCRIPT in f"{baseline} {candidate}":
        return Finding(UNKNOWN, "scripts are not compared")
    try:
        return _OtherRows((_loaded(baseline, "baseline"), _loaded(candidate, "candidate")), None).whole()
    except Unreadable as error:
        return Finding(UNKNOWN, str(error))


def rows_of(baseline: Path, candidate: Path, launches: Optional[Path]) -> _Rows:
    """The findings on the rows of two programs, or of two folders of builds. Raises ResultsError for what does not exist."""
    listed = read_launches(launches) if launches else None
    for path in (baseline, candidate):
        if not path.exists():
            raise ResultsError(f"{path}: does not exist; allowed: a program, or the folder of a build")
    try:
        programs = (_loaded(baseline, "baseline"), _loaded(candidate, "candidate"))
        if is_own(programs) and listed is None:
            return OwnRows(programs)
        return _OtherRows(programs, listed)
    except Unreadable as error:
        return _Unknown(candidate.name, str(error))
