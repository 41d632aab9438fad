"""What may falsify all rows of a run: said before the first one, recorded, and a word in comparisons."""

import os
import subprocess

import pytest
from command_line import OK, SMALL, read_environment, ridgebench, run

# flock() as it fails on a network file system without a lock daemon.
NO_LOCKS = """
#include <errno.h>
int flock(int file, int operation) {
  errno = ENOLCK;
  return -1;
}
"""


def test_a_fill_that_is_not_random_is_said_recorded_and_compared(finished, tmp_path):
    folder = tmp_path / "zeros"
    done = run(folder, *SMALL, "--fill", "zeros")
    first, *_ = done.stderr.splitlines()
    assert done.returncode == OK
    assert first == "note: all rows are in doubt: all inputs are zero: a device draws less power, and may run faster"
    assert [one["code"] for one in read_environment(folder)["conditions"]] == ["fill"]
    assert read_environment(finished)["conditions"] == []
    again = ridgebench("run", "--resume", folder)
    assert [one["code"] for one in read_environment(folder)["conditions"]] == ["fill"], again.stderr
    compared = ridgebench("compare", finished, folder, "--allow-mismatch", "fill")
    assert "conditions: candidate fill" in compared.stdout, compared.stderr
    assert "conditions" not in ridgebench("compare", finished, finished).stdout


@pytest.fixture(name="without_locks")
def without_locks_fixture(tmp_path):
    (tmp_path / "flock.c").write_text(NO_LOCKS)
    library = tmp_path / "flock.so"
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", tmp_path / "flock.c", "-o", library], check=True)
    return os.environ | {"LD_PRELOAD": str(library)}


def test_a_file_system_without_locks_is_named(without_locks, tmp_path):
    folder = tmp_path / "results"
    done = run(folder, env=without_locks)
    assert done.returncode == OK
    assert f"note: the file system of {folder} has no locks: no other run is kept out of it\n" in done.stderr
