"""`publish` signs a sound folder, and `verify --signers` says whose signature it has."""

import re
import shutil
import subprocess

import pytest
from command_line import OK, ROW_FAILED, USAGE, environment, refused, ridgebench

pytestmark = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="OpenSSH has ssh-keygen")


@pytest.fixture(name="folder")
def folder_fixture(finished, tmp_path):
    shutil.copytree(finished, tmp_path / "run")
    return tmp_path / "run"


def verified(folder, signers) -> tuple[int, str]:
    done = ridgebench("verify", folder, "--signers", signers)
    return done.returncode, done.stdout + done.stderr


def test_a_signed_folder_names_its_signer(folder, keys):
    done = ridgebench("publish", folder, "--key", keys / "alice")
    assert done.returncode == OK and done.stdout.startswith(f"{folder}/SHA256SUMS.sig: signed by ED25519 key SHA256:"), done.stderr
    code, said = verified(folder, keys / "alice.signers")
    assert code == OK and said.splitlines()[0] == f"{folder}: sound"
    assert said.splitlines()[1].startswith(f"{folder}: signed by alice@example, ED25519 key SHA256:")
    assert "whose owner --signers names" in ridgebench("verify", folder).stdout


def test_a_wrong_key_and_an_absent_signature_are_named(folder, keys):
    code, said = verified(folder, keys / "alice.signers")
    assert code == ROW_FAILED and said == "ridgebench: SHA256SUMS.sig is missing: nobody signed the results\n"
    assert ridgebench("publish", folder, "--key", keys / "bob").returncode == OK
    code, said = verified(folder, keys / "alice.signers")
    assert code == ROW_FAILED and said.count("\n") == 1 and "signed by ED25519 key" in said and f"which {keys / 'alice.signers'} does not list" in said


def test_a_file_that_was_changed_is_named(folder, keys):
    ridgebench("publish", folder, "--key", keys / "alice")
    sums = folder / "SHA256SUMS"
    kept = sums.read_text()
    with open(folder / "environment.json", "a") as file:
        file.write("\n")
    code, said = verified(folder, keys / "alice.signers")
    assert code == ROW_FAILED and "environment.json is not what the run wrote: its checksum differs" in said
    changed = subprocess.run(["sha256sum", folder / "environment.json"], capture_output=True, text=True, check=True).stdout.split()[0]
    sums.write_text("".join(f"{changed}  environment.json\n" if line.endswith(" environment.json\n") else line for line in kept.splitlines(True)))
    code, said = verified(folder, keys / "alice.signers")
    judged, signed = said.splitlines()
    assert code == ROW_FAILED and signed == "ridgebench: SHA256SUMS.sig does not sign this SHA256SUMS: one of them was changed"
    assert judged.startswith("ridgebench: judged.json: runs[0].environment_sha256 is ")


def test_a_file_that_was_added_after_the_signature_is_named(folder, keys):
    (folder / "NOTES.md").write_text("before\n")
    ridgebench("publish", folder, "--key", keys / "alice")
    (folder / "report.html").write_text("drawn from the results")
    (folder / "figures").mkdir()
    (folder / "figures" / "roofline.svg").write_text("drawn, too")
    assert verified(folder, keys / "alice.signers")[0] == OK
    (folder / "raw").mkdir()
    (folder / "raw" / "records.jsonl").write_text("{}\n")
    (folder / "NOTES.md").write_text("after\n")
    code, said = verified(folder, keys / "alice.signers")
    assert code == ROW_FAILED and "ridgebench: SHA256SUMS does not list raw/records.jsonl\n" in said
    assert "ridgebench: NOTES.md is not what the run wrote: its checksum differs\n" in said
    (folder / "SHA256SUMS.sig").unlink()
    assert "raw/records.jsonl" not in ridgebench("verify", folder).stderr


def test_a_run_with_a_wrong_row_is_signed_as_what_it_is(keys, tmp_path):
    rows = ("--fingerprint", "--filter", "^relu/naive/fp32/", "--budget", "1", "--no-plot")
    assert ridgebench("run", "--device", "sim:units=4,wrong_sm=2", *rows, "--out", tmp_path / "run").returncode == ROW_FAILED
    done = ridgebench("publish", tmp_path / "run", "--key", keys / "alice")
    wrong = re.compile(r": unit_products/\S+ is wrong: SM 2 computes other bits than most of 4\n")
    assert done.returncode == OK and "signed by" in done.stdout and wrong.search(done.stdout), done.stderr
    code, said = verified(tmp_path / "run", keys / "alice.signers")
    assert code == ROW_FAILED and "signed by alice@example" in said and wrong.search(said) and "sound" not in said


def test_a_signature_without_sums_and_one_that_is_no_signature_are_named(folder, keys):
    ridgebench("publish", folder, "--key", keys / "alice")
    sums = (folder / "SHA256SUMS").rename(folder / "kept")
    with open(sums) as file:  # must not be taken for SHA256SUMS
        done = ridgebench("verify", folder, "--signers", keys / "alice.signers", stdin=file)
    assert done.returncode == ROW_FAILED and "SHA256SUMS.sig signs a SHA256SUMS that is missing" in done.stderr
    sums.rename(folder / "SHA256SUMS")
    (folder / "SHA256SUMS.sig").write_text("no signature\n")
    code, said = verified(folder, keys / "alice.signers")
    assert code == ROW_FAILED and "does not sign this SHA256SUMS" in said and "was changed" not in said


@pytest.mark.parametrize("said", ["unknown option -- Y", 'Unsupported operation for -Y: "find-principals"'])
def test_an_ssh_keygen_that_is_too_old_is_no_proof_of_a_change(folder, keys, tmp_path, said):
    ridgebench("publish", folder, "--key", keys / "alice")
    (tmp_path / "old").mkdir()
    old = tmp_path / "old" / "ssh-keygen"
    old.write_text(f"#!/bin/sh\necho '{said}' >&2\necho 'usage: ssh-keygen [-q]' >&2\nexit 1\n")
    old.chmod(0o755)
    refused(ridgebench("verify", folder, env=environment(PATH=str(old.parent))), "OpenSSH 8.2 or newer")


def test_a_signature_for_another_purpose_is_refused(folder, keys):
    subprocess.run(["ssh-keygen", "-q", "-Y", "sign", "-f", keys / "alice", "-n", "file", folder / "SHA256SUMS"], check=True)
    code, said = verified(folder, keys / "alice.signers")
    assert code == ROW_FAILED and "does not sign this SHA256SUMS" in said


def test_only_sound_results_are_signed(folder, keys):
    (folder / "benchmark.json").write_text("{}")
    done = ridgebench("publish", folder, "--key", keys / "alice")
    assert done.returncode == ROW_FAILED and done.stderr.splitlines()[-1] == f"ridgebench: {folder} is not signed: only sound results are"
    assert not (folder / "SHA256SUMS.sig").exists()


def test_what_is_no_key_is_refused(folder, keys, tmp_path):
    (tmp_path / "text").write_text("no key")
    refused(ridgebench("publish", folder, "--key", tmp_path / "text"), str(tmp_path / "text"), "cannot sign", "a key of OpenSSH")
    refused(ridgebench("publish", folder, "--key", tmp_path / "absent"), str(tmp_path / "absent"))
    refused(ridgebench("verify", folder, "--signers", tmp_path / "absent"), str(tmp_path / "absent"))
    refused(ridgebench("publish", folder), "--key")
    assert not (folder / "SHA256SUMS.sig").exists()


def test_without_ssh_keygen_one_line_says_so(folder, keys, tmp_path):
    refused(ridgebench("publish", folder, "--key", keys / "alice", env=environment(PATH=str(tmp_path))), "ssh-keygen of OpenSSH is not on the PATH")


def test_without_ssh_keygen_a_fault_of_the_results_is_named_all_the_same(folder, keys, tmp_path):
    ridgebench("publish", folder, "--key", keys / "alice")
    with open(folder / "environment.json", "a") as file:
        file.write("\n")
    done = ridgebench("verify", folder, env=environment(PATH=str(tmp_path)))
    assert done.returncode == USAGE and "environment.json is not what the run wrote" in done.stderr and "not on the PATH" in done.stderr
