"""Stored files of Google Benchmark and nvbench: described at once, and judged only if enough processes were measured in turns."""

import json
import random
import shutil
import struct

import pytest
from golden import GOLDEN, ROOT
from ridgebench.judge.compare_cli import main
from ridgebench.judge.stored_files import median_interval

IMPORTS = ROOT / "tests" / "data" / "imports"


def gbench(path, rows: dict[str, list[float]], date="2026-11-27T00:00:00+00:00", **context):
    entries = [{"name": name, "run_name": name, "run_type": "iteration", "repetition_index": i, "real_time": t * 1e9, "time_unit": "ns"}
               for name, times in rows.items() for i, t in enumerate(times)]
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"context": {"date": date, "library_build_type": "release", **context}, "benchmarks": entries}))
    return path


def nvbench(folder, times: list[float], size=None, write=True):
    """A file with the samples that --jsonbin writes beside it."""
    (folder / "x.json-bin").mkdir(parents=True)
    if write:
        (folder / "x.json-bin" / "0.bin").write_bytes(struct.pack(f"<{len(times)}f", *times))
    mean = {"tag": "nv/cold/time/gpu/mean", "data": [{"name": "value", "type": "float64", "value": str(sum(times) / len(times))}]}
    data = [{"name": "filename", "type": "string", "value": "x.json-bin/0.bin"}, {"name": "size", "value": str(size or len(times))}]
    state = {"name": "Device=0", "summaries": [mean, {"tag": "nv/json/bin:nv/cold/sample_times", "data": data}]}
    text = {"devices": [{"name": "A GPU"}], "benchmarks": [{"name": "copy", "states": [state]}]}
    (folder / "x.json").write_text(json.dumps(text))
    return folder / "x.json"


def compare(tmp_path, *arguments) -> tuple[int, dict]:
    out = tmp_path / "out.json"
    out.unlink(missing_ok=True)
    try:
        code = main([*map(str, arguments), "--json", str(out)])
    except SystemExit as stop:
        code = stop.code
    return code, json.loads(out.read_text()) if out.exists() else {}


def times(seed, factor=1.0, count=9) -> list[float]:
    draw = random.Random(seed)
    return [1e-3 * factor * draw.lognormvariate(0, 0.002) for _ in range(count)]


def test_two_files_of_google_benchmark_are_described(tmp_path, capsys):
    one = gbench(tmp_path / "a.json", {"sort": times(1), "copy": times(2)})
    other = gbench(tmp_path / "b.json", {"sort": times(3, 1.05), "copy": times(4)})
    code, report = compare(tmp_path, one, other)
    assert code == 0 and not report["is_verdict"] and report["counts"] == {"DESCRIBED": 2}
    rows = {row["id"]: row for row in report["rows"]}
    assert rows["sort"]["change"] == pytest.approx(0.05, abs=0.01) and rows["sort"]["beyond_noise"]
    assert rows["sort"]["low"] < rows["sort"]["change"] < rows["sort"]["high"]
    assert not rows["copy"]["beyond_noise"] and rows["copy"]["baseline_precision"] > 0
    assert report["notes"][-1] == "described, not judged: processes: 1 and 1; 10 a side, measured in turns, would be judged"
    assert "not a verdict" in capsys.readouterr().out


def test_samples_of_nvbench_give_an_interval(tmp_path):
    one, other = nvbench(tmp_path / "a", times(1, count=99)), nvbench(tmp_path / "b", times(2, 0.9, count=99))
    code, report = compare(tmp_path, one, other)
    (row,) = report["rows"]
    assert code == 0 and row["change"] == pytest.approx(-0.1, abs=0.01) and row["beyond_noise"] and row["candidate_precision"] < 0.01


def test_a_file_without_repetitions_has_no_interval(tmp_path):
    code, report = compare(tmp_path, IMPORTS / "nvbench.json", IMPORTS / "nvbench.json")
    assert code == 0 and report["rows"] and all(row["low"] is None for row in report["rows"] if row["verdict"] == "DESCRIBED")
    assert any("no interval: 1 value and 1 value" in (row["reason"] or "") for row in report["rows"])


def series(folder, order: str, change: float, rows=("sort",)) -> tuple:
    """Folders of files whose processes ran in this order."""
    for number, arm in enumerate(order):
        factor = 1 + change if arm == "B" else 1
        date = f"2026-11-27T00:{number:02}:00+00:00"
        gbench(folder / arm / f"{number:02}.json", {name: times(f"{name}{number}", factor) for name in rows}, date)
    return folder / "A", folder / "B"


@pytest.mark.parametrize(("change", "verdict", "code"), [(0.05, "WORSE", 4), (0, "SAME", 0), (-0.05, "BETTER", 0)])
def test_enough_processes_in_turns_are_judged(change, verdict, code, tmp_path):
    found, report = compare(tmp_path, *series(tmp_path, "ABBA" * 5, change))
    (row,) = report["rows"]
    assert (found, row["verdict"], row["pairs"], report["is_verdict"]) == (code, verdict, 10, True)


@pytest.mark.parametrize(
    ("order", "why"),
    [
        ("ABBA" * 4, "processes: 8 and 8; 10 a side"),
        ("A" * 10 + "B" * 10, "not measured in turns"),
        ("AB" * 10, "not measured in turns, in both orders"),
        ("ABBA" * 5 + "A", "not measured in turns"),
    ],
)
def test_other_replication_is_described(order, why, tmp_path):
    code, report = compare(tmp_path, *series(tmp_path, order, 0.05))
    assert code == 0 and report["counts"] == {"DESCRIBED": 1} and why in report["notes"][-1]


def test_a_row_that_a_process_lacks_is_never_described_as_a_change(tmp_path):
    folders = series(tmp_path, "ABBA" * 5, 0, rows=("sort", "copy"))
    gbench(folders[1] / "05.json", {"sort": times(1)}, "2026-11-27T00:05:00+00:00")
    code, report = compare(tmp_path, *folders)
    assert code == 4 and {row["id"]: row["verdict"] for row in report["rows"]} == {"sort": "SAME", "copy": "MISSING"}


def test_repetitions_of_a_process_do_not_replicate_it(tmp_path):
    """Every sample twice changes no verdict and no process's number."""
    folders = series(tmp_path, "ABBA" * 5, 0.001)
    before = compare(tmp_path, *folders)[1]["rows"]
    for path in (*folders[0].iterdir(), *folders[1].iterdir()):
        document = json.loads(path.read_text())
        entries = document["benchmarks"]
        document["benchmarks"] = entries + [entry | {"repetition_index": 100 + i} for i, entry in enumerate(entries)]
        path.write_text(json.dumps(document))
    assert compare(tmp_path, *folders)[1]["rows"] == before


def test_what_cannot_be_compared_is_refused(tmp_path, capsys):
    good = gbench(tmp_path / "a.json", {"sort": times(1)})
    other = nvbench(tmp_path / "n", times(1))
    (tmp_path / "bad.json").write_text("{}")
    cut, lost = nvbench(tmp_path / "cut", times(1), size=7), nvbench(tmp_path / "lost", times(1), write=False)
    zero = nvbench(tmp_path / "zero", [1e-3, 0.0])
    shutil.copytree(GOLDEN, tmp_path / "run")
    for path, said in (
        (other, "allowed: two results of one program"),
        (tmp_path / "bad.json", "no result of Google Benchmark or nvbench"),
        (cut, "allowed: 4 for each of the 7 samples"),
        (lost, "are missing; allowed: the folder that --jsonbin wrote"),
        (zero, "holds a time that is not a number above 0"),
        (tmp_path / "run", "is of another program than the other side"),
    ):
        assert compare(tmp_path, good, path)[0] == 2, path
        assert said in capsys.readouterr().err


def test_another_gpu_is_not_comparable(tmp_path):
    one, other = nvbench(tmp_path / "a", times(1)), nvbench(tmp_path / "b", times(1))
    other.write_text(other.read_text().replace("A GPU", "B GPU"))
    assert compare(tmp_path, one, other)[0] == 5
    assert compare(tmp_path, one, other, "--allow-mismatch", "model")[0] == 0


def test_the_interval_of_a_median_covers_it():
    draw, covered = random.Random(1), 0
    for _ in range(2000):
        low, high = median_interval([draw.expovariate(1) for _ in range(15)])
        covered += low <= 0.6931471805599453 <= high
    assert 0.94 <= covered / 2000 <= 0.985  # 15 values: the interval of ranks 4 to 12 has 96.5 %
    assert median_interval([1.0] * 5) is None and median_interval([1.0, 2, 3, 4, 5, 6]) == (1, 6) and median_interval([]) is None
