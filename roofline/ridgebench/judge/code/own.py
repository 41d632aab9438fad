"""The rows of ridgebench itself: which kernels and which objects a technique has.

A CUDA technique has a namespace of its own, ridgebench::cuda::<folder>_<file>, in the names of its kernels, and a technique of a
host has objects of its own (CONTRIBUTING.md). The programs say which file registers the technique of a row (registered.py). Of
programs that do not say it, the row of the operation O and the technique T has the file kernels/O/T, or that of the folder whose
name O begins with: matmul_gelu/naive is in kernels/matmul/naive.cu. A row without such a file stays unknown.
"""

import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Iterable, Optional, Union

from ridgebench.data.program import binary

from .build_folder import BuildFolder, sources_of
from .compare import Differences, HostDifference, Programs, compare, judge_code
from .elf import Elf
from .finding import SAME, UNKNOWN, Finding
from .host_object import read_object
from .names import parts
from .registered import Key, Registered, Technique, registered_by

_SOURCE = re.compile(r"(?:^|/)kernels/(?P<folder>\w+)/(?:host/|sweep/|hopper/)?(?P<stem>\w+)\.(?P<kind>cu|cpp)(?:\.o)?$")
_SHARED = "common"  # folder of kernels/ that no technique owns
_BUILD_INFO = "harness/base/build_info.cpp.o"
_COMMIT = re.compile(rb"[0-9a-f]{40}")
_PROGRAM = "ridgebench"  # in the folder of a build
_HOST, _GPU = "cpu", "cuda:"  # name of the device of a host, and how that of a GPU begins
_ON_HOST, _ON_GPU = "cpu", "cuda"  # backends
SCRIPT = ".py:"  # of a kernel that Python has: FILE.py:NAME


@dataclass(frozen=True)
class _Source:
    """A file of a technique."""

    folder: str
    stem: str
    kind: str  # cu or cpp

    @property
    def path(self) -> str:
        return f"kernels/{self.folder}/{self.stem}.{self.kind}"

    @property
    def token(self) -> str:
        """The text that the mangled names of its device code contain."""
        return parts(f"cuda::{self.folder}_{self.stem}")


def source_of(path: str) -> Optional[_Source]:
    """The technique's file that a path names, of a source or of an object."""
    match = _SOURCE.search(path)
    if match is None or match["folder"] == _SHARED or match["folder"] == match["stem"]:  # the latter holds the operation
        return None
    return _Source(match["folder"], match["stem"], match["kind"])


def facts(data: bytes) -> list[bytes]:
    """The facts of a build in its object, without the commit: texts of compilers and flags."""
    elf = Elf(data, _BUILD_INFO)
    texts = b"\0".join(elf.bytes_of(one) for one in elf.sections if one.name.startswith(".rodata.str"))
    return sorted(text for text in texts.split(b"\0") if text and not _COMMIT.fullmatch(text))


def _ignored(name: str) -> Any:
    return facts if name.endswith(_BUILD_INFO) else None


def is_own(programs: Programs) -> bool:
    """True if both are builds of ridgebench."""
    return all(one.build and any(name.endswith(_BUILD_INFO) for name in one.build.objects) for one in programs)


@dataclass
class OwnRows:
    """The findings on rows of two builds of ridgebench."""

    programs: Programs
    differences: Differences = field(init=False)
    changed: set[str] = field(init=False)  # kernels

    def __post_init__(self) -> None:
        self.differences = compare(*self.programs, _ignored)
        self.changed = self.differences.changed_kernels(self.programs)

    @cached_property
    def _builds(self) -> list[BuildFolder]:
        return [one.build for one in self.programs if one.build]

    @cached_property
    def sources(self) -> set[_Source]:
        """The files of all techniques."""
        paths = [path for build in self._builds for path in sources_of(build)]
        return set(filter(None, map(source_of, paths)))

    @cached_property
    def registered(self) -> list[Registered]:
        """The programs' answers on their techniques; fewer than two if one gives none. A folder of a build has its program in it."""
        found = (registered_by(program.path if program.elf else program.path / _PROGRAM) for program in self.programs)
        return [one for one in found if one is not None]

    @cached_property
    def _on_gpu(self) -> set[_Source]:
        """The files whose techniques run on a GPU: in CUDA, and calls of its libraries."""
        stated = {source_of(one.source or "") for side in self.registered for key, one in side.techniques.items() if key.backend == _ON_GPU}
        return {one for one in self.sources if one.kind == "cu" or one in stated}

    def by_name(self, operation: str, technique: str, is_host: bool) -> Optional[_Source]:
        """The file that is named like a row's technique."""
        kind, words = "cpp" if is_host else "cu", operation.split("_")
        folders = ["_".join(words[:count]) for count in range(len(words), 0, -1)]
        return next((one for folder in folders if (one := _Source(folder, technique, kind)) in self.sources), None)

    def _stated(self, key: Key) -> list[Technique]:
        """The answer on a technique of each side that gave one."""
        return [side.techniques.get(key, Technique(None, "")) for side in self.registered]

    def source(self, row: Any) -> Union[_Source, Finding]:
        """The file of a row's technique, or why it is unknown."""
        is_host = row.device == _HOST
        stated = self._stated(Key(row.op, row.technique, row.format, _ON_HOST if is_host else _ON_GPU))
        paths = {one.source for one in stated}
        if len(paths) > 1:
            return Finding(UNKNOWN, f"its file is {' against '.join(str(one.source) for one in stated)}")
        found = source_of(next(iter(paths)) or "") if paths else self.by_name(row.op, row.technique, is_host)
        if found in self.sources:
            return found
        return Finding(UNKNOWN, f"{paths.pop() or 'no file'} registers it" if paths else f"no file is named like {row.op}/{row.technique}")

    def _owners(self, names: Iterable[str]) -> set[_Source]:
        """The files of CUDA techniques that names of functions mention."""
        tokens, pattern = self._tokens
        return {tokens[token] for token in set(pattern.findall("\n".join(names)))}

    @cached_property
    def _tokens(self) -> tuple[dict[str, _Source], re.Pattern[str]]:
        found = {one.token: one for one in self.sources if one.kind == "cu"}
        return found, re.compile("|".join(sorted(found, key=len, reverse=True)) or r"(?!)")

    def _owners_of_object(self, one: HostDifference) -> set[_Source]:
        """The techniques of an object; empty for one that all rows share."""
        found: set[_Source] = set()
        for side in one.sides:
            found |= self._owners([*side.pieces, *side.defined])
        for build in self._builds:
            only = BuildFolder(build.folder, build.root, {one.object: build.folder / one.object})
            found |= set(filter(None, map(source_of, sources_of(only))))
        return found

    @cached_property
    def _host(self) -> list[tuple[HostDifference, set[_Source]]]:
        return [(one, self._owners_of_object(one)) for one in self.differences.host]

    @cached_property
    def _names(self) -> dict[Optional[_Source], set[str]]:
        """The names that objects of each technique define or need; under None those of the other objects."""
        found: dict[Optional[_Source], set[str]] = {}
        for build in self._builds:
            for name, path in build.objects.items():
                one = read_object(path.read_bytes(), str(path), build.root)
                owners = self._owners_of_object(HostDifference(name, sides=(one,)))
                for owner in owners or (None,):
                    found.setdefault(owner, set()).update(one.defined, one.needs)
        return found

    def _concerns(self, source: _Source, one: HostDifference, owners: set[_Source]) -> bool:
        """True if the code of a technique may run what differs: in an object of its own or of all, or by a name that it needs."""
        if not owners or source in owners:
            return True
        names = {name for side in one.sides for name, section in side.defined.items() if section in one.sections}
        return bool(names and names & (self._names.get(source, set()) | self._names.get(None, set())))

    def of_source(self, source: _Source) -> Finding:
        mine = {kernel for kernel in self.changed if source.token in kernel or not self._owners([kernel])}
        host = [one for one, owners in self._host if self._concerns(source, one, owners)]
        return judge_code(self.differences, mine if source in self._on_gpu else set(), host)

    def _libraries(self) -> Finding:
        """The finding on what rows of libraries call beside the programs' own code: the same files of the same machine."""
        if len(self.registered) < len(self.programs):
            return Finding(UNKNOWN, "a library computes it, and a program does not say which file of it")
        one, other = (side.libraries for side in self.registered)
        for name in sorted(one.keys() | other.keys()):
            if one.get(name) != other.get(name):
                return Finding(UNKNOWN, f"the programs load {name} from {one.get(name)} against {other.get(name)}")
        return Finding(SAME)

    def _loaded(self, name: str) -> Finding:
        """The finding on a row of --load: it may run any code of the programs. The commands say whether the file is the same."""
        if SCRIPT in name:
            return Finding(UNKNOWN, f"its kernels come from {name}, and scripts are not compared")
        return judge_code(self.differences, self.changed, self.differences.host)

    def of_row(self, row: Any) -> Finding:
        """The finding on a row of a run."""
        if row.device != _HOST and not row.device.startswith(_GPU):
            return Finding(UNKNOWN, f"the device {row.device} is neither a host nor a GPU")
        if row.loaded_from:
            found = self._loaded(row.loaded_from)
        else:
            source = self.source(row)
            found = source if isinstance(source, Finding) else self.of_source(source)
        return self._libraries() if found.state == SAME and row.origin != "hand" else found

    @cached_property
    def _of_libraries(self) -> set[_Source]:
        """The files whose techniques call a library; where a program does not list its own, those of this program."""
        this = [] if len(self.registered) == len(self.programs) else [registered_by(Path(binary()))]
        stated = (one for side in (*self.registered, *filter(None, this)) for one in side.techniques.values() if one.origin != "hand")
        return set(filter(None, (source_of(one.source or "") for one in stated)))

    def _of_file(self, source: _Source) -> Finding:
        found = self.of_source(source)
        return self._libraries() if found.state == SAME and source in self._of_libraries else found

    def listed(self) -> dict[str, Finding]:
        """The findings on all techniques, by their files."""
        return {one.path: self._of_file(one) for one in sorted(self.sources, key=lambda one: one.path)}
