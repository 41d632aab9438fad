"""Operations, techniques, formats and shapes that a user names, in `run`, `list` and a resumed run."""

import re

import pytest
from command_line import OK, read_environment, records, refused, ridgebench, schema, strict_json

MATMUL = ("--op", "matmul", "--technique", "packed", "--format", "fp32")
ODD = [(1, 1, 1), (17, 333, 1000), (7, 1, 13), (1, 97, 1), (31, 2, 257), (64, 65, 63)]


def shape(m, n, k):
    return f"m:{m}/n:{n}/k:{k}"


def ids_of(folder) -> list[str]:
    return [row["id"] for row in records(folder) if row["role"] == "kernel"]


def test_odd_shapes_are_verified_under_stable_ids(tmp_path):
    shapes = [part for sizes in ODD for part in ("--shape", shape(*sizes))]
    for folder in ("a", "b"):
        result = ridgebench("run", *MATMUL, *shapes, "--device", "sim", "--out", tmp_path / folder)
        assert result.returncode == OK, result.stderr
    rows = [row for row in records(tmp_path / "a") if row["role"] == "kernel"]
    assert {row["id"] for row in rows} == {
        f"matmul/packed/fp32/{shape(*sizes)}/layout:nt/steady@sim" for sizes in ODD
    }
    assert all(row["status"] == "ok" and row["verify"]["error"] <= 1 for row in rows)
    assert ids_of(tmp_path / "a") == ids_of(tmp_path / "b")
    environment = read_environment(tmp_path / "a")
    assert environment["shapes"] == [f"matmul {shape(*sizes)}" for sizes in ODD]
    assert list(schema("environment").iter_errors(environment)) == []


def test_a_resumed_run_has_the_same_rows(tmp_path):
    out = tmp_path / "out"
    result = ridgebench("run", *MATMUL, "--shape", "8..32:x2", "--device", "sim", "--out", out)
    assert result.returncode == OK, result.stderr
    rows = ids_of(out)
    assert len(rows) == 3
    lines = (out / "records.jsonl").read_text().splitlines(keepends=True)
    (out / "records.jsonl").write_text("".join(lines[:-3]))
    assert ridgebench("run", "--resume", out).returncode == OK
    assert sorted(ids_of(out)) == sorted(rows)


def test_a_file_of_shapes_gives_the_rows(tmp_path):
    (tmp_path / "shapes.csv").write_text('operation,shape,format\nmatmul,"m:8,16/n:8/k:8",fp32\nrelu,100\n')
    listed = ridgebench("list", "--shapes", tmp_path / "shapes.csv", "--technique", "naive", "--device", "sim", "--json")
    cases = [case["id"].split("/")[:-1] for case in strict_json(listed.stdout)["cases"]]
    assert ["matmul", "naive", "fp32", "m:16", "n:8", "k:8", "layout:nt"] in cases
    assert {case[2] for case in cases if case[0] == "matmul"} == {"fp32"}
    assert {case[2] for case in cases if case[0] == "relu"} > {"fp32", "bf16"}


TABLES = {
    "operation,m,n,k,format\nmatmul,8,16,24,fp32\n": {"matmul/fp32/m:8/n:16/k:24"},
    "M,K,N\n8,24,16\n# a comment\n1,3,2\n": {"matmul/fp32/m:8/n:16/k:24", "matmul/fp32/m:1/n:2/k:3"},
    "shape,dtype\nm:8/n:16/k:24,fp32\nm:1/n:2/k:3,\n": {"matmul/fp32/m:8/n:16/k:24", "matmul/fp32/m:1/n:2/k:3"},
    "m;n;k\n8;16;24\n": {"matmul/fp32/m:8/n:16/k:24"},
    "m\tn\tk\n8\t16\t24\n": {"matmul/fp32/m:8/n:16/k:24"},
    "k  m n\n24 8   16\n": {"matmul/fp32/m:8/n:16/k:24"},
    "op,shape\nmatmul,m:8/n:16/k:24\nrelu,7\n": {"matmul/fp32/m:8/n:16/k:24", "relu/fp32/n:7"},
}


@pytest.mark.parametrize("text", TABLES)
def test_a_table_of_shapes_names_its_columns(text, tmp_path):
    (tmp_path / "shapes.csv").write_text(text)
    chosen = () if text.startswith("op") else ("--op", "matmul")
    words = ("--shapes", tmp_path / "shapes.csv", "--technique", "naive", "--format", "fp32", "--device", "sim", "--json")
    listed = ridgebench("list", *chosen, *words)
    assert listed.returncode == OK, listed.stderr
    ids = {case["id"] for case in strict_json(listed.stdout)["cases"] if case["role"] == "kernel"}
    assert {one.replace("/naive", "").rsplit("/layout", 1)[0].rsplit("/steady", 1)[0] for one in ids} == TABLES[text]


@pytest.mark.parametrize(("text", "words", "parts"), [
    ("M,K,N,Bias\n1,2,3,True\n", (), ("line 1: column 'Bias'", "allowed: operation, shape, format, and dimensions")),
    ("m,n,k\n1,2,3\n", (), ("line 2: no operation", "--op")),
    ("m,n,k\n1,2\n", ("--op", "matmul"), ("line 2: k has no size",)),
    ("m,n,k\n1,2,3,4\n", ("--op", "matmul"), ("line 2: 4 fields; allowed: 3",)),
    ("m\tn\tk\n1\t\t3\n", ("--op", "matmul"), ("line 2: 2 fields; allowed: 3",)),
    ("m;n;k\n1;;3\n", ("--op", "matmul"), ("line 2: n has no size",)),
    ("m,n,q\n1,2,3\n", ("--op", "matmul"), ("q",)),
    ("m,n,k\n", ("--op", "matmul"), ("has no shape",)),
])  # fmt: skip
def test_a_wrong_table_of_shapes_is_one_line(text, words, parts, tmp_path):
    (tmp_path / "shapes.csv").write_text(text)
    refused(ridgebench("list", "--shapes", tmp_path / "shapes.csv", *words, "--device", "sim"), *parts)


def test_only_the_ceilings_of_the_named_rows_are_measured():
    result = ridgebench("run", "--op", "relu", "--shape", "64", "--device", "sim", "--dry-run")
    assert result.returncode == OK
    ceilings = {line.split("/")[0] for line in result.stdout.splitlines()[:-1]} - {"relu"}
    assert "dram_copy" in ceilings and "tensor_peak" not in ceilings


def test_a_naive_technique_skips_what_it_cannot_finish(tmp_path):
    arguments = ("--op", "matmul", "--technique", "naive", "--format", "fp32", "--shape", "32,30000")
    result = ridgebench("run", *arguments, "--device", "sim", "--out", tmp_path / "out")
    assert result.returncode == OK, result.stderr
    reasons = {row["shape"]["m"]: row["reason"] for row in records(tmp_path / "out") if row["op"] == "matmul"}
    assert reasons[32] is None and reasons[30000].startswith("naive takes too long for 54 TFLOP; allowed: up to ")


def test_a_shape_beyond_the_memory_names_bytes_asked_and_free(tmp_path):
    arguments = (*MATMUL, "--shape", "100000", "--device", "sim")
    ridgebench("run", *arguments, "--out", tmp_path / "out")
    (row,) = [row for row in records(tmp_path / "out") if row["role"] == "kernel"]
    assert row["status"] == "skipped"
    asked, free = map(int, re.findall(r"\d+", row["reason"]))
    assert asked >= 3 * 4 * 100000**2 > free, row["reason"]


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("--shape", "64"), ("--shape needs --op",)),
        (("--op", "matmul_gelu", "--shape", "m:1/n:2/k:3/lda:4"), ("'lda'", "no leading dimension")),
        (("--op", "matmul_gelu", "--shape", "m:1/n:2/k:3/b:4"), ("'b'", "without a batch")),
        (("--op", "matmul", "--shape", "m:1/n:2/k:3/lda:2"), ("lda:2 is less than a line of 3 elements",)),
        (("--op", "matmul", "--shape", "m:1/n:2"), ("lacks dimension 'k'",)),
        (("--op", "matmul", "--shape", "m:1..0/n:2/k:3"), ("'1..0' is not a range",)),
        (("--op", "matmul", "--shape", "n:1..9999999"), ("more than 10000",)),
        (("--op", "matmul", "--shape", "1e13"), ("is not a whole number between 1 and",)),
        (("--op", "relu", "--technique", "packed"), ("unknown technique 'packed'", "streaming")),
        (("--op", "relu", "--format", "tf32"), ("relu has no format tf32", "bf16")),
        (("--op", "dram_read"), ("dram_read is a ceiling",)),
        (("--op", "matmul", "--shape", "m:1"), ("lacks dimension 'n'",)),
        (("--op", "matmul", "--shape", "m:1 / n:2"), ("--shape is 'm:1 / n:2'", "without blanks")),
        (("--op", "matmul", "--shape", ""), ("--shape is ''",)),
        (("--shapes", ""), ("--shapes", "an empty text names nothing")),
        (("--op", "matmul", "--technique", "cublas"), ()),  # known in a build with CUDA, and not here
        (("--shapes", "missing"), ("missing",)),
        (("--shapes", "/"), ("/",)),
        (("--op", "relu", "--shape", "64", "--filter", "matmul"), ("no case matches",)),
    ],
)
def test_a_mistake_is_one_line_with_what_is_allowed(arguments, parts, tmp_path):
    for command in ("run", "list"):
        if command == "list" and "--filter" in arguments:
            continue  # an empty list is an answer
        result = ridgebench(command, *arguments, "--device", "sim", cwd=tmp_path)
        refused(result, *parts)


def test_a_line_of_the_file_is_named(tmp_path):
    (tmp_path / "shapes").write_text("relu 4\n\nmatmul\n")
    refused(ridgebench("list", "--shapes", tmp_path / "shapes", "--device", "sim"), "shapes, line 3", "OPERATION SHAPE")
    (tmp_path / "shapes").write_text("matmull 4\n")
    refused(ridgebench("list", "--shapes", tmp_path / "shapes", "--device", "sim"), "'matmull 4': ", "nearest: matmul")
    (tmp_path / "shapes").write_bytes(b"\xef\xbb\xbfrelu 4 fp32\n")
    listed = ridgebench("list", "--shapes", tmp_path / "shapes", "--device", "sim", "--technique", "naive")
    assert listed.stdout.splitlines()[0].startswith("relu/naive/fp32/n:4/")
    (tmp_path / "shapes").write_bytes(b"# none\nrelu 8\0 fp32\n")
    refused(ridgebench("list", "--shapes", tmp_path / "shapes", "--device", "sim"), "shapes, line 2", "a byte is 0")
    (tmp_path / "shapes").write_bytes(b"# none\n\0\xff")
    refused(ridgebench("list", "--shapes", tmp_path / "shapes", "--device", "sim"), "shapes, line 2")
