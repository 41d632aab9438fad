"""A fleet's report with the baseline of its model: a fleet that is slow as a whole, and what cannot be compared."""

import json
from pathlib import Path
from typing import Optional

import pytest
from command_line import schema, strict_json
from golden import change_records
from ridgebench.__main__ import run
from synthetic_fleet import PLANNED, healthy, write_fleet, write_results


BITS, OTHER = "0123456789abcdef", "fedcba9876543210"


def promoted(tmp_path, machines: int, states: Optional[dict[str, float]] = None, bits: Optional[str] = None) -> str:
    """The baseline of a model, of this number of healthy GPUs; by power state, with the factor of its times. bits: their fingerprints."""
    scatter = healthy(0.002)
    folders = []
    for state, slower in (states or {None: 1.0}).items():
        for number in range(machines):
            folders.append(tmp_path / "known" / f"{state}{number}")
            write_results(folders[-1], f"good{state}{number}", 0, PLANNED, lambda row, n=number, by=slower: by * scatter("good", n, "isolated", row), rows=3)
            consistent(folders[-1], state)
            change_records(folders[-1], lambda one: one | {"fingerprint": bits})
    assert run("baseline", ["promote", "--model", *map(str, folders), "--into", str(tmp_path / "into")]) == 0
    [path] = (tmp_path / "into").rglob("*.jsonl")
    return str(path)


def consistent(folder, state: Optional[str] = None) -> None:
    """Samples that say what the record says: a baseline reads them."""
    same = ("time_ci_low_s", "time_ci_high_s")
    change_records(folder, lambda one: one | {"samples_s": [one["time_median_s"]] * 7, "samples_per_batch": 7, "power_state": state} | {key: one["time_median_s"] for key in same})


def report(tmp_path, path: str, slower: float, state: Optional[str] = None, bits: Optional[str] = None,
           flags: tuple[str, ...] = ()) -> tuple[int, dict]:
    scatter = healthy(0.002, seed=2)
    write_fleet(tmp_path / "fleet", 1, 8, lambda *key: slower * scatter(*key), rows=3)
    for records in (tmp_path / "fleet").rglob("records.jsonl"):
        change_records(records.parent, lambda one: one | {"power_state": state, "fingerprint": bits, "flags": list(flags)})
    code = run("fleet", ["report", str(tmp_path / "fleet"), "--baseline", path])
    found = strict_json((tmp_path / "fleet" / "report" / "report.json").read_text())
    assert list(schema("fleet_report").iter_errors(found)) == []
    return code, found


@pytest.mark.parametrize(("machines", "slower", "code", "says"), [
    (10, 1.3, 4, "surely, by 10 machines"), (10, 1.03, 4, "surely, by 10 machines"), (10, 1.0, 0, ""), (3, 1.3, 4, "more than 10 % slower than the slowest of 3 values"), (3, 1.05, 0, ""),
])
def test_a_fleet_that_is_slow_as_a_whole_is_found(machines, slower, code, says, tmp_path):
    found_code, found = report(tmp_path, promoted(tmp_path, machines), slower)
    assert found_code == code and found["states"]["SLOW"] == (8 if code else 0)
    reasons = {one["reason"] for one in found["findings"] if one["state"] == "SLOW"}
    assert all(says in reason and "slower than the baseline in" in reason for reason in reasons) and bool(reasons) == bool(code)


def test_a_row_is_compared_with_machines_of_its_power_state(tmp_path):
    path = promoted(tmp_path, 10, {"full_clock": 1.0, "capped": 1.2})
    assert report(tmp_path, path, 1.05, "full_clock")[1]["states"]["SLOW"] == 8


def test_a_row_of_another_power_state_is_not_compared_without_a_word(tmp_path):
    code, found = report(tmp_path, promoted(tmp_path, 10, {"full_clock": 1.0}), 1.0, "capped")
    assert code == 0 and found["states"]["SLOW"] == 0
    said = {note for gpu in found["gpus"] for note in gpu["notes"]}
    assert len(said) == 1 and said.pop().startswith("against the baseline power states differ in 3 rows, ")


def test_rows_that_caches_served_are_not_compared_with_those_of_memory(tmp_path):
    code, found = report(tmp_path, promoted(tmp_path, 10), 0.5, flags=("served_by_cache",))
    assert code == 0 and found["states"]["SLOW"] == 0
    said = {note for gpu in found["gpus"] for note in gpu["notes"]}
    assert len(said) == 1 and said.pop().endswith(" and in 2 more: caches may have served the run only (served_by_cache)")


def test_a_slow_row_of_another_power_state_says_so(tmp_path):
    _, found = report(tmp_path, promoted(tmp_path, 10, {"full_clock": 1.0}), 1.3, "capped")
    assert all("(surely, by 10 machines; power states differ: capped 1, full_clock 10)" in gpu["reason"] for gpu in found["gpus"])


def test_what_cannot_be_compared_ends_with_its_key(tmp_path, capsys):
    path = promoted(tmp_path, 3)
    environment = path.removesuffix(".jsonl") + ".environment.json"
    told = json.loads(open(environment, encoding="utf-8").read())
    told["devices"][0]["power_limit_w"] = 500.0
    with open(environment, "w", encoding="utf-8") as file:
        json.dump(told, file)
    write_fleet(tmp_path / "fleet", 1, 8, rows=3)
    capsys.readouterr()
    assert run("fleet", ["report", str(tmp_path / "fleet"), "--baseline", path]) == 5
    error = capsys.readouterr().err
    assert "NOT_COMPARABLE" in error and "power_limit_w: 700.0 against 500.0 of the baseline" in error and error.count("\n") == 1
    assert not (tmp_path / "fleet" / "report").exists()


def test_a_file_that_is_no_baseline_of_a_model_is_refused(tmp_path, capsys):
    write_fleet(tmp_path / "fleet", 1, 8, rows=3)
    assert run("fleet", ["report", str(tmp_path / "fleet"), "--baseline", str(tmp_path / "none.jsonl")]) == 2
    assert "none.jsonl: not found" in capsys.readouterr().err


@pytest.mark.parametrize(("machines", "code", "says"), [
    (2, 6, "other bits than 2 of 2 machines of the baseline in "), (1, 0, "other bits than the only machine of the baseline: two machines cannot vote in "),
])
def test_a_fleet_whose_gpus_all_have_other_bits_than_the_baseline_is_found(machines, code, says, tmp_path):
    """The GPUs agree with each other: peers do not show it."""
    path = promoted(tmp_path, machines, bits=BITS)
    found_code, found = report(tmp_path, path, 1.0, bits=OTHER)
    assert found_code == code and found["states"]["WRONG"] == (8 if code else 0)
    assert all(any(says in text for text in (gpu["reason"] or "", *gpu["notes"])) for gpu in found["gpus"])


def test_equal_bits_and_those_of_another_program_are_no_finding(tmp_path):
    path = promoted(tmp_path, 2, bits=BITS)
    code, found = report(tmp_path, path, 1.0, bits=BITS)
    assert code == 0 and found["states"]["WRONG"] == 0
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) | {"program": "0.1.0 abc", "fingerprint": OTHER} for line in file]
    with open(path, "w", encoding="utf-8") as file:
        file.write("".join(json.dumps(line) + "\n" for line in lines))
    again = tmp_path / "again"
    again.mkdir()
    assert report(again, path, 1.0, bits=BITS)[1]["states"]["WRONG"] == 0


def test_of_a_folder_of_baselines_that_of_the_model_is_taken(tmp_path, capsys):
    path = Path(promoted(tmp_path, 2, bits=BITS))
    other = path.parents[3] / "another-gpu" / "580-13.0" / "model" / path.name
    other.parent.mkdir(parents=True)
    other.write_text(path.read_text().replace(BITS, OTHER))
    environment = json.loads(path.with_suffix(".environment.json").read_text())
    environment["devices"][0]["model"] = "another GPU"
    other.with_suffix(".environment.json").write_text(json.dumps(environment))
    code, found = report(tmp_path, str(path.parents[3]), 1.3, bits=BITS)
    assert code == 4 and found["states"]["SLOW"] == 8 and found["states"]["WRONG"] == 0
    capsys.readouterr()
    assert run("fleet", ["report", str(tmp_path / "fleet"), "--baseline", str(tmp_path / "known")]) == 2
    assert "no baseline of a model in it; allowed: " in capsys.readouterr().err
