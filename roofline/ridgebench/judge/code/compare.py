"""Finds the rows of two programs that run the same machine code."""

import re
from dataclasses import dataclass, field
from typing import Callable, Optional

from ridgebench.base.text import apart, cut
from ridgebench.base.units import counted

from .build_folder import BuildFolder
from .cubin import Cubin
from .finding import CHANGED, SAME, UNKNOWN, Finding
from .host_object import HostObject, read_object
from .linked import host_difference
from .names import readable
from .piece import differing, reach
from .program import Program

_LONGEST = 100  # characters of a name in a reason
Programs = tuple[Program, Program]  # baseline and candidate


@dataclass
class HostDifference:
    """An object whose code differs: its sections, or none if it differs as a whole, for the reason `why`; the object on both sides."""

    object: str
    sections: set[str] = field(default_factory=set)
    why: str = ""
    sides: tuple[HostObject, ...] = ()


@dataclass
class Differences:
    """Everything that differs between two programs. `everywhere` are reasons that count for every row."""

    everywhere: list[str] = field(default_factory=list)
    device: dict[str, set[str]] = field(default_factory=dict)  # functions, by architecture
    host: list[HostDifference] = field(default_factory=list)

    def changed_kernels(self, programs: Programs) -> set[str]:
        """The kernels that differ, or that call a function which does."""
        found = set()
        for architecture, names in self.device.items():
            for side in (program.device.get(architecture, Cubin()) for program in programs):
                found |= {kernel for kernel in side.kernels if reach(side.pieces, [kernel]) & names}
        return found


def _kept_groups(build: BuildFolder) -> dict[str, str]:
    """The object whose group of a name the linker keeps: the first one that has it."""
    found: dict[str, str] = {}
    for name, path in build.objects.items():
        for group in read_object(path.read_bytes(), str(path), build.root).groups.values():
            found.setdefault(group, name)
    return found


def _linked(found: list[HostDifference], builds: tuple[BuildFolder, BuildFolder]) -> list[HostDifference]:
    """The differences without sections that the linker leaves out, because another object has a group of the same name."""
    if not any(one.sections for one in found):
        return found
    kept = [_kept_groups(build) for build in builds]
    for one in found:
        one.sections -= {section for section in one.sections if all(
            section not in side.pieces or (section in side.groups and winners[side.groups[section]] != one.object)
            for side, winners in zip(one.sides, kept))}
    return [one for one in found if one.sections or one.why]


_Ignore = Callable[[str], Optional[Callable[[bytes], object]]]


def _compare_objects(builds: tuple[BuildFolder, BuildFolder], ignore: _Ignore) -> list[HostDifference]:
    found = []
    for name in sorted(builds[0].objects.keys() | builds[1].objects.keys()):
        paths = [build.objects[name] for build in builds if name in build.objects]
        if len(paths) < 2:
            found.append(HostDifference(name, why="only one side has it"))
            continue
        if builds[0].flags.get(name) != builds[1].flags.get(name):
            found.append(HostDifference(name, why="it was compiled with other flags"))
            continue
        data = [path.read_bytes() for path in paths]
        if data[0] == data[1]:
            continue
        if (facts := ignore(name)) is not None:
            if facts(data[0]) != facts(data[1]):
                found.append(HostDifference(name, why="it says that the builds differ"))
            continue
        objects = tuple(read_object(text, str(path), build.root) for text, path, build in zip(data, paths, builds))
        if sections := differing(objects[0].pieces, objects[1].pieces):
            found.append(HostDifference(name, sections, sides=objects))
    return _linked(found, builds)


def _compare_host(one: Program, other: Program, ignore: _Ignore) -> list[HostDifference]:
    if one.build and other.build:
        if one.build.flags.get("") != other.build.flags.get(""):
            return [HostDifference("", why="the programs were linked with other flags")]
        return _compare_objects((one.build, other.build), ignore)
    why = host_difference(one.elf, other.elf) if one.elf and other.elf else "only one side is a program"
    return [HostDifference("", why=f"the code of the host differs ({why})")] if why else []


def compare(one: Program, other: Program, ignore: _Ignore = lambda name: None) -> Differences:
    """All differences. `ignore` gives, for an object that may differ, what of its bytes must agree all the same."""
    found = Differences()
    if one.device.keys() != other.device.keys():
        both = " against ".join(", ".join(sorted(side.device)) or "none" for side in (one, other))
        found.everywhere.append(f"device code for other architectures: {both}")
    if one.tools != other.tools:
        here, there = (", ".join(sorted(side)) or "none" for side in (one.tools - other.tools, other.tools - one.tools))
        found.everywhere.append(f"another device compiler or other options of it: {' against '.join(apart(here, there, _LONGEST))}")
    names = sorted(name for name in one.libraries.keys() | other.libraries.keys() if one.libraries.get(name) != other.libraries.get(name))
    if names:
        found.everywhere.append(f"other libraries: {', '.join(names)}")
    for architecture in one.device.keys() & other.device.keys():
        sides = [program.device[architecture] for program in (one, other)]
        if changed := differing(sides[0].pieces, sides[1].pieces):
            found.device[architecture] = changed
    found.host = _compare_host(one, other, ignore)
    return found


def _named(kernels: list[str]) -> str:
    """'the kernel scale<3>(float*) and 2 more'."""
    more = f" and {counted(len(kernels) - 1, 'more kernel')}" if len(kernels) > 1 else ""
    return f"{cut(readable(kernels[0]), _LONGEST)}{more}"


def _host_reason(one: HostDifference) -> str:
    """Why a difference of the host leaves a row unknown."""
    if not one.object:
        return one.why
    shown = one.object.partition(".dir/")[2] or one.object
    first = cut(readable(re.sub(r"^[.]text[.]", "", min(one.sections, default=""))), _LONGEST)
    return f"{shown}: {one.why or f'the code of the host differs ({first})'}"


def judge_code(found: Differences, changed: set[str], host: list[HostDifference]) -> Finding:
    """The finding on a row by those of its kernels that changed, and by the differences of the host that concern it."""
    if found.everywhere:
        return Finding(UNKNOWN, found.everywhere[0])
    if changed:
        return Finding(CHANGED, _named(sorted(changed)))
    if host:
        return Finding(UNKNOWN, _host_reason(host[0]))
    return Finding(SAME)

