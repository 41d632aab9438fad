"""`run --dry-run` says what the run would skip and why, with the memory and the time of the check."""

import re

import pytest
from command_line import OK, ROW_FAILED, USAGE, ids, one_line, records, refused, ridgebench, run, schema, strict_json

ROOMY = "sim:memory=1e11"  # also for the workspace of packed
NAIVE = ("--op", "matmul", "--format", "fp32", "--technique", "naive", "--shape", "8192")
TOO_LONG = "naive takes too long for 1.1 TFLOP; allowed: up to "
LONG = ("--op", "matmul", "--format", "fp32", "--technique", "packed", "--shape", "m:1/n:1/k:1G")


def dry(*words, code: int = OK, device: str = "sim"):
    result = ridgebench("run", *words, "--device", device, "--dry-run", "--json")
    assert result.returncode == code, result.stderr
    found = strict_json(result.stdout)
    assert list(schema("dry_run").iter_errors(found)) == []
    return found, result.stderr


def test_a_row_that_takes_too_long_is_listed_as_skipped():
    words = ("--op", "matmul", "--format", "fp32", "--technique", "naive,packed", "--shape", "64,8192")
    shown = ridgebench("run", *words, "--device", ROOMY, "--dry-run")
    assert (shown.returncode, shown.stderr) == (OK, "")
    skipped = [line for line in shown.stdout.splitlines() if "skipped: " in line]
    assert len(skipped) == 1 and "matmul/naive/fp32/m:8192" in skipped[0] and TOO_LONG in skipped[0]
    assert ", 1 of them skipped, about " in shown.stdout.splitlines()[-1]
    found, _ = dry(*words, device=ROOMY)
    assert [case["id"] for case in found["cases"] if case["skipped"]] == [skipped[0].split()[0]]


def test_its_exit_code_is_that_of_the_run(tmp_path):
    found, said = dry(*NAIVE, code=ROW_FAILED)
    [case] = [case for case in found["cases"] if case["role"] == "kernel"]
    assert case["skipped"].startswith(TOO_LONG) and f"no row could be measured: {TOO_LONG}" in said
    result = run(tmp_path / "run", "--device", "sim", *NAIVE, "--budget", "0.5")
    assert result.returncode == ROW_FAILED and TOO_LONG in result.stderr


def test_what_does_not_fit_is_one_skipped_row_with_bytes(tmp_path):
    device = "sim:memory=1e9"
    found, said = dry(*LONG, code=ROW_FAILED, device=device)
    [case] = [case for case in found["cases"] if case["role"] == "kernel"]
    asked, free = map(int, re.search(r"needs (\d+) bytes of .*, (\d+) bytes are free", case["skipped"]).groups())
    assert asked >= case["buffer_bytes"] and free == 10**9
    assert "no row of matmul fits into the memory" in said
    result = run(tmp_path / "run", "--device", device, *LONG, "--budget", "0.5")
    assert result.returncode == ROW_FAILED and "Traceback" not in result.stderr
    rows = {row["op"]: row for row in records(tmp_path / "run")}
    assert rows["matmul"]["status"] == "skipped" and rows["matmul"]["reason"] == case["skipped"]
    assert "out_of_memory" in rows["matmul"]["flags"]


def test_the_check_of_a_long_sum_hardly_counts_and_that_of_a_long_row_does():
    sizes = ("--op", "matmul", "--format", "fp32", "--technique", "packed")
    short_row, _ = dry(*sizes, "--shape", "m:1/n:64/k:3", device=ROOMY)
    long_sum, _ = dry(*sizes, "--shape", "m:1/n:1/k:10M", device=ROOMY)
    long_row, _ = dry(*sizes, "--shape", "m:1/n:50M/k:3", device=ROOMY)
    of_sum, of_row = ([c for c in found["cases"] if c["role"] == "kernel"][0] for found in (long_sum, long_row))
    assert of_sum["check_bytes"] < 1e6 and of_row["check_bytes"] > 5e7
    # The reference of 50 million sums takes about a second of a thread; the plan has it.
    assert long_row["duration_s"] > short_row["duration_s"] + 0.2


def test_the_budget_names_the_time_of_the_check(tmp_path):
    words = ("--op", "matmul", "--format", "fp32", "--technique", "packed", "--device", ROOMY)
    found = ridgebench("run", *words, "--shape", "m:1/n:200M/k:3", "--budget", "0.5", "--dry-run").stdout
    assert float(re.search(r"about (\d+) s", found).group(1)) > 0.5


def test_one_format_is_printed(tmp_path):
    both = ridgebench("run", "--json", "--benchmark_format=csv", "--out", tmp_path / "run")
    assert "--json with --benchmark_format" in one_line(both, USAGE) and not (tmp_path / "run").exists()
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("shape", "parts"),
    [
        ("8x64x64", ("is not of the form name:size; allowed: 64 for every size, or m:64/n:64/k:64",)),
        ("batch:8/m:64/n:64/k:64", ("unknown dimension 'batch'", "m, n, k, b, lda, ldb, ldc, layout", "a batch of 8 is b:8")),
        ("b:0/m:64/n:64/k:64", ("dimension b:0 is not a whole number between 1 and",)),
        ("m:64/n:64/k:64/lda:63", ("lda:63 is less than a line of 64 elements; allowed: 64 or more",)),
        ("m:64/n:64/k:64/layout:tt", ("unknown layout 'tt'; allowed: nt, nn, tn",)),
    ],
)
def test_a_shape_of_another_tool_is_refused_with_what_is_allowed(shape, parts):
    refused(ridgebench("run", "--op", "matmul", "--shape", shape, "--dry-run"), *parts)
    refused(ridgebench("predict", "matmul", shape, "--format", "bf16", "--on", "h100"), *parts)


@pytest.mark.parametrize("name", ["int8", "fp64", "fp9", "mxfp4"])
def test_run_and_predict_offer_the_formats_that_they_serve(name):
    for words in (("run", "--op", "matmul", "--dry-run"), ("predict", "matmul", "64", "--on", "h100")):
        line = one_line(ridgebench(*words, "--format", name), USAGE)
        offered = line.split("allowed: ")[1].strip().split(", ")
        assert f"matmul has no format {name}; " in line and "fp64" not in offered and "int8" not in offered
        for one in offered:
            assert ridgebench("predict", "matmul", "64", "--on", "h100", "--format", one).returncode == OK


def test_a_finished_run_has_the_rows_of_its_dry_run(tmp_path):
    words = ("--device", "sim", "--op", "relu", "--format", "fp32", "--shape", "4096", "--budget", "0.5")
    found, _ = dry(*words[2:])
    assert run(tmp_path / "run", *words).returncode == OK
    assert ids(tmp_path / "run") == [case["id"] for case in found["cases"]]
