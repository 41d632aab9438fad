"""Products with a batch, leading dimensions, groups of tokens or scales of blocks, from a shape to a record."""

import pytest
from command_line import OK, ROW_FAILED, records, refused, ridgebench, strict_json

MATMUL = ("--op", "matmul", "--format", "fp32", "--device", "sim")
BATCH = "m:33/n:17/k:40/b:3/lda:43/ldb:45/ldc:19"


def predicted(*words, on="h100"):
    answer = ridgebench("predict", *words, "--on", on, "--json")
    assert answer.returncode == OK, answer.stderr
    return strict_json(answer.stdout)


def test_a_run_verifies_batches_and_names_who_does_not_serve_them(tmp_path):
    result = ridgebench("run", *MATMUL, "--shape", BATCH, "--shape", "64/b:1", "--out", tmp_path / "out")
    assert result.returncode == OK, result.stderr
    rows = [row for row in records(tmp_path / "out") if row["role"] == "kernel"]
    batched = {row["technique"]: row for row in rows if "b" in row["shape"]}
    for technique in ("naive", "packed", "openblas"):
        row = batched[technique]
        assert row["status"] == "ok" and row["verify"]["error"] <= 1 and row["verify"]["elements"] >= 3 * 33 * 17
        assert row["id"] == f"matmul/{technique}/fp32/{BATCH}/layout:nt/steady@sim"
        assert row["shape"] == {"m": 33, "n": 17, "k": 40, "b": 3, "lda": 43, "ldb": 45, "ldc": 19, "layout": "nt"}
        assert (row["flops"], row["bytes"]) == (3 * 2 * 33 * 17 * 40, 3 * 4 * (33 * 40 + 17 * 40 + 33 * 17))
    assert {row["id"].split("/")[3:6] == ["m:64", "n:64", "k:64"] for row in rows if "b" not in row["shape"]} == {True}


def test_a_resumed_run_and_the_readers_know_the_shape(tmp_path):
    out = tmp_path / "out"
    assert ridgebench("run", *MATMUL, "--technique", "packed", "--shape", BATCH, "--out", out).returncode == OK
    assert ridgebench("run", "--resume", out).returncode == OK
    assert [row["shape"]["ldc"] for row in records(out) if row["role"] == "kernel"] == [19]
    for words in (("verify", out), ("show", out, "--json"), ("predict", "matmul", BATCH, "--format", "fp32", "--on", out)):
        assert ridgebench(*words).returncode == OK, words
    table = out.parent / "table.csv"
    table.write_text("operation,m,n,k,b,format\nmatmul,33,17,40,3,fp32\n")
    listed = strict_json(ridgebench("list", "--shapes", table, "--device", "sim", "--json").stdout)
    assert {case["id"].split("/")[6] for case in listed["cases"] if case["id"].startswith("matmul/")} == {"b:3"}


def test_predict_counts_every_product_and_no_gap():
    one, many = predicted("matmul", "m:33/n:17/k:40", "--format", "bf16"), predicted("matmul", BATCH, "--format", "bf16")
    assert (many["flops"], many["bytes"]) == (3 * one["flops"], 3 * one["bytes"])
    assert many["intensity_flop_per_byte"] == one["intensity_flop_per_byte"]
    assert predicted("matmul", "64/b:1", "--format", "bf16")["shape"] == {"m": 64, "n": 64, "k": 64, "layout": "nt"}


def test_solve_keeps_the_batch():
    plain = predicted("matmul", "n:4096/k:4096", "--solve", "m", "--format", "bf16")
    batch = predicted("matmul", "n:4096/k:4096/b:8", "--solve", "m", "--format", "bf16")
    assert batch["smallest_compute_bound"] == plain["smallest_compute_bound"]
    assert batch["shape"]["b"] == 8 and "m" not in batch["shape"]
    square = predicted("matmul", "b:8", "--solve", "n", "--format", "bf16")
    assert square["shape"] == {"b": 8, "layout": "nt"} and "all sizes are equal, except b" in square["notes"]
    # A leading dimension may be that of the size that is wanted.
    fixed = predicted("matmul", "n:4096/k:4096/lda:5000", "--solve", "m", "--format", "bf16")
    assert fixed["smallest_compute_bound"] == plain["smallest_compute_bound"]
    refused(ridgebench("predict", "matmul", "m:8/n:8/lda:5000", "--solve", "k", "--format", "bf16", "--on", "h100"),
            "--solve k and lda exclude each other")


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (("matmul", "8/lda:7"), ("lda:7 is less than a line of 8 elements; allowed: 8 or more",)),
        (("matmul", "m:8/n:8/k:8/b:1.5"), ("dimension b:1.5 is not a whole number between 1 and",)),
        (("matmul", "8/b:2/b:3"), ("'b' is given twice",)),
        (("matmul_gelu", "8/b:2"), ("unknown dimension 'b'", "without a batch")),
        (("matmul_grouped", "m:8/n:8/k:8"), ("lacks dimension 'g'",)),
        (("matmul_grouped", "4096"), ("an operation of up to 3 dimensions; allowed: m:64/n:64/k:64/g:64",)),
        (("matmul_grouped", "n:4096"), ("lacks dimension 'm'; this operation has m, n, k, g",)),
        (("rope", "64"), ("up to 3 dimensions; allowed: b:64/s:64/h:64/d:64",)),
        (("rmsnorm", "m:8/n:8/eps:-1e-5"), ("eps is -1e-05; allowed: 0, or from 1e-37 to 1e37",)),
        (("rmsnorm", "m:8/n:8/eps:1e-40"), ("eps is 1e-40; allowed: 0, or from 1e-37 to 1e37",)),
        (("matmul_grouped", "m:8/n:8/k:8/g:4/empty:4"), ("empty is 4; allowed: a whole number from 0 to g - 1, which is 3",)),
        (("matmul_grouped", "m:8/n:8/k:8/g:4/skew:x"), ("attribute skew:x is not a number",)),
        (("matmul_grouped", "m:8/n:8/k:8/g:4/b:2"), ("unknown dimension 'b'; this operation has m, n, k, g, skew, empty",)),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(words, parts):
    op, shape = words
    refused(ridgebench("predict", op, shape, "--format", "bf16", "--on", "h100"), *parts)
    refused(ridgebench("run", "--op", op, "--shape", shape, "--dry-run"), *parts)


def test_groups_of_tokens_are_measured_and_recorded(tmp_path):
    text = "m:60/n:20/k:30/g:4/skew:1/empty:1"
    words = ("--op", "matmul_grouped", "--device", "sim", "--shape", text)
    assert ridgebench("run", *words, "--out", tmp_path / "out").returncode == OK
    rows = [row for row in records(tmp_path / "out") if row["role"] == "kernel" and row["status"] == "ok"]
    assert {(row["technique"], row["format"]) for row in rows} == {
        (technique, format_) for technique in ("naive", "packed") for format_ in ("fp32", "bf16")
    }
    for row in rows:
        assert f"/{text}/steady@sim" in row["id"] and row["verify"]["error"] <= 1
        assert (row["shape"]["skew"], row["shape"]["empty"], row["flops"]) == (1, 1, 2 * 60 * 20 * 30)
        width = {"fp32": 4, "bf16": 2}[row["format"]]
        assert row["bytes"] == width * (60 * 30 + 3 * 20 * 30 + 60 * 20)
    # A profile measures it if it is named.
    profile = strict_json(ridgebench("run", "--profile", "quick", "--device", "sim", "--dry-run", "--json").stdout)["cases"]
    assert profile and not [case for case in profile if case["id"].startswith("matmul_grouped/")]


def test_products_of_mxfp8_are_measured_and_recorded(tmp_path):
    words = ("--op", "matmul_mxfp8", "--device", "sim", "--shape", "m:130/n:20/k:70")
    assert ridgebench("run", *words, "--out", tmp_path / "out").returncode == OK
    rows = [row for row in records(tmp_path / "out") if row["role"] == "kernel"]
    assert {row["technique"] for row in rows if row["status"] == "ok"} == {"naive", "packed"}
    for row in rows:
        assert row["format"] == "fp8_e4m3" and row["flops"] == 2 * 130 * 20 * 70
        scales = (130 + 20) * 3  # 70 of k are two blocks of 32 and a part of one; their padding does not count
        assert row["bytes"] == 130 * 70 + 20 * 70 + scales + 2 * 130 * 20
    assert predicted("matmul_mxfp8", "m:130/n:20/k:70", "--format", "fp8")["bytes"] == rows[0]["bytes"]
    refused(ridgebench("predict", "matmul_mxfp8", "64/layout:tn", "--format", "fp8", "--on", "h100"),
            "scales belong to blocks along k of both operands; allowed: layout nt")


def test_products_of_nvfp4_count_half_a_byte_for_a_number(tmp_path):
    words = ("--op", "matmul_nvfp4", "--device", "sim", "--format", "nvfp4", "--shape", "m:130/n:20/k:70")
    assert ridgebench("run", *words, "--out", tmp_path / "out").returncode == OK
    rows = [row for row in records(tmp_path / "out") if row["role"] == "kernel"]
    assert {row["technique"] for row in rows if row["status"] == "ok"} == {"naive", "packed"}
    for row in rows:
        assert row["format"] == "fp4_e2m1" and row["flops"] == 2 * 130 * 20 * 70
        scales = (130 + 20) * 5  # 70 of k are four blocks of 16 and a part of one
        assert row["bytes"] == (130 * 70 + 20 * 70) / 2 + scales + 2 * 130 * 20
    assert ridgebench("verify", tmp_path / "out").returncode == OK
    for name in ("fp4", "nvfp4", "fp4_e2m1"):
        assert predicted("matmul_nvfp4", "m:130/n:20/k:70", "--format", name, on="b200")["bytes"] == rows[0]["bytes"]
    refused(ridgebench("predict", "matmul_nvfp4", "m:8/n:8/k:7", "--format", "fp4", "--on", "b200"),
            "k is odd; allowed: an even number, because two numbers of fp4_e2m1 share a byte")
    refused(ridgebench("predict", "matmul_nvfp4", "8", "--format", "fp4", "--on", "h100"), "has no peak for fp4_e2m1")


def test_a_row_that_no_technique_serves_says_why(tmp_path):
    words = (*MATMUL, "--technique", "naive", "--shape", "m:1/n:1/k:1/b:1e12")
    result = ridgebench("run", *words, "--out", tmp_path / "out")
    assert result.returncode == ROW_FAILED and result.stderr.count("no row could be measured") == 1
