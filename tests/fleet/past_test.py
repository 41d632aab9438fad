"""A fleet's report with the baseline of its model: a fleet that is slow as a whole, and what cannot be compared."""

import json
from typing import Optional

import pytest
from command_line import schema, strict_json
from golden import change_records
from ridgebench.__main__ import run
from synthetic_fleet import PLANNED, healthy, write_fleet, write_results


def promoted(tmp_path, machines: int, states: Optional[dict[str, float]] = None) -> str:
    """The baseline of a model, of this number of healthy GPUs; by power state, with the factor of its times."""
    scatter = healthy(0.002)
    folders = []
    for state, slower in (states or {None: 1.0}).items():
        for number in range(machines):
            folders.append(tmp_path / "known" / f"{state}{number}")
            write_results(folders[-1], f"good{state}{number}", 0, PLANNED, lambda row, n=number, by=slower: by * scatter("good", n, "isolated", row), rows=3)
            consistent(folders[-1], state)
    assert run("baseline", ["promote", "--model", *map(str, folders), "--into", str(tmp_path / "into")]) == 0
    [path] = (tmp_path / "into").rglob("*.jsonl")
    return str(path)


def consistent(folder, state: Optional[str] = None) -> None:
    """Samples that say what the record says: a baseline reads them."""
    same = ("time_ci_low_s", "time_ci_high_s")
    change_records(folder, lambda one: one | {"samples_s": [one["time_median_s"]] * 7, "samples_per_batch": 7, "power_state": state} | {key: one["time_median_s"] for key in same})


def report(tmp_path, path: str, slower: float, state: Optional[str] = None) -> tuple[int, dict]:
    scatter = healthy(0.002, seed=2)
    write_fleet(tmp_path / "fleet", 1, 8, lambda *key: slower * scatter(*key), rows=3)
    for records in (tmp_path / "fleet").rglob("records.jsonl"):
        change_records(records.parent, lambda one: one | {"power_state": state})
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
