"""Cross-checks in turn: whose speed is whose, and what a block gives; shell scripts stand in."""

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "crosscheck"))

import sides  # noqa: E402

SCRIPT = "for i in 1 2 3; do kill -STOP 0; echo {name} >>{log}; done; echo 'copy median {speed} GB/s'"


def program(name: str, speed: float, log: Path) -> sides.Side:
    text = SCRIPT.format(name=name, speed=speed, log=log)
    return sides.program_side(name, r"^copy .*median +([0-9.]+)", "sh", "-c", text)


def test_the_ratio_is_that_of_a_to_b_whoever_begins(tmp_path):
    log = tmp_path / "log"
    found = sides.compare(program("A", 5, log), program("B", 2, log))
    assert (found["ratio"], found["low"], found["high"]) == (2.5, 2.5, 2.5)
    assert (found["a_speed"], found["b_speed"]) == (5, 2)
    assert "".join(log.read_text().split()) == "ABBAAB" + "BAABBA" + "ABBAAB" + "BAABBA" + "ABBAAB"


def test_a_row_gives_the_rate_of_its_unit(tmp_path):
    row = {"id": "relu/x(1)@cpu", "flops_per_s": 3e9, "bytes_per_s": 8e9}
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "records.jsonl").write_text(json.dumps(row) + "\n")
    side = sides.row_side("/bin/ridgebench", row, "GB/s", "ceilings", "--profile", "standard")
    assert side.speed(tmp_path) == 8
    assert sides.row_side("", row, "GFLOP/s", "").speed(tmp_path) == 3
    command = side.command(tmp_path)
    assert command[:2] == ["/bin/ridgebench", "run"] and "--take-turns" in command
    assert r"^relu/x\(1\)@cpu$" in command and "standard" in command


def test_a_side_that_fails_is_named(tmp_path):
    broken = sides.program_side("broken", "", "sh", "-c", "exit 3")
    with pytest.raises(SystemExit, match="broken ended with code 3"):
        sides.speeds([program("A", 1, tmp_path / "log"), broken])


def test_a_program_may_print_every_sample_in_a_unit_of_its_own(tmp_path):
    side = sides.program_side("x", r"([0-9.]+) MFlops", "true", scale=1e-3)
    (tmp_path / "stdout").write_text("M= 1 : 2000.0 MFlops 1 sec\nM= 2 : 9000.0 MFlops\nM= 3 : 4000 MFlops\n")
    assert side.speed(tmp_path) == 4
    (tmp_path / "stdout").write_text("no such kernel")
    with pytest.raises(SystemExit, match="x did not print its speed: no such kernel"):
        side.speed(tmp_path)
