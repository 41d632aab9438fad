"""Runs from which these tests start, and keys that sign them."""

import subprocess

import pytest
from command_line import OK, run
from step_records import measure_ceilings


@pytest.fixture(scope="module", name="finished")
def finished_fixture(tmp_path_factory):
    """Return the folder of an uninterrupted run. A test that changes it copies it first."""
    folder = tmp_path_factory.mktemp("finished") / "results"
    assert run(folder).returncode == OK
    return folder


@pytest.fixture(scope="module", name="ceilings")
def ceilings_fixture(tmp_path_factory):
    """Return the folder of the ceilings that judge a step."""
    folder = tmp_path_factory.mktemp("ceilings") / "results"
    measure_ceilings(folder)
    return folder


@pytest.fixture(scope="module", name="keys")
def keys_fixture(tmp_path_factory):
    """Throw-away keys of alice and bob, and a file that lists alice."""
    folder = tmp_path_factory.mktemp("keys")
    for name in ("alice", "bob"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", folder / name], check=True)
    for name in ("alice", "bob"):
        kind, key, _ = (folder / f"{name}.pub").read_text().split()
        (folder / f"{name}.signers").write_text(f"{name}@example {kind} {key}\n")
    return folder
