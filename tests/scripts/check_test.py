"""scripts/check.sh: which checks it runs, what it refuses, and how it ends."""

import subprocess

import pytest
from golden import ROOT
from stub_tools import Machine

TOOLS = {"format": "clang-format-19", "tidy": "clang-tidy-19", "threads": "llvm-symbolizer-19", "fuzz": "clang++-19",
         "valgrind": "valgrind", "memory": "llvm-symbolizer-19"}


@pytest.fixture(name="machine")
def machine_fixture(tmp_path):
    machine = Machine(tmp_path)
    for tool in (*TOOLS.values(), "ctest", "git", "xargs", "grep", "cmake"):
        machine.add(tool)
    machine.add_python(packages="python atheris")
    for script in ("scripts/build.sh", "tests/fuzz/run.sh"):
        machine.add_file(machine.root / script, f'#!/bin/sh\necho "{script} $*" >>{machine.log}\n')
    return machine


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["style"], "'style'; allowed: --fuzz MINUTES, format tidy memory threads valgrind fuzz"),
        (["--fuzz"], "--fuzz is ''; allowed: whole minutes from 1 to 99999"),
        (["--fuzz", "100000"], "--fuzz is '100000'"),
        (["--fuzz", "99999999999999999999"], "--fuzz is '99999999999999999999'"),
        (["--fuzz", "0.5"], "--fuzz is '0.5'"),
    ],
)
def test_a_wrong_word_is_named(machine, arguments, named):
    done = machine.call("check.sh", *arguments)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1) and named in done.stderr


@pytest.mark.parametrize(("check", "tool"), TOOLS.items())
def test_a_check_without_its_tool_is_refused_before_any_runs(machine, check, tool):
    (machine.tools / tool).unlink()
    done = machine.call("check.sh", "format" if check == "valgrind" else "valgrind", check)
    assert (done.returncode, done.stdout) == (2, "") and f"{check} needs {tool}" in done.stderr
    assert machine.calls("scripts/build.sh") == []


def test_a_search_without_atheris_is_refused(machine):
    machine.add_python(packages="python")
    done = machine.call("check.sh", "fuzz")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1) and "fuzz needs atheris" in done.stderr


def test_a_check_that_fails_ends_at_its_first_error_and_the_others_run(machine):
    machine.add_file(machine.root / "scripts" / "build.sh", f'#!/bin/sh\necho "build $*" >>{machine.log}\n[ "$1" != dev ]\n')
    done = machine.call("check.sh", "memory", "format")
    assert done.returncode == 1 and "memory failed" in done.stderr and "format found nothing" in done.stdout
    assert machine.calls("ctest") == [] and len(machine.calls("clang-format-19")) == 1


@pytest.mark.parametrize("fails", ["", "--label-exclude", "--tests-regex"])
def test_the_check_of_memory_leaves_out_the_thorough_tests_but_one(machine, fails):
    machine.add("ctest", f'case " $* " in *" {fails or "nothing"} "*) exit 8 ;; esac')
    done = machine.call("check.sh", "memory")
    assert done.returncode == bool(fails), done.stderr
    most, *random_calls = machine.calls("ctest")
    assert most.endswith(" --label-exclude thorough")
    assert [call.split()[-2:] for call in random_calls] == ([] if fails == "--label-exclude" else [["--tests-regex", "cli/answers/random_calls_test"]])
    assert "cli/answers/random_calls_test" in (ROOT / "tests/CMakeLists.txt").read_text("utf-8"), "the name of a test"


@pytest.mark.parametrize(("words", "seconds"), [([], 20), (["--fuzz", "10"], 600), (["--fuzz", "99999"], 5999940)])
def test_a_search_takes_seconds_or_the_minutes_that_are_asked_for(machine, words, seconds):
    done = machine.call("check.sh", *words, "fuzz")
    assert done.returncode == 0, done.stderr
    assert machine.calls("tests/fuzz/run.sh") == [f"tests/fuzz/run.sh {seconds}"]
    assert machine.calls("scripts/build.sh") == ["scripts/build.sh --target fuzz_targets fuzz"]


@pytest.mark.parametrize(("seconds", "code"), [("0", 2), ("5999941", 2), ("99999999999999999999", 2), ("1h", 2), ("5999940", 0)])
def test_the_seconds_of_a_search_are_bounded(machine, seconds, code):
    machine.add_file(machine.root / "tests/fuzz/run.sh", (ROOT / "tests/fuzz/run.sh").read_text("utf-8"))
    machine.add_file(machine.root / "build/fuzz/tests/fuzz/fuzz_shapes", "#!/bin/sh\necho Done 1 runs\n")
    command = [machine.root / "tests/fuzz/run.sh", seconds, "shapes"]
    done = subprocess.run(command, env={"PATH": str(machine.tools)}, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert done.stderr == ("" if code == 0 else f"run.sh: SECONDS is '{seconds}'; allowed: a whole number from 1 to 5999940\n")


def add_threaded_programs(machine, tests: str, run: str) -> None:
    """The programs that the check builds, with what they do in place of tests and runs; $log is a file of the sanitizer."""
    log = r"""log=$(echo "$TSAN_OPTIONS" | sed "s/.*log_path='\([^']*\)'.*/\1.7/")"""
    for name, does in (("tests/ridgebench_tests", tests), ("ridgebench", run)):
        program = machine.root / "build" / "threads" / name
        machine.add_file(program, f'#!/bin/sh\necho "$0 $*" >>{machine.log}\n{log}\n{does}\n')


@pytest.mark.parametrize(
    ("tests", "run", "said"),
    [
        ("", "", ""),
        ("exit 1", "", ""),
        ("", 'case "$*" in *relu*) echo no row >&2; exit 6 ;; esac', ": exit code 6\nno row\n"),
        ('echo "data race" >"$log"', "", "data race\n"),
        ("", 'case "$*" in *softmax*) echo "a race" >"$log" ;; esac', "a race\n"),
    ],
)
def test_a_race_in_any_process_fails_the_check_of_threads(machine, tests, run, said):
    add_threaded_programs(machine, tests, run)
    done = machine.call("check.sh", "threads")
    assert done.returncode == bool(tests or run) and said in done.stderr
    assert ("threads found nothing" in done.stdout) == (not tests and not run)
    assert len(machine.calls("build/threads/ridgebench run --device cpu")) == 5
    assert machine.calls("scripts/build.sh")[0].startswith("scripts/build.sh --target ridgebench_tests threads ")


def test_valgrind_runs_ten_commands_and_shows_what_it_found(machine):
    log = 'for word; do case $word in --log-file=*) log=${word#*=} ;; esac; done; mkdir -p build; '
    machine.add("valgrind", log + 'case "$*" in *plot*) echo "Invalid read" >$log ;; *) : >$log ;; esac')
    done = machine.call("check.sh", "valgrind")
    assert done.returncode == 1 and "valgrind: ridgebench plot --terminal" in done.stderr and "Invalid read" in done.stderr
    assert len(machine.calls("valgrind")) == 10


@pytest.mark.parametrize(("command", "code", "finds"), [("verify", 2, True), ("info", 6, True), ("doctor", 7, False), ("doctor", 6, True)])
def test_valgrind_takes_only_the_exit_codes_of_a_command(machine, command, code, finds):
    machine.add("valgrind", f'case " $* " in *" {command} "*) exit {code} ;; esac')
    done = machine.call("check.sh", "valgrind")
    assert done.returncode == finds
    assert (f"valgrind: ridgebench {command}" in done.stderr) == (f": exit code {code}; allowed: 0" in done.stderr) == finds
