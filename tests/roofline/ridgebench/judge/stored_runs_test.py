"""Two stored runs are described, never judged; what must not be compared is refused by its key."""

import hashlib
import json
import os
import shutil
import subprocess

import pytest
from golden import GOLDEN, read_environment
from ridgebench.judge.compare_cli import main
from synthetic_session import RECORD, UNTIMED, record, retimed, write_run


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
    told = read_environment(folder)
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
    change_record(pair[1], 1, **{"samples_s": [0.99e-3, 1.05e-3, 1.1e-3]}, time_ci_low_s=0.99e-3, time_ci_high_s=1.1e-3)
    assert compare(*pair, "--json", tmp_path / "out.json") == 0
    row = rows(tmp_path / "out.json")["dot/b@cpu"]
    assert row["beyond_noise"] is False
    assert row["candidate_precision"] == pytest.approx(0.11 / 2 / 1.05)


@pytest.mark.parametrize(
    ("side", "code", "shown"),
    [(0, 0, "NEW            dot/c@cpu"), (1, 4, "MISSING        dot/c@cpu")],
    ids=["only the candidate has it", "the candidate lacks it"],
)
def test_a_row_on_one_side_only(side, code, shown, pair, capsys):
    path = pair[side] / "records.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    assert compare(*pair) == code
    assert shown in capsys.readouterr().out


def test_a_new_row_that_is_wrong_has_failed(pair, capsys):
    path = pair[0] / "records.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    change_record(pair[1], 2, status="failed", reason="signal 11", **UNTIMED)
    assert compare(*pair) == 6
    assert "failed in the candidate: signal 11" in capsys.readouterr().out


def test_a_row_that_goes_wrong_is_a_failure_and_one_that_was_wrong_is_not(pair, capsys):
    change_record(pair[1], 0, status="wrong", reason="off by 3", **UNTIMED)
    assert compare(*pair) == 6
    assert "off by 3" in capsys.readouterr().out
    change_record(pair[0], 0, status="failed", reason="threw", **UNTIMED)
    assert compare(*pair) == 0
    assert "NOT_GATED" in capsys.readouterr().out


def test_a_suspect_row_is_missing(pair, capsys):
    change_record(pair[1], 2, status="suspect", reason="faster than possible", **UNTIMED)
    assert compare(*pair) == 4
    assert "suspect in the candidate: faster than possible" in capsys.readouterr().out
    change_record(pair[0], 2, status="suspect", reason="faster than possible", **UNTIMED)
    assert compare(*pair) == 0


def test_a_row_that_only_one_side_skips_is_missing(pair, capsys):
    change_record(pair[1], 2, status="skipped", reason="no AMX here", **UNTIMED)
    assert compare(*pair) == 4
    assert "skipped in the candidate: no AMX here" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("key", "value", "named"),
    [
        ("fill", "zeros", "fill: "),
        ("seed", 99, "seed: "),
        ("early_launches", False, "early_launches: "),
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


SOFT_VARIABLES = [
    ({}, {"CUDA_VISIBLE_DEVICES": ""}),
    ({"CUDA_VISIBLE_DEVICES": "3"}, {"CUDA_VISIBLE_DEVICES": "GPU-1b2c"}),
    ({}, {"NVIDIA_REQUIRE_CUDA": "cuda>=12.4 brand=tesla,driver>=470 " * 60}),
    ({"CUDA_VERSION": "12.4"}, {"NVIDIA_DRIVER_CAPABILITIES": "compute,utility"}),
]


@pytest.mark.parametrize("both", SOFT_VARIABLES)
def test_variables_that_change_no_result(both, pair, capsys):
    for folder, variables in zip(pair, both):
        change_environment(folder, "environment_variables", variables)
    assert compare(*pair) == 0
    notes = [line for line in capsys.readouterr().out.splitlines() if "environment_variables" in line]
    assert notes and all(len(note) < 250 for note in notes)


@pytest.mark.parametrize("name", ["OMP_NUM_THREADS", "NVIDIA_TF32_OVERRIDE", "CUBLAS_WORKSPACE_CONFIG", "DNNL_X"])
def test_a_variable_that_changes_results_is_named_with_its_effect(name, pair, capsys):
    change_environment(pair[0], "environment_variables", {})
    change_environment(pair[1], "environment_variables", {name: "1" * 5000})
    assert compare(*pair) == 5
    error = capsys.readouterr().err
    assert f"environment_variables: {name} is unset against '111" in error and "which changes " in error
    assert len(error) < 500


def test_of_a_driver_only_the_branch_counts(pair):
    change_environment(pair[0], "devices.driver", "580.65.06")
    change_environment(pair[1], "devices.driver", "580.82.07")
    assert compare(*pair) == 0


def test_what_only_deserves_a_mention(pair, capsys):
    change_environment(pair[1], "host.kernel", "Linux 9")
    change_environment(pair[1], "interrupted", True)
    assert compare(*pair) == 0
    shown = capsys.readouterr().out
    assert "Note: host.kernel: " in shown and "the run was interrupted (candidate)" in shown


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
    assert "nowhere: not found; allowed: a results directory" in capsys.readouterr().err
    (pair[0] / "records.jsonl").unlink()
    assert compare(*pair) == 2
    (pair[1] / "environment.json").write_text("{}")
    assert compare(pair[1], pair[1]) == 2


@pytest.mark.parametrize("path", ["/dev/null", "/dev/zero", GOLDEN / "records.jsonl"])
def test_a_path_that_is_no_folder(path, pair, capsys):
    assert compare(path, pair[1]) == 2
    assert capsys.readouterr().err == f"compare: {path}: is not a folder; allowed: a results directory\n"


@pytest.mark.parametrize("file", ["records.jsonl", "environment.json"])
@pytest.mark.parametrize("kind", ["pipe", "device", "folder"])
def test_what_never_ends_is_not_read(file, kind, pair, capsys):
    path = pair[1] / file
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        path.mkdir()
    assert compare(*pair) == 2
    assert capsys.readouterr().err == f"compare: {path}: is not a regular file\n"


@pytest.mark.parametrize("file", ["records.jsonl", "environment.json"])
def test_a_file_that_is_too_large_is_refused_at_once(file, pair, capsys):
    with (pair[0] / file).open("r+b") as sparse:
        sparse.truncate(2**40)
    assert compare(*pair) == 2
    assert f"{file}: {2**40} bytes; allowed: up to " in capsys.readouterr().err


def test_a_torn_last_line_is_no_record_and_can_be_measured_again(pair, capsys):
    with (pair[1] / "records.jsonl").open("a") as file:
        file.write('{"schema": "ridgebench.rec')
    assert compare(*pair) == 0
    assert f"its last line was cut off (candidate)" in (shown := capsys.readouterr().out)
    assert f"`ridgebench run --resume {pair[1]}` measures them" in shown
    (pair[1] / "records.jsonl").write_text('{"schema": "ridgebench.rec')
    assert compare(*pair) == 2
    assert "no finished record in it; its only line was cut off, `ridgebench run --resume " in capsys.readouterr().err


def test_a_row_that_comes_twice_is_refused(pair, capsys):
    with (pair[1] / "records.jsonl").open("a") as file:
        file.write(json.dumps(record("dot/b@cpu", 1e-3)) + "\n")
    assert compare(*pair) == 2
    assert capsys.readouterr().err == f"compare: {pair[1]}/records.jsonl:4: dot/b@cpu comes twice\n"


@pytest.mark.parametrize("file", ["records.jsonl", "environment.json"])
def test_a_byte_order_mark_and_line_ends_of_another_system(file, pair):
    for folder in pair:
        write_sums(folder)
    data = (pair[1] / file).read_bytes()
    (pair[1] / file).write_bytes(b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n"))
    assert compare(*pair) == 0


def write_sums(folder) -> None:
    files = ("environment.json", "records.jsonl")
    sums = [f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in files]
    (folder / "SHA256SUMS").write_text("".join(sums))


@pytest.mark.parametrize("file", ["records.jsonl", "environment.json"])
def test_a_file_that_was_changed_after_the_run(file, pair, capsys):
    write_sums(pair[0])
    assert compare(*pair) == 0
    path = pair[0] / file
    path.write_text(path.read_text() + "\n")
    assert compare(*pair) == 6
    assert f"{path} is not what the run wrote: its checksum differs" in capsys.readouterr().err


RATES = {rate: RECORD[work] / 1.01e-3 for rate, work in (("flops_per_s", "flops"), ("bytes_per_s", "bytes"))}  # of 1.01 ms


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"bytes_per_s": 1e9}, "bytes_per_s is 1000000000, but other values give "),
        ({"flops_per_s": 1e9}, "flops_per_s is 1000000000, but other values give "),
        ({"time_median_s": 1.01e-3, "time_ci_high_s": 1.01e-3, **RATES}, "time_median_s is 0.00101, but other values give 0.001"),
        ({"time_ci_high_s": 2e-3}, "time_ci_high_s is 0.002, beyond all samples"),
        ({"time_ci_low_s": 5e-4}, "time_ci_low_s is 0.0005, beyond all samples"),
    ],
)
def test_a_record_that_contradicts_itself(change, said, pair, capsys):
    change_record(pair[0], 1, **change)
    assert compare(*pair) == 6
    error = capsys.readouterr().err
    assert error.startswith(f"compare: {pair[0]}/records.jsonl:2: dot/b@cpu: ") and said in error


def test_an_interval_whose_bounds_are_swapped(pair, capsys):
    change_record(pair[0], 1, time_ci_low_s=1.1e-3, time_ci_high_s=0.9e-3)
    assert compare(*pair) == 6
    assert "time_ci_low_s, time_median_s and time_ci_high_s are not in this order" in capsys.readouterr().err


@pytest.mark.parametrize("times", [(1e308, 5e-324), (5e-324, 1e308), (1e300, 1e-300)])
def test_times_at_the_ends_of_double_precision(times, pair, tmp_path, capsys):
    for folder, seconds in zip(pair, times):
        one = retimed(RECORD, [seconds] * 7, id="dot/b@cpu", flops=0, bytes=0)
        change_record(folder, 1, **one | {"flops_per_s": None, "bytes_per_s": None, "intensity_flop_per_byte": None})
    assert compare(*pair, "--json", tmp_path / "out.json") == 0
    row = json.loads((tmp_path / "out.json").read_text(), parse_constant=pytest.fail)["rows"]
    assert {one["id"] for one in row} == {"dot/a@cpu", "dot/b@cpu", "dot/c@cpu"}
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[" * 150 + "]" * 150, "nested more than 100 levels deep"),
        ("[" * 200_000, "nested more than 100 levels deep"),
        ('{"id": 1e999}', "holds a number beyond double precision"),
        ('{"id": -' + "9" * 5000 + "}", "holds a number beyond double precision"),
    ],
)
def test_nesting_and_numbers_that_the_binary_refuses_too(text, said, pair, capsys):
    with (pair[0] / "records.jsonl").open("a") as file:
        file.write(text + "\n")
    assert compare(*pair) == 2
    assert capsys.readouterr().err == f"compare: {pair[0]}/records.jsonl:4: {said}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        [], ["one"], ["one", "two", "three"], ["one", "two", "--preset", "tight"],
        ["one", "two", "--filter", "x"], ["one", "two", "--", "--seed", "1"], ["--frobnicate"],
        ["one", "two", "--session", "x"], ["one", "two", "--allow-mismatch", "everything"],
        ["one", "two", "--json", "/nowhere/x.json"], ["--describe"], ["--describe", "one"],
    ],
)
def test_usage(arguments, capsys):
    assert compare(*arguments) == 2
    output = capsys.readouterr()
    assert output.out == "" and output.err.count("\n") == 1 and output.err.startswith("compare: ")


@pytest.mark.parametrize(
    "change", [{"time_ci_low_s": "1"}, {"time_median_s": None}, {"samples_s": {}}, {"samples_s": ["x"]}]
)
def test_unchecked_records_are_no_internal_error(change, pair, monkeypatch, capsys):
    monkeypatch.setattr("ridgebench.data.records.validators", lambda name: [])
    change_record(pair[1], 0, **change)
    assert compare(*pair) == 2
    assert capsys.readouterr().err.startswith(f"compare: {pair[1]}/records.jsonl:1: ")


def test_the_script_itself(pair):
    command = [GOLDEN.parents[2] / "scripts" / "python.sh", "-m", "ridgebench", "compare", *pair]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    shutil.rmtree(pair[0])
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 2 and result.stdout == ""


def test_a_row_that_caches_served_on_one_side(pair, capsys):
    change_record(pair[0], 1, flags=["served_by_cache"])
    assert compare(*pair) == 5
    assert "caches may have served the baseline only (served_by_cache)" in capsys.readouterr().out
    change_record(pair[1], 1, flags=["served_by_cache"])
    assert compare(*pair) == 0


def test_runs_of_two_hosts_are_noted(pair, capsys):
    path = pair[1] / "environment.json"
    told = json.loads(path.read_text())
    path.write_text(json.dumps(told | {"host": told["host"] | {"hostname_hash": "second"}}))
    assert compare(*pair) == 0
    assert f"Note: host.hostname_hash: {told['host']['hostname_hash']} against second" in capsys.readouterr().out
