"""Made-up files of the kinds that people really have: each is imported at the first try, or refused with the option that helps."""

import json
from typing import NamedTuple

import pytest
from golden import imported

from ridgebench.__main__ import main
from ridgebench.data import program

GPU = "0,NVIDIA GeForce RTX 3080"
HEAD, TIMES = "Benchmark,Device,Device Name", "Skipped,Samples,CPU Time (sec),Noise (%),GPU Time (sec),Noise (%)"
TAIL = "No,100,1e-3,0.1,9e-4,0.1"
FORMAT = ("--format", "fp32")


class Kind(NamedTuple):
    """A file: the options that help, none if it needs none, its rows, the time of the first one, and the note on what is left out."""

    tool: str
    text: str
    helps: tuple[str, ...]
    rows: int
    time_s: float
    left_out: str = ""


def table(axes: str, *lines: str) -> str:
    """A CSV of nvbench: the first benchmark has its axes before Skipped, later ones behind the times."""
    return "\n".join([f"{HEAD},{axes}" if "Skipped" in axes else f"{HEAD},{axes},{TIMES}", *lines, ""])


def states(*, batch: bool) -> str:
    """JSON of nvbench: a benchmark without axes, one of float, one of whole numbers and one of types."""
    def state(seconds: float, *axes: tuple[str, str, str]) -> dict:
        tags = ["nv/cold/time/gpu/mean", *(["nv/batch/time/gpu/mean"] if batch else [])]
        summaries = [{"tag": tag, "data": [{"name": "value", "type": "float64", "value": str(seconds)}]} for tag in tags]
        return {"axis_values": [{"name": n, "type": t, "value": v} for n, t, v in axes] or None, "summaries": summaries, "is_skipped": False}

    listed = {"simple": [state(1e-3)], "single_float64_axis": [state(1e-3, ("Duration", "float64", text)) for text in ("7e-05", "8e-05")],
              "sweep": [state(1e-3, ("BlockSize", "int64", "64"), ("NumBlocks", "int64", "256"))],
              "types": [state(1e-3, ("T", "type", text)) for text in ("U8", "F32", "F64")]}  # fmt: skip
    return json.dumps({"devices": [{"id": 0, "name": "GPU"}], "benchmarks": [{"name": k, "states": v} for k, v in listed.items()]})


def gbench(*rows: dict) -> str:
    common = {"run_type": "iteration", "iterations": 10, "real_time": 1.5, "cpu_time": 1.4, "time_unit": "us", "threads": 1}
    return json.dumps({"context": {"library_build_type": "release"}, "benchmarks": [common | {"run_name": one["name"]} | one for one in rows]})


def aggregate(name: str, which: str, **more: float) -> dict:
    return {"name": f"{name}_{which}", "run_name": name, "run_type": "aggregate", "aggregate_name": which, **more}


MATMUL = """[[point]]
name = ' M=(?P<m>[0-9]+)\\S* N=(?P<n>[0-9]+)\\S* K=(?P<k>[0-9]+)'
operation = "matmul"
shape = "m:{m}/n:{n}/k:{k}"
"""
SIZED = """[[point]]
name = " (size|N|N_CTX)=(?P<n>[0-9]+)"
operation = "mine"
flops = "1000*n"
bytes = "12*n"
"""
KINDS = {
    "nvbench-int-axis": Kind("nvbench", table("N", f"copy,{GPU},16,{TAIL}", f"copy,{GPU},32,{TAIL}"), FORMAT, 2, 9e-4),
    "nvbench-batch": Kind("nvbench", table(f"{TIMES},Samples,Batch GPU (sec)", f"copy,{GPU},{TAIL},50,8e-4"), FORMAT, 2, 9e-4),
    "nvbench-axes-behind": Kind("nvbench", table(f"{TIMES},Block,Mask", f"basic,{GPU},{TAIL},16,", f"tiled,{GPU},{TAIL},,5"), FORMAT, 2, 9e-4),
    "nvbench-types": Kind("nvbench", table("T,N (pow2),N", f"sum,{GPU},F32,2^4,16,{TAIL}", f"sum,{GPU},F64,2^4,16,{TAIL}"), (), 2, 9e-4),
    "nvbench-float-and-text-axes": Kind("nvbench", table("Duration,Kind", *(f"nap,{GPU},{s},fast,{TAIL}" for s in (0.1, 0.25))), FORMAT, 2, 9e-4),
    "nvbench-skipped": Kind("nvbench", table("N", f"copy,{GPU},16,Yes,,,,,", f"copy,{GPU},32,{TAIL}"), FORMAT, 1, 9e-4, "copy: skipped"),
    "nvbench-two-gpus": Kind("nvbench", table("N", f"copy,{GPU},16,{TAIL}", f"copy,1,NVIDIA GeForce RTX 3060,16,{TAIL}"), FORMAT, 2, 9e-4),
    "nvbench-own-summaries": Kind("nvbench", table(f"N,{TIMES},L1 hit (%),My Rate (Hz)", f"copy,{GPU},16,{TAIL},0.5,1e6"), FORMAT, 1, 9e-4),
    "nvbench-keys-of-int": Kind("nvbench", table("Key,Value,N", f"map,{GPU},I32,I32,8,{TAIL}"), ("--map", '[[point]]\nname = "map"\nformat = "fp32"\n'), 1, 9e-4),
    "nvbench-json": Kind("nvbench", states(batch=True), FORMAT, 12, 1e-3, "T=U8: format uint8"),
    "nvbench-json-cold": Kind("nvbench", states(batch=False), FORMAT, 6, 1e-3, "T=U8: format uint8"),
    "gbench-typed": Kind("gbench", gbench({"name": "BM_Sum<float>/1024", "bytes_per_second": 1e9}, {"name": "BM_Sum<float>/2048"}), (), 2, 1.5e-6),
    "gbench-repetitions": Kind("gbench", gbench(*({"name": "BM_Flat/0", "repetition_index": i} for i in range(3)), aggregate("BM_Flat/0", "mean")), FORMAT, 1, 1.5e-6),
    "gbench-aggregates": Kind("gbench", gbench(*(aggregate("BM_X", which) for which in ("mean", "median", "stddev"))), FORMAT, 1, 1.5e-6),
    "gbench-threads-error-big-o": Kind("gbench", gbench({"name": "BM_P/real_time/threads:4", "threads": 4}, aggregate("BM_C", "BigO", cpu_coefficient=1.0),
                                                        {"name": "BM_E", "error_occurred": True, "error_message": "no file"}), FORMAT, 1, 1.5e-6, "BM_E: no file"),
    "gbench-in-ms": Kind("gbench", gbench(*({"name": f"BM_Copy/{n}", "time_unit": "ms", "label": "avx"} for n in (8, 64))), FORMAT, 2, 1.5e-3),
    "gbench-without-times": Kind("gbench", json.dumps({"benchmarks": [{"name": "BM_N", "iterations": 1, "time_unit": "ns"}]}), (), 0, 0, "real_time"),
    "gbench-of-time-zero": Kind("gbench", gbench({"name": "BM_Z", "real_time": 0, "cpu_time": 0}), (), 0, 0, "real_time"),
    "triton-matmul-without-units": Kind("triton", "M,N,K,cuBLAS,Triton\n256.0,512.0,64.0,2.0,4.0\n", ("--unit", "TFLOPS", "--format", "fp16", "--map", MATMUL), 2,
                                        2 * 256 * 512 * 64 / 2e12),
    "triton-rates-of-bytes": Kind("triton", "size,Triton (GB/s),Torch (GB/s)\n4096.0,12.0,6.0\n", (*FORMAT, "--map", SIZED), 2, 4096e-9),
    "triton-softmax-without-units": Kind("triton", "N,Triton,Torch\n256.0,12.0,6.0\n", ("--unit", "GB/s", *FORMAT, "--map", SIZED), 2, 256e-9),
    "triton-attention": Kind("triton", "N_CTX,Triton [FP16] (TFLOPS)\n1024.0,2.0\n", ("--map", SIZED), 1, 1024e3 / 2e12),
}


@pytest.fixture(autouse=True)
def without_binary(monkeypatch):
    monkeypatch.setattr(program, "predict", lambda *_: {"flops": 2.0 * 256 * 512 * 64, "bytes": 2.0 * (256 * 64 + 64 * 512 + 256 * 512),
                                                        "shape": {"m": 256, "n": 512, "k": 64, "layout": "nt"}})
    monkeypatch.setattr(program, "operations", frozenset)


def test_the_list_has_22_kinds():
    assert len(KINDS) == 22


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_file_is_imported_or_refused_with_the_option_that_helps(tmp_path, capsys, kind):
    path, given = tmp_path / "first", []
    path.write_text(kind.text)
    for _ in range(len(kind.helps) // 2):
        code = main(["import", kind.tool, str(path), "-o", str(tmp_path / "none"), *given])
        said = capsys.readouterr().err
        missing = [option for option in kind.helps[::2] if option not in given and option in said]
        assert code == 2 or (kind.left_out and "--format" in missing), (code, said)
        assert missing and (code != 2 or said.count("\n") == 1), said
        given += [missing[0], kind.helps[kind.helps.index(missing[0]) + 1]]
        if missing[0] == "--map":
            (tmp_path / "map.toml").write_text(given[-1])
            given[-1] = str(tmp_path / "map.toml")
        if code != 2:
            break
    if not kind.rows:
        assert main(["import", kind.tool, str(path), "-o", str(tmp_path / "out")]) == 2
        said = capsys.readouterr().err
        assert kind.left_out in said and "allowed: " in said and said.count("\n") == 1
        return
    rows = list(imported(tmp_path, kind.tool, kind.text, *given).values())
    assert len(rows) == kind.rows and rows[0]["time_median_s"] == pytest.approx(kind.time_s)
    assert kind.left_out in capsys.readouterr().err


TAGGED = "".join(f"[1,0]<stdout>:{line}\n" for line in ("# nThread 1", "#       size  count type redop root time algbw busbw #wrong"))
SUMMARY = '"Process ID","Kernel Name","Invocations","Section Name","Metric Name","Metric Unit","Minimum","Maximum","Average"\n'
MARKDOWN = "# Devices\n\n## [0] `GPU`\n\n| Benchmark | Samples |\n|---|---|\n| copy | 10x |\n"


@pytest.mark.parametrize(("tool", "text", "helps"), [
    ("gbench", "Running ./a\nBenchmark  Time  CPU  Iterations\nBM_A  1 ns  1 ns  10\n", "--benchmark_out=FILE --benchmark_out_format=json"),
    ("gbench", "name,iterations,real_time\n\"BM_A\",10,1\n", "--benchmark_out=FILE --benchmark_out_format=json"), ("gbench", "", "--benchmark_out=FILE"),
    ("nvbandwidth", "nvbandwidth Version: v0.5\nRunning host_to_device_memcpy_ce.\n", "nvbandwidth -j"),
    ("llama-bench", "build_commit,model_type\n\"b1\",\"llama 8B\"\n", "llama-bench -o json or -o jsonl"),
    ("llama-bench", "| model | size | test | t/s |\n| --- | --- | --- | --- |\n", "llama-bench -o json or -o jsonl"),
    ("nvbench", MARKDOWN, "--json FILE or --csv FILE"), ("nvbench", "one line", "--json FILE or --csv FILE"),
    ("nccl-tests", TAGGED, "mpirun without --tag-output"),
    ("ncu", SUMMARY + '"1","k","2","s","Duration","us","1","2","1.5"\n', "and without --print-summary"), ("ncu", "k (1, 1, 1)\n", "ncu --csv"),
    ("torch-profiler", "Name  Self CPU\n", "export_chrome_trace(FILE)"), ("cutlass", "Problem ID: 1\n\nProvider: CUTLASS\n", "cutlass_profiler --output=FILE"),
    ("triton", "softmax-performance:\n       N  Triton\n0  256.0  1.5\n", "run(save_path=...)"), ("triton", "", "run(save_path=...)"),
])  # fmt: skip
def test_another_form_of_a_tool_is_refused_with_the_option_that_helps(tmp_path, capsys, tool, text, helps):
    (tmp_path / "file").write_text(text)
    assert main(["import", tool, str(tmp_path / "file"), "-o", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert "; allowed: the output of " in said and helps in said and said.count("\n") == 1 and len(said) < 500


def test_torn_json_is_no_other_form(tmp_path, capsys):
    (tmp_path / "file").write_text('{"benchmarks": [')
    assert main(["import", "gbench", str(tmp_path / "file"), "-o", str(tmp_path / "out")]) == 2
    assert "not JSON" in (said := capsys.readouterr().err) and "allowed" not in said
