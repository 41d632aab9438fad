"""Builds wheels by scikit-build-core, and names in their tag the glibc that their programs really need."""

import platform
import re
import sys
import zipfile
from pathlib import Path
from subprocess import check_call

from scikit_build_core import build
from scikit_build_core.build import *  # noqa: F403  (the other functions that pip and build call)

OLDEST = 34  # no tag of ours names a glibc before 2.34
ELF = b"\x7fELF"
MACHINES = {62: "x86_64", 183: "aarch64"}  # e_machine, the two bytes at 18: the program may be for another machine than this one
GLIBC = re.compile(rb"GLIBC_2\.(\d+)\0")
OF_THIS_MACHINE = re.compile(rb"GLIBCXX_[0-9]|lib(fmt|benchmark|re2)\.so")  # a build without RIDGEBENCH_RELEASE


def get_requires_for_build_wheel(config_settings=None):
    return [*build.get_requires_for_build_wheel(config_settings), "wheel>=0.40"]


def platform_tag(wheel: Path) -> str:
    """manylinux_2_34_x86_64, or with a newer glibc or another machine; "" where the wheel needs more of the machine that built it."""
    glibc, machine = OLDEST, platform.machine()
    with zipfile.ZipFile(wheel) as archive:
        for content in map(archive.read, archive.namelist()):
            if content.startswith(ELF):
                if OF_THIS_MACHINE.search(content):
                    return ""
                machine = MACHINES.get(int.from_bytes(content[18:20], "little"), machine)
                glibc = max([glibc, *map(int, GLIBC.findall(content))])
    return f"manylinux_2_{glibc}_{machine}"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    folder = Path(wheel_directory)
    name = build.build_wheel(wheel_directory, config_settings, metadata_directory)
    tag = platform_tag(folder / name)
    if not tag:
        return name
    check_call([sys.executable, "-m", "wheel", "tags", "--remove", "--platform-tag", tag, folder / name], stdout=sys.stderr)
    return re.sub(r"linux_\w+\.whl$", f"{tag}.whl", name)
