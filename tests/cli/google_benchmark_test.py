"""Google Benchmark's own flags, formats and compare.py."""

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import OK, ROW_FAILED, SMALL, environment, ids, records, ridgebench, run, strict_json


def compare_script() -> Path:
    """Return compare.py of the package libbenchmark-tools."""
    listing = subprocess.run(
        ["dpkg", "-L", "libbenchmark-tools"], capture_output=True, text=True, check=True
    )
    return next(Path(line) for line in listing.stdout.split() if line.endswith("/compare.py"))


def names(document: dict) -> list[str]:
    return [row["name"] for row in document["benchmarks"]]


def test_benchmark_json_names_rows_by_id_and_gives_their_median(finished):
    document = strict_json((finished / "benchmark.json").read_text())
    rows = records(finished)
    assert names(document) == [row["id"] for row in rows]
    for entry, row in zip(document["benchmarks"], rows, strict=True):
        assert entry["real_time"] == pytest.approx(1e6 * row["time_median_s"])
        assert entry["cpu_time"] == entry["real_time"]
        assert entry["time_unit"] == "us"
        assert entry.get("bytes_per_s") == pytest.approx(row["bytes_per_s"])
        assert entry["samples"] == len(row["samples_s"])
    context = document["context"]
    assert context["library_build_type"] == "release"
    assert "host_name" not in context and "mhz_per_cpu" not in context


def test_rows_without_a_time_are_left_out(tmp_path):
    folder = tmp_path / "results"
    result = run(folder, "--device", "sim:memory=600000", *SMALL[2:])
    assert result.returncode == ROW_FAILED, "the ceilings do not fit"
    timed = [record["id"] for record in records(folder) if record["status"] == "ok"]
    assert 0 < len(timed) < len(records(folder))
    assert names(strict_json((folder / "benchmark.json").read_text())) == timed


def test_compare_py_reads_two_runs(finished, tmp_path):
    other = tmp_path / "results"
    assert run(other, "--device", "sim:slow=2", *SMALL[2:]).returncode == OK
    files = [finished / "benchmark.json", other / "benchmark.json"]
    command = [sys.executable, compare_script(), "--no-color", "benchmarks", *files]
    result = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert result.returncode == 0, result.stderr
    table = [line.split() for line in result.stdout.splitlines() if "@sim" in line]
    compared = {columns[0]: columns for columns in table}
    assert set(compared) == set(ids(finished))
    for columns in compared.values():
        assert float(columns[1]) == pytest.approx(1, abs=0.1), "time (new - old) / old"


def test_json_on_stdout(tmp_path):
    folder = tmp_path / "results"
    result = run(folder, *SMALL, "--benchmark_format=json")
    assert (result.returncode, result.stderr) == (OK, f"results: {folder}\n")
    assert result.stdout == (folder / "benchmark.json").read_text()


def test_csv_on_stdout(tmp_path):
    folder = tmp_path / "results"
    result = run(folder, *SMALL, "--benchmark_format=csv")
    assert (result.returncode, result.stderr) == (OK, f"results: {folder}\n")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [row["name"] for row in rows] == ids(folder)
    assert all(float(row["real_time"]) > 0 and row["time_unit"] == "us" for row in rows)


@pytest.mark.parametrize("form", ["json", "csv", "console"])
def test_out_writes_a_copy_in_any_format(form, tmp_path):
    folder, copy = tmp_path / "results", tmp_path / "copy"
    flags = [f"--benchmark_out={copy}", f"--benchmark_out_format={form}"]
    result = run(folder, *SMALL, *flags)
    assert (result.returncode, result.stderr) == (OK, f"results: {folder}\n")
    assert "\noperation" in result.stdout, "our table, as without the flags"
    text = copy.read_text()
    if form == "json":
        assert names(strict_json(text)) == ids(folder)
    assert all(name in text for name in ids(folder))
    if form == "console":
        assert max(map(len, text.splitlines())) < 300, "columns as wide as their texts"
    assert "iterations:1" not in text and "WARNING" not in text and "DEBUG" not in text


def test_list_tests_prints_ids_and_measures_nothing(tmp_path):
    result = ridgebench("run", *SMALL, "--benchmark_list_tests", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (OK, "")
    dry = ridgebench("run", *SMALL, "--dry-run", cwd=tmp_path)
    assert result.stdout.split() == [line.split()[0] for line in dry.stdout.splitlines()[:-1]]
    assert list(tmp_path.iterdir()) == []


def test_googles_filter_is_ours():
    def chosen(flag: str) -> list[str]:
        result = ridgebench("run", "--device", "sim", flag, "--benchmark_list_tests=true")
        assert result.returncode == OK
        return result.stdout.split()

    kernels = [name for name in chosen("--benchmark_filter=relu/naive") if name.startswith("relu")]
    assert len(kernels) == 5
    assert chosen("--benchmark_filter=relu/naive") == chosen("--filter=relu/naive")


@pytest.mark.parametrize(("value", "colored"), [("auto", False), ("true", True), ("false", False)])
def test_color(value, colored, failing, tmp_path):
    arguments = ("run", "--resume", shutil.copytree(failing, tmp_path / "results"))
    result = ridgebench(*arguments, f"--benchmark_color={value}")
    assert result.returncode == ROW_FAILED
    assert ("\x1b[31m" in result.stdout) == colored, "stdout is not a terminal"


@pytest.fixture(name="failing", scope="module")
def failing_fixture(finished, tmp_path_factory):
    """Return a run with a row that is wrong."""
    folder = shutil.copytree(finished, tmp_path_factory.mktemp("failing") / "results")
    rows = records(folder)
    nulls = {key: None for key in rows[-1] if key.startswith("time_") or key.endswith("_per_s")}
    rows[2] |= nulls | {"status": "wrong", "reason": 'the output "differs"\n', "bound": None}
    (folder / "records.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def test_wrong_rows_carry_an_error(failing, tmp_path):
    folder = shutil.copytree(failing, tmp_path / "results")
    copy = f"--benchmark_out={tmp_path}/copy.csv"
    result = ridgebench("run", "--resume", folder, copy, "--benchmark_out_format=csv")
    assert result.returncode == ROW_FAILED
    document = strict_json((folder / "benchmark.json").read_text())
    errors = [row for row in document["benchmarks"] if row.get("error_occurred")]
    assert [row["name"] for row in errors] == [records(folder)[2]["id"]]
    assert errors[0]["error_message"] == 'the output "differs"?'
    rows = list(csv.DictReader((tmp_path / "copy.csv").open()))
    assert [row["name"] for row in rows if row["error_occurred"] == "true"] == [errors[0]["name"]]


def test_variables_of_google_benchmark_do_not_change_a_run(finished, tmp_path):
    folder = tmp_path / "results"
    variables = environment(
        BENCHMARK_REPETITIONS="3",
        BENCHMARK_FILTER="nothing",
        BENCHMARK_FORMAT="json",
        BENCHMARK_OUT=str(tmp_path / "copy"),
        BENCHMARK_MIN_WARMUP_TIME="0.1",
        BENCHMARK_LIST_TESTS="true",
    )
    result = run(folder, env=variables)
    assert result.returncode == OK
    assert "\noperation" in result.stdout
    assert ids(folder) == ids(finished)
    assert not (tmp_path / "copy").exists()


def test_google_benchmarks_words_for_all_rows_and_for_those_that_do_not_match():
    def listed(*flags: str) -> set[str]:
        result = ridgebench("run", "--device", "sim", "--benchmark_list_tests", *flags)
        assert result.returncode == OK
        return set(result.stdout.split())

    every = listed()
    assert listed("--benchmark_filter=all") == every
    kernels = {name for name in every if re.match("(relu|gelu|dot|matvec|matmul)", name)}
    left = listed("--benchmark_filter=-matmul|^relu")
    assert {name for name in left & kernels} == {name for name in kernels if not re.search("matmul|^relu", name)}
