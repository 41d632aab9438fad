"""scripts/test.sh: which tests it runs, and what its log ends with."""

import json
import shutil

import pytest
from build_folder import BUILD, needs_build, run
from stub_tools import Machine

# More lines than a pipe holds: a reader that ends early would end the writer before it by SIGPIPE.
CTEST = """
n=0; while [ $n -lt 3000 ]; do n=$((n + 1)); echo " $n/3000 Test #$n: a.suite.with.a.long.name/t$n .....   Passed   $n.05 sec"; done
echo "3001/3001 Test #3001: suite/waits .....***Skipped   9999.00 sec"
[ -z "$FAILS" ]
"""


@pytest.fixture(name="machine")
def machine_fixture(tmp_path):
    machine = Machine(tmp_path)
    machine.add("ctest", CTEST)
    for script in ("setup.sh", "build.sh"):
        machine.add_file(machine.root / "scripts" / script, f'#!/bin/sh\necho "{script} $*" >>{machine.log}\nmkdir -p build/${{1#--dev}}\n')
    return machine


@pytest.mark.parametrize(
    ("arguments", "left_out"),
    [([], " --label-exclude thorough|slow"), (["--quick"], " --label-exclude thorough|slow|seconds"), (["--all"], "")],
)
def test_the_labels_decide_what_runs(machine, arguments, left_out):
    assert machine.call("test.sh", "--no-cuda", *arguments).returncode == 0
    (call,) = machine.calls("ctest")
    assert call.startswith("ctest --preset release -j ") and call.endswith(left_out) and call.count("--label") == bool(left_out)
    assert [line.split()[0] for line in machine.log.read_text().splitlines()] == ["setup.sh", "build.sh", "ctest"]


def test_cmake_labels_some_tests_of_a_folder_and_not_all():
    needs_build()
    if shutil.which("ctest") is None or not (BUILD / "tests" / "CTestTestfile.cmake").exists():
        pytest.skip(f"ctest lists no tests of {BUILD}")
    listed = json.loads(run("ctest", "--test-dir", BUILD, "--show-only=json-v1", "-R", "^python/").stdout)["tests"]
    labels = {test["name"]: [p["value"] for p in test["properties"] if p["name"] == "LABELS"] for test in listed}
    assert labels["python/docs/pages_test"] == labels["python/cli/table_test"] == []
    assert labels["python/layers_test"] == labels["python/cli/schemas_test"] == labels["python/fuzz/readers_test"] == [["seconds"]]
    assert labels["python/cli/doctor/doctor_test"] == labels["python/cli/duel_test"] == labels["python/fleet/judge_test"] == [["slow"]]
    assert labels["python/docs/adding_test"] == labels["python/scripts/gate_binaries_test"] == [["thorough"]]


@pytest.mark.parametrize("fails", ["", "yes"])
def test_the_log_ends_with_the_25_slowest_and_a_failure_stays_one(machine, fails):
    done = machine.call("test.sh", FAILS=fails)
    assert (done.returncode != 0) == bool(fails)
    head, first, second, *_ = done.stdout.splitlines()[-26:]
    assert (head, first, second) == ("The slowest tests, in seconds:", "9999.00 suite/waits", "3000.05 a.suite.with.a.long.name/t3000")
    assert done.stdout.splitlines()[-1] == "2977.05 a.suite.with.a.long.name/t2977"


def test_an_unknown_argument_is_named(machine):
    done = machine.call("test.sh", "--fast")
    assert done.returncode == 2 and "'--fast'; allowed: --quick, --all, --no-cuda, --checks" in done.stderr
