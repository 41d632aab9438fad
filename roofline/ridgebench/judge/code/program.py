"""A program, or the folder of a build, as the pieces of machine code that can be compared."""

import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Optional

from ridgebench.base.children import answered
from ridgebench.base.files import ResultsError, real

from .build_folder import BuildFolder, build_of, objects_in
from .cubin import Cubin, read_cubin
from .elf import MAGIC, Elf, Unreadable
from .fatbin import CUBIN, SECTIONS, entries
from .piece import digest
from .ptx import read_ptx

_INTERPRETERS = ("python", "perl", "ruby", "node", "java", "bash", "dash", "sh", "julia", "Rscript", "lua", "php")
_LDD_SECONDS = 60.0
_NO_LIBRARIES = "not a dynamic executable"  # ldd, of a static program


@dataclass
class Program:
    """`device` by the name of the architecture, sm_90 or compute_90; `tools` are compilers of the device's code with their options;
    `libraries` are digests of the shared libraries by the name that the program has for each."""

    path: Path
    device: dict[str, Cubin] = field(default_factory=dict)
    tools: set[str] = field(default_factory=set)
    build: Optional[BuildFolder] = None
    elf: Optional[Elf] = None
    libraries: dict[str, str] = field(default_factory=dict)

    @property
    def kernels(self) -> set[str]:
        return {name for one in self.device.values() for name in one.kernels}


def _read_device(program: Program, elf: Elf, origin: str) -> None:
    """Adds the device code of a program or an object."""
    for section in elf.sections:
        if section.name not in SECTIONS:
            continue
        for entry in entries(elf.bytes_of(section)):
            is_cubin = entry.kind == CUBIN
            found = (read_cubin if is_cubin else read_ptx)(entry.payload, origin)
            place = program.device.setdefault(f"{'sm' if is_cubin else 'compute'}_{entry.capability}", Cubin())
            for name, pieces in found.pieces.items():
                place.pieces.setdefault(name, []).extend(pieces)
            place.kernels |= found.kernels
            program.tools |= found.tools


def _libraries(path: Path) -> dict[str, str]:
    """Digests of the shared libraries that the loader finds. Raises Unreadable."""
    try:
        done = answered(["ldd", str(path)], timeout=_LDD_SECONDS, env=os.environ | {"LC_ALL": "C"})
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unreadable(f"ldd cannot list its libraries: {error}") from None
    if _NO_LIBRARIES in (done.stdout + done.stderr).decode("utf-8", "replace"):
        return {}
    if done.returncode:
        raise Unreadable("ldd cannot list its libraries")
    found = {}
    for line in done.stdout.decode("utf-8", "replace").splitlines():
        name, arrow, rest = line.strip().partition(" => ")
        if arrow and rest.startswith("not found"):
            raise Unreadable(f"its library {name} is not found")
        if arrow:
            found[name] = digest(Path(rest.rpartition(" (")[0]).read_bytes())
    return found


def _is_interpreter(path: Path) -> bool:
    return path.name.rstrip("0123456789.-") in _INTERPRETERS or real(path).name.rstrip("0123456789.-") in _INTERPRETERS


def load(path: Path) -> Program:
    """A program, or all objects of a folder. Raises Unreadable for one that cannot be compared, ResultsError for a malformed one."""
    if path.is_dir():
        build = objects_in(path)
        found = Program(path, build=build)
        for name, place in build.objects.items():
            _read_device(found, Elf(place.read_bytes(), name), str(place))
        return found
    if _is_interpreter(path):
        raise Unreadable("it is an interpreter, whose scripts are not compared")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ResultsError(f"{path}: {error.strerror}; allowed: a program, or the folder of a build") from None
    if not data.startswith(MAGIC):
        raise Unreadable("it is not a program in ELF")
    elf = Elf(data, str(path))
    found = Program(path, elf=elf, build=build_of(path), libraries=_libraries(path))
    _read_device(found, elf, str(path))
    return found
