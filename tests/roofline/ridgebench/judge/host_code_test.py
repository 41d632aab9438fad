"""The machine code of a host: objects of two folders, and linked programs."""

import json
import os
import random
import shutil
import sys

import pytest
from builds import build_host, needs_compiler
from command_line import ridgebench
from ridgebench.base.files import ResultsError
from ridgebench.judge.code.rows import rows_of

pytestmark = needs_compiler
SAME, UNKNOWN = "same code", "unknown"
MAIN = """#include <cstdio>
#include "twice.hpp"
double work(double x);
int main(int count, char** words) {
  std::printf("%s %g\\n", __FILE__, work(twice(count)));
  return count > 5 ? words[0][0] : 0;
}
"""
WORK = """#include <cmath>
#include "twice.hpp"
namespace { double local(double x) { return x > 3 ? 1.25 * x : std::sqrt(x); } }
double work(double x) {
  switch (static_cast<int>(x)) {
    case 1: return local(x);
    case 2: return 7 * x;
    case 3: return x - 1;
    case 4: return twice(x);
    case 5: return x / 3;
  }
  return x;
}
"""
TWICE = "inline double twice(double x) { return 2 * x; }\n"
SOURCES = {"twice.hpp": TWICE, "main.cpp": MAIN, "work.cpp": WORK}


@pytest.fixture(name="base", scope="module")
def base_fixture(tmp_path_factory):
    return build_host(tmp_path_factory.mktemp("base") / "a", SOURCES)


def state(one, other) -> tuple[str, str]:
    done = ridgebench("gate", "--code", one, other, "--json")
    assert done.stdout, done.stderr
    (row,) = json.loads(done.stdout)["rows"]
    assert done.returncode == (0 if row["code"] == SAME else 3)
    return row["code"], row["reason"]


def changed(**texts: str) -> dict[str, str]:
    return SOURCES | {f"{name}.cpp": text for name, text in texts.items()}


@pytest.mark.parametrize("part", ["", "program"])
def test_a_comment_changes_nothing(part, base, tmp_path):
    other = build_host(tmp_path / "b", changed(work="// A comment.\n" + WORK))
    assert state(base / part, other / part) == (SAME, SAME)


CHANGES = [
    changed(work=WORK.replace("7 * x", "6 * x")),
    changed(work=WORK.replace("case 4: return twice(x);\n    case 5: return x / 3;", "case 5: return twice(x);\n    case 4: return x / 3;")),
    changed(work=WORK.replace("1.25", "1.5")),
    changed(work=WORK.replace("x > 3", "x >= 3")),
    changed(main=MAIN.replace("count > 5", "count > 6")),
    changed(main=MAIN.replace("%s %g", "%s %f")),
    SOURCES | {"twice.hpp": "inline double twice(double x) { return 3 * x; }\n"},
    changed(work=WORK + "double more(double x) { return x + 1; }\n"),
]


@pytest.mark.parametrize("part", ["", "program"])
@pytest.mark.parametrize("sources", CHANGES)
def test_a_change_is_never_the_same_code(sources, part, base, tmp_path):
    assert state(base / part, build_host(tmp_path / "b", sources) / part)[0] == UNKNOWN


@pytest.mark.parametrize("flag", ["-O1", "-fno-inline", "-march=native", "-fPIE"])
def test_a_flag_that_changes_code_is_seen_and_one_that_does_not_is_not(flag, base, tmp_path):
    other = build_host(tmp_path / "b", SOURCES, ("-O2", flag))
    objects = [(folder / name).read_bytes() for folder in (base, other) for name in ("main.o", "work.o")]
    assert (state(base, other)[0] == SAME) == (objects[:2] == objects[2:])


def test_the_path_of_the_sources_is_left_out(tmp_path):
    folders = []
    for name in ("a", "another"):
        folder = tmp_path / name
        folders.append(build_host(folder, changed(main=MAIN.replace("__FILE__", f'"{folder}/main.cpp"'))))
    assert state(*folders)[0] == SAME
    assert state(folders[0] / "program", folders[1] / "program")[0] == UNKNOWN


def test_an_object_that_only_one_side_has_is_named(base, tmp_path):
    other = build_host(tmp_path / "b", SOURCES | {"more.cpp": "int more;\n"})
    assert state(base, other) == (UNKNOWN, "unknown: more.o: only one side has it")


@pytest.mark.parametrize(
    ("text", "said"),
    [("#!/bin/sh\necho\n", "is not a program in ELF"), ("\x7fELFxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "malformed ELF file")],
)
def test_what_is_no_program_is_named(text, said, base, tmp_path):
    path = tmp_path / "program"
    path.write_text(text)
    done = ridgebench("gate", "--code", base / "program", path)
    assert said in done.stdout + done.stderr and done.returncode in (2, 3)
    done = ridgebench("gate", "--code", base / "program", tmp_path / "nothing")
    assert done.returncode == 2 and "nothing: does not exist; allowed: a program" in done.stderr


def test_an_interpreter_is_never_compared(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "python3").symlink_to(sys.executable)
    assert state(tmp_path / "a" / "python3", tmp_path / "b" / "python3")[0] == UNKNOWN


def test_every_cut_and_flipped_byte_of_an_object_is_read_or_refused(base, tmp_path):
    data, draw = (base / "work.o").read_bytes(), random.Random(1)
    folder = tmp_path / "broken"
    shutil.copytree(base, folder)
    (folder / "program").unlink()
    for _ in range(300):
        broken = bytearray(data)
        for _ in range(draw.randint(1, 8)):
            broken[draw.randrange(len(broken))] = draw.randrange(256)
        (folder / "work.o").write_bytes(broken[: draw.choice([len(broken), draw.randrange(len(broken))])])
        try:
            found = rows_of(base, folder, None).listed()
        except ResultsError:
            continue
        assert broken == data or {one.state for one in found.values()} <= {SAME, UNKNOWN}


def ninja_build(folder, sources=SOURCES, flags="-O2", libraries=""):
    """The same as CMake and Ninja leave it: a program, its objects, build.ninja and one object that the program does not have."""
    build_host(folder, sources | {"other.cpp": f"int unused = {len(str(folder))};\n"})
    lines = ["rule compile", "  command = x", "rule CXX_EXECUTABLE_LINKER", "  command = x"]
    for name in ("main", "work", "other"):
        lines += [f"build {name}.o: compile {folder}/{name}.cpp || order", f"  FLAGS = {flags} -I{folder}"]
    lines += ["build program: CXX_EXECUTABLE_LINKER main.o work.o | x.so || order", f"  LINK_LIBRARIES = {libraries}"]
    (folder / "build.ninja").write_text("\n".join(lines) + "\n")
    (folder / "CMakeCache.txt").write_text(f"CMAKE_HOME_DIRECTORY:INTERNAL={folder}\n")
    os.utime(folder / "program")
    return folder / "program"


def test_a_build_by_ninja_has_the_objects_of_its_program_and_their_flags(tmp_path):
    one = ninja_build(tmp_path / "a")
    assert state(one, ninja_build(tmp_path / "another")) == (SAME, SAME)
    assert state(one, ninja_build(tmp_path / "c", flags="-O2 -g")) == (UNKNOWN, "unknown: main.o: it was compiled with other flags")
    assert state(one, ninja_build(tmp_path / "d", libraries="-lm"))[1] == "unknown: the programs were linked with other flags"
    assert state(one, ninja_build(tmp_path / "e", changed(work=WORK.replace("7 * x", "6 * x"))))[1].startswith("unknown: work.o: the code of the host differs")


def test_a_program_that_is_older_than_what_it_is_made_of_is_unknown(tmp_path):
    one, other = ninja_build(tmp_path / "a"), ninja_build(tmp_path / "b")
    library = tmp_path / "lib.a"
    library.write_text("!<arch>\n")
    stale = ninja_build(tmp_path / "c", libraries=str(library))
    os.utime(stale, (1, 1))
    for path in stale.parent.glob("*.o"):
        os.utime(path, (0, 0))
    assert f"its library {library} is newer than the program" in state(one, stale)[1]
    os.utime(other.parent / "work.o", (4e9, 4e9))
    assert "its object work.o is newer than the program; build it again" in state(one, other)[1]
    (other.parent / "work.o").unlink()
    assert "its object work.o is missing" in state(one, other)[1]
