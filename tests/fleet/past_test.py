"""A fleet's report with the baseline of its model: a fleet that is slow as a whole, and what cannot be compared."""

import json

import pytest
from command_line import schema, strict_json
from ridgebench.__main__ import run
from synthetic_fleet import PLANNED, healthy, write_fleet, write_results


def promoted(tmp_path, machines: int) -> str:
    """The baseline of a model, of this number of healthy GPUs."""
    scatter = healthy(0.002)
    folders = []
    for number in range(machines):
        folders.append(tmp_path / "known" / str(number))
        write_results(folders[-1], f"good{number}", 0, PLANNED, lambda row, n=number: scatter("good", n, "isolated", row), rows=3)
    for folder in folders:
        consistent(folder)
    assert run("baseline", ["promote", "--model", *map(str, folders), "--into", str(tmp_path / "into")]) == 0
    [path] = (tmp_path / "into").rglob("*.jsonl")
    return str(path)


def consistent(folder) -> None:
    """Samples that say what the record says: a baseline reads them."""
    lines = [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]
    for one in lines:
        one |= {"samples_s": [one["time_median_s"]] * 7, "samples_per_batch": 7, "time_ci_low_s": one["time_median_s"], "time_ci_high_s": one["time_median_s"]}
    (folder / "records.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in lines))


def report(tmp_path, path: str, slower: float) -> tuple[int, dict]:
    scatter = healthy(0.002, seed=2)
    write_fleet(tmp_path / "fleet", 1, 8, lambda *key: slower * scatter(*key), rows=3)
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
