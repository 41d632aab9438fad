"""What `ridgebench import` does not believe: rows that contradict their shape or lack cells are left out, counted and named."""

import json
from pathlib import Path

import pytest
from golden import imported

from ridgebench.__main__ import main
from ridgebench.base.files import ResultsError
from ridgebench.data import program

HEAD = "name,operation,format,m,n,k,time_us,flops,bytes"
GOOD = "a,matmul,fp32,64,64,64,10,524288,49152"


@pytest.fixture(autouse=True)
def without_binary(monkeypatch):
    def answer(operation: str, text: str, name: str, device: str) -> dict:
        shape = {key: int(size) for key, _, size in (part.partition(":") for part in text.split("/")) if key != "layout"}
        m, n, k = (shape[key] for key in "mnk")
        return {"flops": 2 * m * n * k, "bytes": 4 * (m * n + n * k + m * k), "shape": {**shape, "layout": "nt"}}

    def softmax(operation: str, text: str, name: str, device: str) -> dict:
        shape = {key: int(size) for key, _, size in (part.partition(":") for part in text.split("/"))}
        if list(shape) != ["m", "n"]:
            raise ResultsError("unknown dimension; this operation has m, n")
        return {"flops": 5 * shape["m"] * shape["n"], "bytes": 8 * shape["m"] * shape["n"], "shape": shape}

    monkeypatch.setattr(program, "operations", lambda: frozenset({"matmul", "softmax"}))
    monkeypatch.setattr(program, "predict", lambda operation, *words: (softmax if operation == "softmax" else answer)(operation, *words))


def mapped(tmp_path: Path, text: str) -> tuple[str, str]:
    (tmp_path / "map.toml").write_text(text)
    return "--map", str(tmp_path / "map.toml")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("b,matmul,fp32,1024,1024,1024,10,1e6,", "b: flops are 1e+06, but matmul of m:1024/n:1024/k:1024 has 2.14748e+09"),
        ("b,matmul,fp32,64,64,65,10,,30000", "b: bytes are 30000, but matmul of m:64/n:64/k:65 has 49664"),
        ("b,matmul", "2 cells; allowed: 9"),
        ("b,matmul,fp32,64,64,64,ten,,", "time_us is 'ten'"),
        ('"b,matmul,fp32,64,64,64,10,,', "no line of a table with commas"),
        ("b,matmul,int32,64,64,64,10,,", "b: format int32; ridgebench has fp32"),
    ],
)
def test_a_row_that_is_doubtful_is_left_out_and_the_others_stay(tmp_path, capsys, line, why):
    found = imported(tmp_path, "csv", f"{HEAD}\n{line}\n{GOOD}\n")
    assert list(found) == ["matmul/a/fp32/m:64/n:64/k:64/layout:nt/steady@cpu"]
    said = capsys.readouterr()
    assert said.out.endswith("; 1 with FLOPs and bytes for a roofline; 1 row left out\n")
    assert why in said.err and said.err.startswith("import: left out: ") and said.err.count("\n") == 1


@pytest.mark.parametrize("words", [("--strict",), ()])
def test_strict_and_a_file_without_a_good_row_end_with_2(tmp_path, capsys, words):
    good = f"{GOOD}\n" if words else ""
    (tmp_path / "file").write_text(f"{HEAD}\n{good}b,matmul,fp32,1024,1024,1024,10,1e6,\nc,matmul\n")
    assert main(["import", "csv", str(tmp_path / "file"), "-o", str(tmp_path / "out"), *words]) == 2
    error = capsys.readouterr().err
    why = "--strict allows no row that is left out" if words else "no point remains"
    assert f"{why}; 2 rows left out, the last: " in error and error.count("\n") == 1 and not (tmp_path / "out").exists()


def test_a_difference_of_a_tenth_is_believed(tmp_path):
    assert len(imported(tmp_path, "csv", f"{HEAD}\n{GOOD.replace('524288', '570000')}\n")) == 1


CUTLASS = {"Provider": "CUTLASS", "OperationKind": "gemm", "Operation": "o", "Disposition": "passed", "Status": "success", "m": "64",
           "n": "64", "k": "64", "A": "f32:row", "B": "f32:column", "D": "f32:column", "Bytes": "49152", "Flops": "524288",
           "Runtime": "0.1", "GFLOPs": "5.24288", "GB/s": "0.457764"}


def cutlass(change: dict[str, str]) -> str:
    cells = {**CUTLASS, **change}
    return f"{','.join(cells)}\n{','.join(cells.values())}\n"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"GFLOPs": "524.288"}, "o: flops per second and the time give 5.24288e+07, but flops are 524288; allowed: a difference of "),
        ({"GB/s": "-1"}, "o: bytes per second and the time give -107374, but bytes are 49152"),
        ({"Runtime": "0.12"}, "o: flops per second and the time give 629146, but flops are 524288"),
        ({"batch_count": "2", "Flops": "1048576"}, "o: flops per second and the time give 524288, but flops are 1.04858e+06"),
    ],
)
def test_a_row_of_cutlass_whose_rates_contradict_its_time_is_left_out(tmp_path, capsys, change, why):
    (tmp_path / "file").write_text(cutlass(change))
    assert main(["import", "cutlass", str(tmp_path / "file"), "-o", str(tmp_path / "out")]) == 2
    assert why in capsys.readouterr().err


@pytest.mark.parametrize("change", [{}, {"GFLOPs": "5.7"}, {"GFLOPs": "", "GB/s": ""}, {"Runtime": "0.105"}])
def test_a_row_of_cutlass_whose_rates_agree_stays(tmp_path, change):
    assert len(imported(tmp_path, "cutlass", cutlass(change))) == 1


def test_a_count_of_the_map_replaces_that_of_cutlass_and_its_rate(tmp_path):
    points = mapped(tmp_path, "[[point]]\nname = '.'\noperation = 'sparse'\nflops = 'm*n*k'\n")
    (row,) = imported(tmp_path, "cutlass", cutlass({}), *points).values()
    assert row["flops"] == 64**3


def test_every_operation_of_the_program_holds_a_row_to_its_shape(tmp_path, capsys):
    table = ("name,operation,format,m,n,time_us,flops,bytes\na,softmax,fp32,8,8,1,320,\nb,softmax,fp32,8,8,1,64,\n"
             "c,softmax,fp32,8,16,1,,512\nd,layernorm,fp32,8,8,1,1,\n")
    rows = imported(tmp_path, "csv", table)
    assert [(row["technique"], row["flops"], row["bytes"]) for row in rows.values()] == [("a", 320, 512), ("d", 1, 0)]
    said = capsys.readouterr().err
    assert "b: flops are 64, but softmax of m:8/n:8 has 320" in said and "c: bytes are 512, but softmax of m:8/n:16 has 1024" in said


def test_an_operation_of_another_tool_may_have_the_name_and_other_dimensions(tmp_path):
    (row,) = imported(tmp_path, "csv", "name,operation,format,N,time_us,flops\na,softmax,fp32,8,1,7\n").values()
    assert (row["shape"], row["flops"]) == ({"N": 8}, 7)


@pytest.mark.parametrize(("rate", "stays"), [(10240, True), (11000, True), (12000, False), (99999, False)])
def test_a_rate_of_llama_bench_that_contradicts_its_time(tmp_path, capsys, rate, stays):
    row = {"model_type": "llama 8B F16", "backends": "CUDA", "n_prompt": 1024, "n_gen": 0, "avg_ns": 10**8, "avg_ts": rate}
    (tmp_path / "file").write_text(json.dumps([row]))
    assert main(["import", "llama-bench", str(tmp_path / "file"), "-o", str(tmp_path / "out")]) == (0 if stays else 2)
    assert ("but 1024 tokens and the time give 10240;" in capsys.readouterr().err) is not stays


def test_what_a_profiler_counted_need_not_agree_with_the_shape(tmp_path):
    text = ('"Kernel Name","gpu__time_duration.sum","dram__bytes.sum"\n"","ns","byte"\n"k","10","1000000"\n')
    points = mapped(tmp_path, "[[point]]\nname = 'k'\noperation = 'matmul'\nformat = 'fp32'\nshape = 'm:64/n:64/k:64'\n")
    (row,) = imported(tmp_path, "ncu", text, *points).values()
    assert (row["bytes"], row["flops"], row["flags"]) == (1e6, 2 * 64**3, ["counted_bytes"])


def test_dimensions_may_have_capital_letters(tmp_path):
    points = mapped(tmp_path, "[[point]]\nname = '.'\noperation = 'matmul'\nformat = 'fp32'\nflops = '2*m*n*k'\n")
    found = imported(tmp_path, "triton", "M,N,K,mine (TFLOP/s)\n64,64,64,1\n", *points)
    assert list(found) == ["matmul/mine/fp32/m:64/n:64/k:64/layout:nt/steady@cuda:0"]
    table = f"{HEAD.replace('m,n,k', 'M,N,K')}\n{GOOD}\n"
    (tmp_path / "second").mkdir()
    assert list(imported(tmp_path / "second", "csv", table)) == ["matmul/a/fp32/m:64/n:64/k:64/layout:nt/steady@cpu"]


def test_the_texts_of_a_map_are_filled_with_groups(tmp_path):
    points = mapped(tmp_path, "[[point]]\nname = '(?P<op>\\w+)_(?P<tech>\\w+) (?P<f>\\w+)'\noperation = '{op}'\n"
                              "technique = 't{tech}'\nformat = '{f}'\n")
    table = "name,time_us\nadd_4 fp32,1\nadd_8 fp16,1\nadd_8 fp99,1\n"
    assert list(imported(tmp_path, "csv", table, *points)) == ["add/t4/fp32/steady@cpu", "add/t8/fp16/steady@cpu"]


def test_own_rows_of_benchmark_json(tmp_path):
    rows = [{"name": "a", "real_time": 2, "cpu_time": 2, "time_unit": "us", "bytes_per_s": 1e9, "flops_per_s": 2e9}]
    (row,) = imported(tmp_path, "gbench", json.dumps({"benchmarks": rows}), "--format", "fp32").values()
    assert (row["bytes"], row["flops"]) == (2000, 4000)


def test_a_row_with_nan_does_not_end_a_file(tmp_path):
    text = ('{"benchmarks": [{"name": "a", "real_time": NaN, "time_unit": "ns"},'
            '{"name": "b", "real_time": 1, "time_unit": "ns", "counter": NaN}]}')
    assert list(imported(tmp_path, "gbench", text, "--format", "fp32")) == ["external/b/fp32/steady@cpu"]


def llama(**settings) -> dict:
    return {"model_type": "llama 8B F16", "backends": "CUDA", "n_prompt": 512, "n_gen": 0, "avg_ns": 10**8, "avg_ts": 5120, "test_time": "now",
            **settings}


def traced(*operations: tuple[str, list]) -> str:
    """A trace in which one kernel computes operations on dense tensors of these sizes."""
    events = []
    for owner, (name, dims) in enumerate(operations):
        strides = [[size[1], 1] if len(size) == 2 else [1] for size in dims]
        args = {"External id": owner, "Input Dims": dims, "Input Strides": strides, "Input type": ["float"] * len(dims)}
        events += [{"cat": "cpu_op", "name": name, "args": args}, {"cat": "kernel", "name": "k", "dur": 2.0, "args": {"External id": owner}}]
    return json.dumps({"traceEvents": events})


NCCL = ("broadcast_perf\n" + "".join(f"#  Rank  {n} Group  0 Pid 1 on node device  {n} [0000:0{n}:00] GPU\n" for n in (0, 1)) +
        "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n" +
        "".join(f"1000 250 float none {root} 10 0.1 0.1 0 10 0.1 0.1 0\n" for root in (0, 1)))


@pytest.mark.parametrize(("tool", "text", "techniques"), [
    ("llama-bench", json.dumps([llama(type_k=kind, flash_attn=on, n_gpu_layers=99) for kind, on in (("f16", False), ("q8_0", True))]),
     ["llama_8B_F16_pp512_type_k=f16_flash_attn=False", "llama_8B_F16_pp512_type_k=q8_0_flash_attn=True"]),
    ("llama-bench", json.dumps([llama(n_batch=size, n_gpu_layers=50) for size in (512, 2048)]),
     ["llama_8B_F16_pp512_n_batch=512", "llama_8B_F16_pp512_n_batch=2048"]),
    ("llama-bench", json.dumps([llama(n_gpu_layers=50, type_v="f16")]), ["llama_8B_F16_pp512"]),
    ("torch-profiler", traced(("aten::relu", [[64, 256]]), ("aten::relu", [[128, 128]])),
     ["k_sizes=64x256_strides=256x1", "k_sizes=128x128_strides=128x1"]),
    ("torch-profiler", traced(*(("aten::addmm", [bias, [4, 6], [6, 2]]) for bias in ([2], [4, 2]))),
     ["k_sizes=2,4x6,6x2_strides=1,6x1,2x1", "k_sizes=4x2,4x6,6x2_strides=2x1,6x1,2x1"]),
    ("cutlass", "Problem,Provider,OperationKind,Operation,Disposition,Status,m,split_k_slices,A,Bytes,Flops,Runtime\n" +
     "".join(f"{n},CUTLASS,gemm,o,passed,success,64,{n},f32:row,1,1,0.{n}\n" for n in (1, 2)), ["o_split_k_slices=1", "o_split_k_slices=2"]),
    ("gbench", json.dumps({"benchmarks": [{"name": "a", "real_time": 1, "time_unit": "us", "label": text} for text in ("avx2", "sse")]}),
     ["a_label=avx2", "a_label=sse"]),
    ("nccl-tests", NCCL, ["nccl_out_of_place_root=0", "nccl_in_place_root=0", "nccl_out_of_place_root=1", "nccl_in_place_root=1"]),
])  # fmt: skip
def test_settings_distinguish_rows_of_one_id(tmp_path, monkeypatch, tool, text, techniques):
    monkeypatch.setattr(program, "sent_by_a_rank", lambda *_: 1.0)
    monkeypatch.setattr(program, "operations", frozenset)
    monkeypatch.setattr(program, "predict", lambda *_: {"flops": 1.0, "bytes": 1.0, "shape": {}})
    words = () if tool == "nccl-tests" else ("--format", "fp32")
    assert [row["technique"] for row in imported(tmp_path, tool, text, *words).values()] == techniques


def test_rows_without_a_difference_are_left_out(tmp_path, capsys):
    (tmp_path / "file").write_text(json.dumps([llama(), llama(test_time="later", avg_ns=2 * 10**8, avg_ts=2560)]))
    assert main(["import", "llama-bench", str(tmp_path / "file"), "-o", str(tmp_path / "out"), "--format", "fp16"]) == 2
    assert "comes 2 times; allowed: one row of a name and shape" in capsys.readouterr().err


@pytest.mark.parametrize(("rows", "columns", "why"), [
    ("a,1,8,1,cub\na,2,8,2,cub\n", "", "they differ in 'threads', which --columns leaves out; --columns 't=threads' distinguishes them"),
    ("a,1,8,1,cub\na,2,8,1,own\n", "", "they differ in 'by', which --columns leaves out; allowed: a name for each of them\n"),
    ("a,1,8,1,cub\na,2,8,2,own\na,2,8,2,cub\n", "", "they differ in 'threads', 'by', which --columns leaves out; allowed: a name for"),
    ("a,1,8,1,cub\na,2,8,2,cub\n", "t=one", "they differ in 'threads', which --columns leaves out; --columns 'i=threads' distinguishes"),
    ("a,1,8,1,cub\na,2,8,1,cub\n", "", "external/a/fp32/m:8/steady@cpu comes 2 times; allowed: one row of a name and shape\n"),
])
def test_rows_that_differ_in_a_column_that_is_left_out_are_counted_and_named(tmp_path, capsys, rows, columns, why):
    (tmp_path / "t.csv").write_text("k,us,m,threads,by,one\n" + "".join(f"{row},1\n" for row in f"{rows}b,3,8,1,cub\n".splitlines()))
    words = ["import", "csv", str(tmp_path / "t.csv"), "--format", "fp32", "--columns", "name=k", "time=us", "m=m", *columns.split()]
    assert main([*words, "-o", str(tmp_path / "1")]) == 0
    said, count = capsys.readouterr(), rows.count("\n")
    assert why in said.err and said.out.startswith("1 point in ") and said.out.endswith(f"; {count} rows left out\n")
    if "distinguishes" in why:
        assert main([*words, why.split("'")[3], "-o", str(tmp_path / "2")]) == 0
        assert capsys.readouterr().out.startswith("3 points in ")
