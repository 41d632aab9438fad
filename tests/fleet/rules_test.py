"""`fleet report --rules FILE`: settings and least rates that the owner wants of each model."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from damaged import attempt
from ridgebench.__main__ import run
from ridgebench.base import patterns
from ridgebench.base.command_line import CommandError
from ridgebench.base.files import ResultsError
from ridgebench.data import program
from ridgebench.fleet.gpu import Fleet, Gpu, Reading
from ridgebench.fleet.rules import absent_models, idle_rates, judge_rates
from synthetic_fleet import write_fleet

READING = Reading("ok", 1.0, 1e9, "byte/s", None, None, None, None, (), None)


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
    assert all(one[:2] == ("UNHEALTHY", "WARN") and one[2].startswith(f"{name} (isolated) has ") for one in found.values())
    assert all(one[2].endswith("; 1 more row below the least rate") for one in found.values()), "both passes are slow"
    rest = report({"*": {"rates": {f"-^{name}$": {"bytes_per_s": 1.0}}}})
    assert rest == {}


def test_rules_are_of_gpus():
    host = Gpu("gn1", None, None, "Xeon", "DONE", None, 1, {}, {("isolated", "dram_copy"): READING}, host=True)
    gpu = replace(host, index=0, model="NVIDIA H200", host=False)
    rules = {"*": {"rates": {"^dram": {"bytes_per_s": 2e9}}}}
    found = judge_rates(Fleet(Path("fleet"), None, [host, gpu]), rules, Path("rules.json")).gpus
    assert [len(one.health) for one in found] == [0, 1]
    assert found[1].health[0].text == "dram_copy (isolated) has 1 GB/s, the rules want 2 GB/s"


def test_a_least_rate_that_chooses_no_row_is_named():
    gpu = Gpu("gn1", 0, None, "NVIDIA H200", "DONE", None, 1, {}, {("isolated", "dram_copy"): READING})
    rate = {"bytes_per_s": 1.0}
    rules = {"NVIDIA H200": {"rates": {"^dram_cpy/": rate, "copy": rate, "-dram": rate}}, "NVIDIA B200": {"rates": {"^none": rate}}, "*": {"ecc": True}}
    fleet = Fleet(Path("fleet"), None, [gpu, replace(gpu, host=True, model="Xeon")])
    assert idle_rates(fleet, rules, Path("rules.json")) == [f"rules.json: rates of {text!r} choose no row of 'NVIDIA H200'" for text in ("^dram_cpy/", "-dram")]
    assert idle_rates(fleet, {}, Path("rules.json")) == []


def test_a_model_that_no_gpu_is_is_said_where_another_one_has_no_rules():
    fleet = Fleet(Path("fleet"), None, [Gpu("gn1", 0, None, "NVIDIA H200", "DONE", None, 1, {}, {})])
    path = Path("rules.json")
    assert absent_models(fleet, {"H200": {}, "*": {}}, path) == ["rules.json: no GPU of the fleet is 'H200'; without rules of their own are 'NVIDIA H200'"]
    assert absent_models(fleet, {"NVIDIA H200": {}, "NVIDIA B200": {}}, path) == absent_models(fleet, {}, path) == []


def test_an_expression_that_takes_too_long_is_refused(monkeypatch):
    monkeypatch.setattr(patterns, "LIMIT_S", 0.01)
    gpu = Gpu("gn1", 0, None, "GPU", "DONE", None, 1, {}, {("isolated", "a" * 40): READING})
    with pytest.raises(CommandError, match="repeats within repeats"):
        judge_rates(Fleet(Path("fleet"), None, [gpu]), {"*": {"rates": {"(a+)+$x": {"bytes_per_s": 1.0}}}}, Path("rules.json"))


def test_a_doctor_that_fails_is_no_silence(reported, monkeypatch, capsys):
    """Without rules a report does without doctor; settings that nobody judged are not obeyed."""
    _, report = reported

    def fails(*_words, **_how):
        raise ResultsError("doctor does not answer")

    monkeypatch.setattr(program, "ask", fails)
    with pytest.raises(FileNotFoundError):
        report({"*": {"ecc": True}}, code=2)
    assert "doctor does not answer" in capsys.readouterr().err


@pytest.mark.parametrize(("rules", "part"), [
    ({"*": {"powr": 1}}, "unknown key 'powr'; allowed: power_limit_w"),
    ({"*": {"rates": {".": {"flops_per_s": 1e9}}}}, "allowed: bytes_per_s"),
])
def test_rules_that_make_no_sense_are_refused(rules, part, reported, capsys):
    _, report = reported
    with pytest.raises(FileNotFoundError):  # of the report
        report(rules, code=2)
    assert part in capsys.readouterr().err
