"""`fleet report --rules FILE`: settings and least rates that the owner wants of each model."""

import json

import pytest
from damaged import attempt
from ridgebench.__main__ import run
from synthetic_fleet import write_fleet


@pytest.fixture(name="reported")
def reported_fixture(tmp_path, program):
    fleet = tmp_path / "fleet"
    write_fleet(fleet, 1, 8, rows=3)

    def reported(rules, code=0) -> dict:
        (tmp_path / "rules.json").write_text(json.dumps(rules))
        assert run("fleet", ["report", str(fleet), "--rules", str(tmp_path / "rules.json")]) == code
        found = json.loads((fleet / "report" / "report.json").read_text())
        return {gpu["index"]: (gpu["state"], gpu["severity"], gpu["reason"]) for gpu in found["gpus"] if gpu["state"] != "OK"}

    return fleet, reported


def test_a_gpu_with_another_setting_is_found(reported):
    fleet, report = reported
    path = attempt(fleet, "gn1") / "isolated" / "cuda-3" / "environment.json"
    value = json.loads(path.read_text())
    assert report({"*": {"ecc": value["devices"][0]["ecc"]}}) == {}
    value["devices"][0]["vbios"] = "1.2"
    path.write_text(json.dumps(value))
    others = json.loads((attempt(fleet, "gn1") / "isolated" / "cuda-2" / "environment.json").read_text())["devices"][0]["vbios"]
    found = report({"*": {"vbios": str(others)}}, code=4)
    assert found == {3: ("UNHEALTHY", "WARN", f'doctor: vbios is "1.2"; the rules of * want "{others}" at its beginning')}


def _row(fleet) -> dict:
    return json.loads((attempt(fleet, "gn1") / "loaded" / "cuda-0" / "records.jsonl").read_text().splitlines()[0])


def test_rows_below_the_least_rate_are_found(reported):
    fleet, report = reported
    row = _row(fleet)
    name = row["id"].rpartition("@")[0]
    assert report({"*": {"rates": {f"^{name}$": {"bytes_per_s": row["bytes_per_s"] * 0.99}}}}) == {}
    found = report({row["device"]: {}, "*": {"rates": {f"^{name}$": {"bytes_per_s": row["bytes_per_s"] * 1.5}}}}, code=4)
    assert sorted(found) == list(range(8))
    assert all(one[:2] == ("UNHEALTHY", "WARN") and one[2].startswith(f"{name} (isolated) has ") and "in 1 more rows" not in one[2] for one in found.values())


@pytest.mark.parametrize(("rules", "part"), [
    ({"*": {"powr": 1}}, "unknown key 'powr'; allowed: power_limit_w"),
    ({"*": {"rates": {".": {"flops_per_s": 1e9}}}}, "allowed: bytes_per_s"),
])
def test_rules_that_make_no_sense_are_refused(rules, part, reported, capsys):
    _, report = reported
    with pytest.raises(AssertionError):
        report(rules)
    assert part in capsys.readouterr().err
