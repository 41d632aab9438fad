"""The origins of a program: its objects, the flags of the compiler and the linker, and the folder of its sources.

build.ninja of CMake has a statement for each file, `build FILES: RULE INPUTS | MORE || ORDER`, and indented variables below it. A
folder without one has the objects that lie in it.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Optional

from ridgebench.base.files import read

from .elf import Unreadable

_STATEMENT = re.compile(r"^build (?P<outputs>.*?): (?P<rule>\S+)(?P<inputs>.*)$")
_FLAGS = ("FLAGS", "DEFINES", "LINK_FLAGS", "LINK_LIBRARIES", "LINK_PATH", "LANGUAGE_COMPILE_FLAGS")
_HOME = re.compile(r"^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$", re.MULTILINE)
_INCLUDED = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
_PROBES = re.compile(r"(^|/)CompilerId\w*/")  # of CMake, which no program has
_NINJA, _CACHE = "build.ninja", "CMakeCache.txt"


@dataclass
class BuildFolder:
    """`objects` by their path in the folder; `flags` of each, and of the program under an empty path; `root`: of the sources."""

    folder: Path
    root: str
    objects: dict[str, Path] = field(default_factory=dict)
    flags: dict[str, str] = field(default_factory=dict)


@dataclass
class _Statement:
    rule: str
    inputs: list[str]
    variables: dict[str, str] = field(default_factory=dict)


def _words(text: str) -> list[str]:
    """Paths of a statement: '$ ' is a space in one of them."""
    words = re.findall(r"(?:\$.|[^ $])+", text)
    return [re.sub(r"\$(.)", r"\1", word) for word in words]


def _statements(path: Path) -> dict[str, _Statement]:
    """The statements of build.ninja by their outputs."""
    found: dict[str, _Statement] = {}
    current: Optional[_Statement] = None
    for line in read(path, "a file of ninja").replace("$\n", "").splitlines():
        if match := _STATEMENT.match(line):
            inputs = match["inputs"].partition("||")[0]
            current = _Statement(match["rule"], [word for word in _words(inputs) if word != "|"])
            for output in _words(match["outputs"]):
                found.setdefault(output, current)
        elif current is not None and line.startswith("  ") and " = " in line:
            name, _, value = line.strip().partition(" = ")
            current.variables[name] = value
        else:
            current = None
    return found


def _collect(build: BuildFolder, statements: dict[str, _Statement], output: str, seen: set[str]) -> None:
    """Adds the objects that an output is made of, through the libraries of this build."""
    statement = statements.get(output)
    if statement is None or output in seen:
        return
    seen.add(output)
    flags = " ".join(f"{key}={statement.variables[key]}" for key in _FLAGS if key in statement.variables)
    build.flags["" if len(seen) == 1 else output] = flags.replace(build.root, "")
    if output.endswith(".o"):
        build.objects[output] = build.folder / output
        return
    for one in statement.inputs:
        if one.endswith((".o", ".a", ".so")) or ".so." in one:
            _collect(build, statements, one, seen)


def _root_of(folder: Path) -> str:
    cache = folder / _CACHE
    match = _HOME.search(read(cache, "a cache of CMake")) if cache.exists() else None
    return match[1] if match else str(folder.resolve())


def objects_in(folder: Path) -> BuildFolder:
    """All objects of a folder. Raises Unreadable if there is none."""
    build = BuildFolder(folder, _root_of(folder))
    for path in sorted(folder.rglob("*.o")):
        name = path.relative_to(folder).as_posix()
        if not _PROBES.search(name):
            build.objects[name] = path
    if not build.objects:
        raise Unreadable("it holds no object (*.o); allowed: a program, or the folder of a build")
    return build


def build_of(program: Path) -> Optional[BuildFolder]:
    """The origins of a program; None where its folders have no build.ninja that makes it. Raises Unreadable."""
    place = program.resolve()
    folder = next((one for one in place.parents if (one / _NINJA).exists()), None)
    if folder is None:
        return None
    statements, output = _statements(folder / _NINJA), place.relative_to(folder).as_posix()
    if output not in statements:
        return None
    build = BuildFolder(folder, _root_of(folder))
    _collect(build, statements, output, set())
    made = place.stat().st_mtime
    for name, path in build.objects.items():
        if not path.exists():
            raise Unreadable(f"its object {name} is missing")
        if path.stat().st_mtime > made:
            raise Unreadable(f"its object {name} is newer than the program; build it again")
    for library in map(Path, statements[output].variables.get("LINK_LIBRARIES", "").split()):
        # A package keeps the time at which its files were made; the time of the change is that of its installation.
        if library.is_absolute() and library.suffix == ".a" and library.exists() and library.stat().st_ctime > made:
            raise Unreadable(f"its library {library} is newer than the program; build it again")
    return build if build.objects else None


def sources_of(build: BuildFolder) -> list[str]:
    """The sources of the objects, from the root of the project: those that a joined file includes, and the others by their paths."""
    found = []
    for name in build.objects:
        source = name.partition(".dir/")[2].removesuffix(".o") or name.removesuffix(".o")
        joined = build.folder / source
        if source.startswith("generated/") and joined.exists():
            text = read(joined, "a file of the build")
            found += [path.removeprefix(f"{build.root}/") for path in _INCLUDED.findall(text)]
        else:
            found.append(source)
    return sorted(set(found))
