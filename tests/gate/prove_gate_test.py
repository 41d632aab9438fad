"""The proof of the gate: what it sums up and writes; one that was ended goes on."""

import json

import prove_gate
import pytest
from golden import GOLDEN, read_environment
from ridgebench.judge import gate
from ridgebench.pages import error_rates

ENVIRONMENT = read_environment(GOLDEN)


def session(name: str, asked: float, *verdicts: str, bound: str = "compute") -> dict:
    rows = [
        {"id": f"r{i}", "verdict": v, "change": asked, "spread": 0.005, "pairs": 20, "bound": bound}
        for i, v in enumerate(verdicts)
    ]
    told = {"name": name, "asked": asked, "seconds": 2, "rows": rows}
    return told | {"environment": ENVIRONMENT}


def test_groups_by_work_added_and_limit():
    sessions = [
        session("identical-01", 0, "SAME", "SAME", "WORSE"),
        session("identical-02", 0, "NOT_GATED", bound="memory"),
        session("one-of-50-01", 0.02, "WORSE"),
    ]
    summary = prove_gate.summarise(sessions)
    groups = {(g["asked"], g["bound"]): g for g in summary["groups"]}
    assert set(groups) == {(0, "compute"), (0, "memory"), (0.02, "compute")}
    assert (groups[0, "compute"]["tries"], groups[0, "compute"]["WORSE"]) == (3, 1)
    assert groups[0.02, "compute"]["tries"] == 1


def test_the_table_gives_bounds_and_its_source():
    sessions = [session(f"identical-{i:03}", 0, "SAME") for i in range(300)]
    sessions += [session(f"one-of-20-{i:03}", 0.05, "WORSE", "NOT_GATED") for i in range(60)]
    text = error_rates.table(prove_gate.summarise(sessions))
    none = f"0.0%, at most {gate.most_failures(0, 300):.1%}"
    all_found = f"100.0%, at least {1 - gate.most_failures(0, 60):.1%}"
    assert none in text and all_found in text
    assert "| 2 s | 2 | 120 | 60 WORSE, 60 NOT_GATED |" in text, "what was not gated is not a miss"
    assert "0.0%, at most 1.0%" in text and "at least 95.1%" in text
    assert "scripts/prove_gate.sh" in text and ENVIRONMENT["started"][:10] in text


def test_the_newest_proof_is_shown(tmp_path):
    assert error_rates.newest(tmp_path) is None
    for device, date in (("a", "2026-01-02"), ("b", "2026-01-01")):
        (tmp_path / device / "gate").mkdir(parents=True)
        (tmp_path / device / "gate" / f"{date}.json").write_text(json.dumps({"from": device}))
    assert error_rates.newest(tmp_path) == {"from": "a"}


FAKE = """#!/bin/sh
case "$*" in *--help|*--dry-run) exit ;; esac  # and it knows no turns
echo "$0 $RIDGEBENCH_INJECT_WORK" >> {log}
out=; for word; do [ "$last" = --out ] && out=$word; last=$word; done
mkdir -p "$out"; cp {golden}/records.jsonl "$out"
sed "s/\\"run_id\\": \\"synthetic\\"/\\"run_id\\": \\"$$\\"/" {golden}/environment.json >"$out/environment.json"
"""


@pytest.fixture(name="started")
def started_fixture(tmp_path):
    """A proof with a binary that repeats stored records, and the work that its processes added."""
    log = tmp_path / "log"
    binary = tmp_path / "ridgebench"
    binary.write_text(FAKE.format(log=log, golden=GOLDEN))
    binary.chmod(0o755)
    series = [prove_gate.Series("^matmul/", (), every, sessions=1, seconds=1) for every in (0, 50)]
    return prove_gate.Proof(binary, tmp_path / "out", "cpu", tuple(series)), log


def test_both_arms_are_timed_in_batches_of_as_many_launches(started):
    the_proof, log = started
    the_proof.run()
    assert set(the_proof.finished()) == {"identical-matmul-1s-01", "one-of-50-matmul-1s-01"}
    assert the_proof.finished()["one-of-50-matmul-1s-01"]["asked"] == 0.02
    work = [line.split(" ")[1] for line in log.read_text().splitlines()]
    scored = work[1:21] + work[22:]  # each session opens with one process that does not count
    assert scored[:20] == [""] * 20
    assert scored[20:24] == ["0/50", "1/50", "1/50", "0/50"]


def test_a_proof_goes_on_where_it_stopped(started):
    the_proof, log = started
    the_proof.run()
    processes = len(log.read_text().splitlines())
    lines = the_proof.lines.read_text().splitlines(keepends=True)
    the_proof.lines.write_text(lines[0])
    the_proof.run()
    assert len(the_proof.finished()) == 2
    assert len(log.read_text().splitlines()) == processes + 21


def test_the_simulated_table_keeps_what_the_method_promises():
    same, little, much = (error_rates.simulated(0.004, change)[0] for change in (0, 0.02, 0.05))
    assert same[gate.WORSE] <= gate.ALPHA and little[gate.WORSE] >= 0.95 and much[gate.WORSE] >= 0.999
    shares, pairs = error_rates.simulated(0.05, 0)
    assert shares[gate.UNDECIDED] > 0.9 and pairs < gate.LOOKS[-1], "hopeless rows end early and pass nothing"
    assert shares[gate.NOT_GATED] == 0
