"""Two stored runs are described, never judged; what must not be compared is refused by its key."""

import json
import shutil
import subprocess

import pytest
from ridgebench.compare.cli import main
from synthetic_session import GOLDEN, record, write_run


@pytest.fixture(name="pair")
def pair_fixture(tmp_path):
    """Two runs of three rows: one equal, one 5 % slower, one 2 % faster."""
    names = ["dot/a@cpu", "dot/b@cpu", "dot/c@cpu"]
    first = write_run(tmp_path / "a", [record(n, 1e-3) for n in names], {})
    times = zip(names, (1e-3, 1.05e-3, 0.98e-3))
    return first, write_run(tmp_path / "b", [record(n, t) for n, t in times], {})


def compare(*arguments) -> int:
    try:
        return main([str(argument) for argument in arguments])
    except SystemExit as stop:
        return stop.code


def rows(path) -> dict:
    return {row["id"]: row for row in json.loads(path.read_text())["rows"]}


def change_record(folder, number: int, **changes) -> None:
    lines = (folder / "records.jsonl").read_text().splitlines()
    lines[number] = json.dumps(json.loads(lines[number]) | changes)
    (folder / "records.jsonl").write_text("\n".join(lines) + "\n")


def change_environment(folder, key: str, value) -> None:
    told = json.loads((folder / "environment.json").read_text())
    place, steps = told, key.split(".")
    if steps[0] == "devices":
        place, steps = told["devices"][0], steps[1:]
    for step in steps[:-1]:
        place = place[step]
    place[steps[-1]] = value
    (folder / "environment.json").write_text(json.dumps(told))


def test_a_directory_and_itself(capsys):
    assert compare(GOLDEN, GOLDEN) == 0
    shown = capsys.readouterr().out
    assert "not a verdict" in shown and "+0.00 %" in shown
    assert "WORSE" not in shown.splitlines()[-2]


def test_the_difference_and_both_precisions(pair, tmp_path, capsys):
    assert compare(*pair, "--json", tmp_path / "out.json") == 0
    found = rows(tmp_path / "out.json")
    assert found["dot/b@cpu"]["change"] == pytest.approx(0.05)
    assert found["dot/c@cpu"]["change"] == pytest.approx(-0.02)
    assert {row["verdict"] for row in found.values()} == {"DESCRIBED"}
    assert [n for n, row in found.items() if row["beyond_noise"]] == ["dot/b@cpu", "dot/c@cpu"]
    assert json.loads((tmp_path / "out.json").read_text())["is_verdict"] is False
    assert "precision ±" in capsys.readouterr().out


def test_intervals_that_overlap_are_within_the_noise(pair, tmp_path):
    change_record(pair[1], 1, time_ci_low_s=0.99e-3, time_ci_high_s=1.1e-3)
    assert compare(*pair, "--json", tmp_path / "out.json") == 0
    row = rows(tmp_path / "out.json")["dot/b@cpu"]
    assert row["beyond_noise"] is False
    assert row["candidate_precision"] == pytest.approx(0.11 / 2 / 1.05)


@pytest.mark.parametrize("side", [0, 1])
def test_a_row_on_one_side_only_is_missing(side, pair, capsys):
    path = pair[side] / "records.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    assert compare(*pair) == 4
    assert "MISSING        dot/c@cpu" in capsys.readouterr().out


NO_TIME = {
    f"time_{name}_s": None for name in ("median", "ci_low", "ci_high", "min", "p10", "p90")
} | {"flops_per_s": None, "bytes_per_s": None}


def test_a_row_that_goes_wrong_is_a_failure_and_one_that_was_wrong_is_not(pair, capsys):
    change_record(pair[1], 0, status="wrong", reason="off by 3", **NO_TIME)
    assert compare(*pair) == 6
    assert "off by 3" in capsys.readouterr().out
    change_record(pair[0], 0, status="failed", reason="threw", **NO_TIME)
    assert compare(*pair) == 0
    assert "NOT_GATED" in capsys.readouterr().out


def test_a_row_that_only_one_side_skips_is_missing(pair, capsys):
    change_record(pair[1], 2, status="skipped", reason="no AMX here", **NO_TIME)
    assert compare(*pair) == 4
    assert "skipped in the candidate: no AMX here" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("key", "value", "named"),
    [
        ("fill", "zeros", "fill: "),
        ("seed", 99, "seed: "),
        ("method_version", 2, "method_version: "),
        ("build.flags", "-O0", "build.flags: "),
        ("build.compiler", "GNU 1", "build.compiler: "),
        ("libraries", {"openblas": "0.1"}, "libraries: "),
        ("environment_variables", {"OMP_NUM_THREADS": "1"}, "environment_variables: "),
        ("devices.power_limit_w", 350.0, "power_limit_w: "),
        ("devices.driver", "999.1", "driver: "),
        ("devices.ecc", True, "ecc: "),
        ("devices.mig", True, "mig: "),
        ("devices.cuda", "12.8", "cuda: "),
        ("devices.cublas", "12.8", "cublas: "),
        ("devices.model", "another", "model: "),
    ],
)
def test_what_must_agree(key, value, named, pair, tmp_path, capsys):
    change_environment(pair[1], key, value)
    assert compare(*pair, "--json", tmp_path / "out.json") == 5
    output = capsys.readouterr()
    assert output.err.startswith(f"compare: NOT_COMPARABLE: {named}")
    assert output.err.count("\n") == 1
    assert {row["verdict"] for row in rows(tmp_path / "out.json").values()} == {"NOT_COMPARABLE"}
    allowed = key.removeprefix("devices.")
    assert compare(*pair, "--allow-mismatch", allowed) == 0
    assert named in capsys.readouterr().out, "what was allowed is told"


def test_of_a_driver_only_the_branch_counts(pair):
    change_environment(pair[0], "devices.driver", "580.65.06")
    change_environment(pair[1], "devices.driver", "580.82.07")
    assert compare(*pair) == 0


def test_what_only_deserves_a_mention(pair, capsys):
    change_environment(pair[1], "host.kernel", "Linux 9")
    change_environment(pair[1], "interrupted", True)
    assert compare(*pair) == 0
    shown = capsys.readouterr().out
    assert "Note: host.kernel: " in shown and "the candidate was interrupted" in shown


GARBAGE = {
    "garbage": b"\x7fELF not JSON\n",
    "array": b"[1, 2]\n",
    "deep": b"[" * 200_000 + b"\n",
    "not UTF-8": b'{"schema": "\xff"}\n',
    "NaN": b'{"schema": "ridgebench.record/1", "role": NaN}\n',
    "no keys": b'{"schema": "ridgebench.record/1"}\n',
    "other schema": b'{"schema": "ridgebench.record/9"}\n',
}


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("kind", GARBAGE)
def test_garbage_among_the_records(kind, side, pair, capsys):
    path = pair[side] / "records.jsonl"
    path.write_bytes(path.read_bytes() + GARBAGE[kind])
    assert compare(*pair) == 2
    output = capsys.readouterr()
    assert output.out == "" and output.err.count("\n") == 1
    assert output.err.startswith(f"compare: {path}:4: ")


@pytest.mark.parametrize(
    "change",
    [
        {"id": 7}, {"id": ""}, {"status": "fine"}, {"time_median_s": -1}, {"time_median_s": "1"},
        {"time_median_s": None}, {"time_ci_low_s": True}, {"telemetry": []}, {"clock_hz": 0},
        {"reason": ["x"]}, {"role": 3, "device": None},
    ],
)
def test_wrong_keys_of_a_record(change, pair, capsys):
    change_record(pair[0], 1, **change)
    assert compare(*pair) == 2
    assert f"{pair[0]}/records.jsonl:2: " in capsys.readouterr().err


def test_files_that_are_not_there(pair, tmp_path, capsys):
    assert compare(tmp_path / "nowhere", pair[1]) == 2
    assert "environment.json: not found" in capsys.readouterr().err
    (pair[0] / "records.jsonl").unlink()
    assert compare(*pair) == 2
    (pair[1] / "environment.json").write_text("{}")
    assert compare(pair[1], pair[1]) == 2


def test_a_torn_last_line_is_no_record(pair):
    with (pair[1] / "records.jsonl").open("a") as file:
        file.write('{"schema": "ridgebench.rec')
    assert compare(*pair) == 0


def test_of_a_row_measured_again_the_last_counts(pair, tmp_path):
    again = json.dumps(record("dot/b@cpu", 1e-3)) + "\n"
    with (pair[1] / "records.jsonl").open("a") as file:
        file.write(again)
    assert compare(*pair, "--json", tmp_path / "out.json") == 0
    assert rows(tmp_path / "out.json")["dot/b@cpu"]["change"] == 0


@pytest.mark.parametrize(
    "arguments",
    [
        [], ["one"], ["one", "two", "three"], ["--baseline-bin", "x"], ["--preset", "loose"],
        ["one", "two", "--filter", "x"], ["one", "two", "--", "--seed", "1"], ["--frobnicate"],
        ["one", "two", "--session", "x"], ["one", "two", "--allow-mismatch", "everything"],
        ["one", "two", "--json", "/nowhere/x.json"],
    ],
)
def test_usage(arguments, capsys):
    assert compare(*arguments) == 2
    output = capsys.readouterr()
    assert output.out == "" and output.err.count("\n") == 1 and output.err.startswith("compare: ")


def test_the_script_itself(pair):
    command = [GOLDEN.parents[2] / "scripts" / "compare.sh", *pair]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    shutil.rmtree(pair[0])
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 2 and result.stdout == ""
