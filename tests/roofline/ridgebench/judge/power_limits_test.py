"""`ridgebench roofline-energy`: the knee of a power limit, from runs that were made at several limits."""

import json
import shutil
from pathlib import Path

import pytest
from golden import ROOT

from ridgebench.__main__ import main
from ridgebench.data.records import schema_of

H200 = ROOT / "results" / "nvidia-h200" / "2026-11-22-7f6e7b5"
ROW = "matmul/cublas_tuned/bf16/m:8192/n:8192/k:8192/layout:nt/steady@cuda:0"
# Power limit in W: the rate of the row in TFLOP/s, its power and the standard error of it. Made up: 500 W give the most for a joule.
LIMITS = {700: (680.0, 690.0, 1.0), 600: (660.0, 595.0, 1.0), 500: (600.0, 497.0, 1.0), 400: (420.0, 399.0, 1.0)}


def run_at(folder: Path, limit: float, rate: float, power: float, error: float, interval: float = 0.0, **environment) -> Path:
    """A run at a limit with one row: its rate in TFLOP/s with half of its 95 % interval as a share, its power, and the error of that."""
    shutil.copytree(H200, folder, ignore=shutil.ignore_patterns("figures", "*.md", "judged.json", "benchmark.json", "SHA256SUMS"))
    known = json.loads((folder / "environment.json").read_text())
    known["devices"][0]["power_limit_w"] = limit
    (folder / "environment.json").write_text(json.dumps(known | environment))
    lines = []
    for line in (folder / "records.jsonl").read_text().splitlines():
        record = json.loads(line)
        if record["id"] == ROW:
            faster = rate * 1e12 / record["flops_per_s"]
            record["samples_s"] = [sample / faster for sample in record["samples_s"]]
            record["time_median_s"] /= faster
            ends = [record["time_median_s"] / (1 + share) for share in (interval, -interval)]
            record |= {"time_ci_low_s": ends[0], "time_ci_high_s": ends[1]}
            record["samples_s"] += ends
            record |= {key: record[key] * faster for key in ("flops_per_s", "bytes_per_s")}
            record["telemetry"]["window"] |= {"power_w": power, "power_error_w": error, "energy_per_flop_j": power / (rate * 1e12)}
            lines.append(json.dumps(record))
    (folder / "records.jsonl").write_text("\n".join(lines) + "\n")
    return folder


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> list[str]:
    root = tmp_path_factory.mktemp("limits")
    return [str(run_at(root / f"power-{limit}", limit, *facts)) for limit, facts in LIMITS.items()]


def answer(capsys, *words: str) -> dict:
    assert main(["roofline-energy", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def refused(capsys, *words: str, code: int = 2) -> str:
    assert main(["roofline-energy", *words]) == code
    error = capsys.readouterr().err
    assert error.startswith("roofline-energy: ") and error.count("\n") == 1
    return error


def test_the_knee_is_the_limit_with_the_most_flop_per_joule(folders, capsys):
    import jsonschema

    found = answer(capsys, *folders)
    jsonschema.validate(found, schema_of("roofline_energy"))
    (row,) = found["rows"]
    assert (row["id"], row["knee_w"], row["keeps_speed_w"]) == (ROW, 500, 600)
    assert [point["power_limit_w"] for point in row["points"]] == [400, 500, 600, 700]
    knee = row["points"][1]
    assert knee["flops_per_joule"] == pytest.approx(600e12 / 497)
    error = 1.96 / 497
    assert knee["flops_per_joule_ci_low"] == pytest.approx(600e12 / 497 * (1 - error))
    assert (row["knee_ci_low_w"], row["knee_ci_high_w"], row["knee_may_lie"]) == (500, 500, None)
    assert row["most_flops_per_joule_w"] == 500


@pytest.mark.parametrize(("limits", "side", "end"), [((500, 600, 700), "below", "lowest"), ((400, 500), "above", "highest")])
def test_the_limit_at_an_end_of_those_tried_is_no_knee(folders, capsys, limits, side, end):
    import jsonschema

    words = [folder for folder, limit in zip(folders, LIMITS) if limit in limits]
    found = answer(capsys, *words)
    jsonschema.validate(found, schema_of("roofline_energy"))
    (row,) = found["rows"]
    assert (row["knee_w"], row["most_flops_per_joule_w"], row["knee_may_lie"]) == (None, 500, side)
    assert (row["knee_ci_low_w"], row["knee_ci_high_w"]) == ((None, 500) if side == "below" else (500, None))
    assert main(["roofline-energy", *words]) == 0
    assert f"most FLOP per joule: 500 W, the {end} limit that was tried: the knee may lie {side} it\n" in capsys.readouterr().out


def test_an_interval_that_reaches_the_lowest_limit_has_no_end_there(folders, capsys, tmp_path):
    near = run_at(tmp_path / "near", 380, 450.0, 379.0, 8.0)  # 1.187 TFLOP a joule +- 4.1 %
    (row,) = answer(capsys, *folders, str(near))["rows"]
    assert (row["knee_w"], row["knee_ci_low_w"], row["knee_ci_high_w"], row["knee_may_lie"]) == (500, None, 500, None)


def test_the_limit_that_keeps_the_speed_has_an_interval(folders, capsys, tmp_path):
    """95 % of 680 TFLOP/s are 646: a rate of 640 +- 4 % may be more, and one of 661 +- 3 % may be less."""
    near = run_at(tmp_path / "near", 550, 640.0, 540.0, 1.0, interval=0.04)
    wide = run_at(tmp_path / "wide", 600, 661.0, 595.0, 1.0, interval=0.03)
    (row,) = answer(capsys, *folders, str(near), str(wide))["rows"]
    assert (row["keeps_speed_w"], row["keeps_speed_ci_low_w"], row["keeps_speed_ci_high_w"]) == (600, 550, 700)
    assert main(["roofline-energy", *folders, str(near), str(wide)]) == 0
    assert "95 % of the highest rate: from 600 W on (550 to 700 W within the intervals)\n" in capsys.readouterr().out


def test_the_lowest_limit_that_keeps_the_speed_may_not_be_the_last(folders, capsys):
    (row,) = answer(capsys, *folders[:2])["rows"]
    assert (row["keeps_speed_w"], row["keeps_speed_ci_low_w"], row["keeps_speed_may_lie"]) == (600, None, "below")
    assert main(["roofline-energy", *folders[:2]]) == 0
    assert "95 % of the highest rate: from 600 W on, the lowest limit that was tried: a lower one may keep it, too\n" in capsys.readouterr().out


def test_limits_within_the_intervals_are_named(folders, capsys, tmp_path):
    near = run_at(tmp_path / "near", 550, 645.0, 540.0, 5.0)  # 1.194 TFLOP a joule +- 1.8 %, where 500 W have 1.207
    (row,) = answer(capsys, *folders, str(near))["rows"]
    assert (row["knee_w"], row["knee_ci_low_w"], row["knee_ci_high_w"]) == (500, 500, 550)
    assert main(["roofline-energy", *folders, str(near)]) == 0
    text = capsys.readouterr().out
    assert "most FLOP per joule: 500 W (500 to 550 W within the intervals)\n95 % of the highest rate: from 600 W on\n" in text


def test_of_two_runs_at_one_limit_the_faster_counts(folders, capsys, tmp_path):
    again = run_at(tmp_path / "again", 700, 690.0, 690.0, 1.0)
    (row,) = answer(capsys, *folders, str(again))["rows"]
    assert row["points"][-1]["flops_per_s"] == pytest.approx(690e12) and len(row["points"]) == 4


def test_what_it_refuses(folders, capsys, tmp_path):
    assert "the runs have 700 W; allowed: rows with a rate and a power at two limits" in refused(capsys, folders[0])
    assert "no row of the runs matches" in refused(capsys, *folders, "--filter", "^relu/")
    assert "--filter '(' is not a regular expression" in refused(capsys, *folders, "--filter", "(")
    assert "the runs have no row with a power" in refused(capsys, str(H200))
    assert "runs of a GPU" in refused(capsys, str(run_at(tmp_path / "none", None, *LIMITS[500])), folders[0])
    assert "the run was interrupted" in refused(capsys, str(run_at(tmp_path / "cut", 650, *LIMITS[600], interrupted=True)), folders[0])
    host = ROOT / "results" / "amd-epyc-2-threads" / "2026-11-23-d549ba8"
    assert "the runs have no row with a power" in refused(capsys, str(host))


def test_runs_that_differ_in_more_than_the_limit_are_refused(folders, capsys, tmp_path):
    h100 = ROOT / "results/nvidia-h100-80gb-hbm3/2026-11-22-7f6e7b5"
    assert "model: NVIDIA H200 against NVIDIA H100 80GB HBM3" in refused(capsys, folders[0], str(h100), code=5)
    assert "fill: normal against zeros" in refused(capsys, folders[0], str(run_at(tmp_path / "fill", 650, *LIMITS[600], fill="zeros")), code=5)


def test_another_board_of_the_model_is_noted(folders, capsys, tmp_path):
    other = run_at(tmp_path / "board", 650, *LIMITS[600])
    known = json.loads((other / "environment.json").read_text())
    known["devices"][0]["uuid_hash"] = "0123456789abcdef"
    (other / "environment.json").write_text(json.dumps(known))
    assert main(["roofline-energy", folders[0], str(other)]) == 0
    assert "note: " in (error := capsys.readouterr().err) and "uuid_hash: " in error


@pytest.mark.parametrize("factor", [1e3, 1.3, 0.7, 1e-300])
def test_an_energy_that_contradicts_power_and_rate_is_refused(folders, tmp_path, capsys, factor):
    folder = run_at(tmp_path / "run", 300, 400.0, 299.0, 1.0)
    record = json.loads((folder / "records.jsonl").read_text())
    record["telemetry"]["window"]["energy_per_flop_j"] *= factor
    (folder / "records.jsonl").write_text(json.dumps(record) + "\n")
    error = refused(capsys, *folders, str(folder), code=6)
    assert "energy_per_flop_j is" in error and "but power_w and the rate give 7.475e-13; allowed: a difference of up to 25%" in error
