"""Every format of `ridgebench import`: its points in SI base units. tests/data/imports/README.md says what is real."""

import errno
import json
import sys
import types
from pathlib import Path

import pytest
from golden import ROOT, read_environment, read_records

from ridgebench.__main__ import main
from ridgebench.base import command_line
from ridgebench.data import program
from ridgebench.data.records import load_run, schema_of
from ridgebench.exchange.importers import mapping, ncu, number_formats, units
from ridgebench.exchange.importers.point import Imported

FILES = ROOT / "tests" / "data" / "imports"
# What the binary answers for the operations that it knows, so that these tests need no build.
WORK = {("matmul", "bf16"): lambda m, n, k: (2 * m * n * k, 2 * (m * n + n * k + m * k)),
        ("matmul", "fp16"): lambda m, n, k: (2 * m * n * k, 2 * (m * n + n * k + m * k)),
        ("matmul", "fp32"): lambda m, n, k: (2 * m * n * k, 4 * (m * n + n * k + m * k))}


def answer(operation: str, text: str, name: str, device: str) -> dict:
    shape = mapping.shape(text, "here")
    flops, moved = WORK[operation, name](*(shape[d] for d in "mnk"))
    return {"flops": flops, "bytes": moved, "shape": {**shape, "layout": shape.get("layout", "nt")}}


@pytest.fixture(autouse=True)
def without_binary(monkeypatch):
    monkeypatch.setattr(program, "predict", answer)
    monkeypatch.setattr(program, "operations", frozenset)


def read(tmp_path: Path, *words) -> dict[str, dict]:
    """The records that a command line makes, by id."""
    out = tmp_path / "out"
    assert main(["import", *map(str, words), "-o", str(out)]) == 0
    load_run(out)  # obeys the schemas
    return {record["id"]: record for record in read_records(out)}


def test_google_benchmark_with_repetitions(tmp_path, capsys):
    found = read(tmp_path, "gbench", FILES / "gbench_repetitions.json", "--map", FILES / "points_gbench.toml")
    assert list(found) == [
        "saxpy/gcc/fp32/n:1024/steady@cpu", "saxpy/gcc/fp32/n:65536/steady@cpu", "saxpy/gcc/fp32/n:4096/steady@cpu",
        "matmul/three_loops/fp32/m:64/n:64/k:64/layout:nn/steady@cpu"]
    rows = json.loads((FILES / "gbench_repetitions.json").read_text())["benchmarks"]
    times = [row["real_time"] / 1e9 for row in rows if row["name"] == "saxpy/1024/real_time"]
    first = found["saxpy/gcc/fp32/n:1024/steady@cpu"]
    assert first["samples_s"] == times and len(times) == 3
    low, middle, _ = sorted(times)
    assert (first["time_median_s"], first["time_min_s"]) == (middle, low)
    assert first["time_p10_s"] == pytest.approx(low + 0.2 * (middle - low))
    assert first["time_ci_low_s"] is None and first["flags"] == []
    # By the program: 12 bytes and 2 FLOPs per element, by real time and by the library's CPU time.
    for size in (1024, 4096, 65536):
        row = found[f"saxpy/gcc/fp32/n:{size}/steady@cpu"]
        assert (row["bytes"], row["flops"]) == (12 * size, 2 * size)
    assert found["matmul/three_loops/fp32/m:64/n:64/k:64/layout:nn/steady@cpu"]["flops"] == 2 * 64**3
    said = capsys.readouterr()
    assert [line.split(":")[1] for line in said.err.splitlines()] == [" note", " left out"]
    assert "library_build_type is debug" in said.err and "left out: broken: no input\n" in said.err
    assert said.out.endswith("unverified; 4 with FLOPs and bytes for a roofline; 3 rows left out\n")


@pytest.mark.parametrize("keys", [{"repetition_index": 0}, {}, {"run_type": "aggregate", "aggregate_name": "median"}])
def test_benchmarks_of_one_name_are_no_repetitions(keys, tmp_path, capsys):
    rows = [{"run_name": name, "real_time": time, **keys} for name, time in (("a", 1), ("a", 2), ("b", 3))]
    (tmp_path / "b.json").write_text(json.dumps({"benchmarks": rows}))
    assert list(read(tmp_path, "gbench", tmp_path / "b.json", "--format", "fp32")) == ["external/b/fp32/steady@cpu"]
    assert capsys.readouterr().err.count("external/a/fp32/steady@cpu comes 2 times") == 2


def test_google_benchmark_without_repetitions_and_with_aggregates_alone(tmp_path):
    once = read(tmp_path / "1", "gbench", FILES / "gbench_once.json", "--format", "fp32")
    assert {len(row["samples_s"]) for row in once.values()} == {1} and len(once) == 4
    assert "external/saxpy_4096/fp32/steady@cpu" in once
    alone = read(tmp_path / "2", "gbench", FILES / "gbench_aggregates.json", "--format", "float")
    rows = json.loads((FILES / "gbench_aggregates.json").read_text())["benchmarks"]
    median = next(r["real_time"] for r in rows if r["name"] == "product/64_median")
    assert alone["external/product_64/fp32/steady@cpu"]["time_median_s"] == pytest.approx(median / 1e3)


@pytest.mark.parametrize("name", ["nvbench.json", "nvbench.csv"])
def test_nvbench(tmp_path, capsys, name):
    found = read(tmp_path, "nvbench", FILES / name)
    cold = found["external/copy/fp32/Elements:67108864/cold@cuda:0"]
    assert (cold["time_median_s"], cold["bytes"], cold["flags"]) == (0.0002, 8 * 2**26, ["mean_time"])
    assert found["external/copy/fp32/Elements:67108864/steady@cuda:0"]["time_median_s"] == 0.00019
    assert len(found) == 2 and "left out: copy: " in capsys.readouterr().err
    device = read_environment(tmp_path / "out")["devices"]
    assert [one["model"] for one in device] == ["NVIDIA H100 80GB HBM3"]


def test_cutlass(tmp_path, capsys):
    found = read(tmp_path, "cutlass", FILES / "cutlass.csv")
    row, double = found.values()
    assert (row["op"], row["format"], row["shape"]["layout"]) == ("matmul", "bf16", "nt")
    assert (double["op"], double["format"], double["accumulator"]) == ("matmul", "fp64", "fp64")
    assert (row["time_median_s"], row["flops"], row["bytes"]) == (0.0002, 2 * 4096**3, 6 * 4096**2)
    assert capsys.readouterr().err.endswith("cutlass_broken: success, incorrect\n")


def test_triton(tmp_path, capsys):
    found = read(tmp_path, "triton", FILES / "triton.csv", "--map", FILES / "points_triton.toml")
    row = found["matmul/Triton/fp16/m:4096/n:4096/k:4096/layout:nt/steady@cuda:0"]
    assert row["flops_per_s"] == pytest.approx(600e12) and row["time_median_s"] == pytest.approx(2 * 4096**3 / 600e12)
    assert len(found) == 3 and "cuBLAS" in capsys.readouterr().err


@pytest.mark.parametrize(("unit", "per_s"), [
    ("GB/s", 1e9), ("gB/s", 1e9), ("GB/S", 1e9), ("kB/s", 1e3), ("KB/sec", 1e3), ("B/s", 1), ("GBps", 1e9), ("GBPS", 1e9), ("gbyte/s", 1e9),
    ("Gbyte/second", 1e9), ("GIB/s", 2**30), ("MiB/s", 2**20), ("Gb/s", 1e9 / 8), ("Gbps", 1e9 / 8), ("Gbit/s", 1e9 / 8), ("gbit/s", 1e9 / 8),
    ("Kb/s", 125), ("bit/s", 1 / 8), ("Mibit/s", 2**20 / 8), ("Gib/s", 2**30 / 8), ("gb/s", None), ("gbps", None), ("mib/s", None), ("kb/s", None),
    ("b/s", None), ("GB", None)])  # fmt: skip
def test_a_bit_is_an_eighth_of_a_byte(unit, per_s):
    found = units.find(units.RATES, unit)
    assert found == (per_s and ("bytes", per_s))


def test_small_letters_that_may_mean_bits_or_bytes_need_an_option(tmp_path, capsys):
    (tmp_path / "t.csv").write_text("N,Triton (gb/s)\n64,2\n")
    words = ("triton", tmp_path / "t.csv", "--format", "fp32", "--map", FILES / "points_triton.toml")
    assert main(["import", *map(str, words), "-o", str(tmp_path / "1")]) == 2
    assert "unit 'gb/s' may mean bits or bytes, of Triton; --unit states another; allowed: GB/s, Gbit/s" in capsys.readouterr().err
    (tmp_path / "map.toml").write_text('[[point]]\nname = "."\nbytes = "8*N"\n')
    for unit, time_s in (("GB/s", 512 / 2e9), ("Gbit/s", 512 * 8 / 2e9)):
        (row,) = read(tmp_path / unit[:2], *words[:-1], tmp_path / "map.toml", "--unit", unit).values()
        assert row["time_median_s"] == pytest.approx(time_s)


@pytest.mark.parametrize(("columns", "moved", "message"), [
    ("bytes=moved gb", None, "column 'moved gb' may be in bits or bytes; --columns 'bytes_GB=moved gb' says that it is in bytes"),
    ("bytes_mb=moved gb", None, "unit 'mb' may mean bits or bytes, of bytes; allowed: MB, Mbit"),
    ("bytes_GB=moved gb", 0.5e9, ""), ("bytes_Gbit=moved gb", 0.5e9 / 8, ""),
    ("bytes_GB=rate gb/s", None, "column 'rate gb/s' is in gb/s; allowed for bytes"),
    ("flops=moved gb", None, "column 'moved gb' is in gb; allowed for flops"),
])
def test_a_column_whose_letters_may_mean_bits_or_bytes(tmp_path, capsys, columns, moved, message):
    (tmp_path / "t.csv").write_text("name,time_us,moved gb,rate gb/s\ngemm_fp16,12.5,0.5,1\n")
    words = ("csv", tmp_path / "t.csv", "--columns", "name=name", "time=time_us", columns)
    if moved is None:
        assert main(["import", *map(str, words), "-o", str(tmp_path / "out")]) == 2
        assert message in capsys.readouterr().err
        return
    assert [row["bytes"] for row in read(tmp_path, *words).values()] == [moved]


@pytest.mark.parametrize(("text", "name"), [
    ("f8e4m3", "fp8_e4m3"), ("f8e5m2", "fp8_e5m2"), ("torch.bfloat16", "bf16"), ("float16", "fp16"), ("np.float64", "fp64"), ("__half", "fp16"),
    ("__nv_bfloat16", "bf16"), ("torch.float8_e4m3fn", "fp8_e4m3"), ("torch.int8", "int8"), ("BF16xFP32", "bf16xfp32"), ("torch.int32", None),
    ("float16_t", None), ("half.", None), ("", None)])  # fmt: skip
def test_names_of_formats_that_other_tools_write(text, name):
    assert number_formats.find(text) == name


def test_unit_replaces_an_unknown_one(tmp_path, capsys):
    (tmp_path / "t.csv").write_text("N,Triton (latency),Torch (us)\n64,2,3\n")
    words = ("triton", tmp_path / "t.csv", "--format", "fp32")
    assert len(read(tmp_path / "1", *words)) == 1
    assert "unknown unit 'latency' of Triton; --unit states another; allowed: " in capsys.readouterr().err
    assert [row["time_median_s"] for row in read(tmp_path / "2", *words, "--unit", "ms").values()] == [2e-3, 3e-6]
    (tmp_path / "t.csv").write_text("N,Triton (us)\n64,2\n")
    assert main(["import", *map(str, words), "--unit", "ms", "-o", str(tmp_path / "3")]) == 2
    assert "--unit is 'ms', and every column names its unit; allowed: columns without one" in capsys.readouterr().err


def test_triton_without_units_needs_one(tmp_path):
    words = ("triton", FILES / "triton_old.csv", "--map", FILES / "points_triton.toml", "--unit", "GB/s")
    row = read(tmp_path, *words)["vector_add/Torch/fp32/size:1048576/steady@cuda:0"]
    assert row["bytes_per_s"] == pytest.approx(1100e9)


def test_a_table_of_any_source(tmp_path):
    found = read(tmp_path, "csv", FILES / "plain.csv", "--backend", "cuda", "--model", "my GPU")
    softmax = found["softmax/online/fp32/m:1024/n:4096/steady@cuda:0"]
    assert (softmax["time_median_s"], softmax["bytes"], softmax["flops"]) == (12.5e-6, 33554432, 20971520)
    assert found["matmul/mine/bf16/m:4096/n:4096/k:4096/layout:nt/steady@cuda:0"]["bytes"] == 6 * 4096**2


def test_llama_bench(tmp_path, capsys):
    found = read(tmp_path, "llama-bench", FILES / "llama_bench.json")
    prompt, new, experts = found.values()
    assert prompt["id"] == "external/llama_8B_F16_pp1024/fp16/prompt:1024/ubatch:512/threads:8/steady@cuda:0"
    assert (prompt["samples_s"], prompt["flags"]) == ([0.1, 0.101, 0.102], [])
    assert (prompt["flops"], prompt["bytes"]) == (2 * 8030261312 * 1024, 2 * 16060522496)  # two passes of 512
    assert (new["flops"], new["bytes"], new["time_median_s"]) == (2 * 8030261312 * 128, 128 * 16060522496, 1.28)
    assert new["flags"] == experts["flags"] == ["mean_time"]
    assert (experts["flops"], experts["bytes"], experts["time_median_s"]) == (0, 0, 0.5)
    assert "attention and the cache are left out" in capsys.readouterr().err
    assert read_environment(tmp_path / "out")["devices"][0]["model"] == "NVIDIA A GPU"


def test_llama_bench_by_lines_on_a_processor(tmp_path):
    row = {"model_type": "llama 1B Q4_0", "cpu_info": "A processor", "backends": "CPU", "model_size": 10**9, "model_n_params": 10**9,
           "n_prompt": 8, "n_gen": 2, "avg_ts": 20.0}
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(row) + "\n" + json.dumps(row | {"n_prompt": 16}) + "\n")
    found = read(tmp_path, "llama-bench", path, "--format", "fp32")
    assert [key.split("/")[1] for key in found] == ["llama_1B_Q4_0_pp8+tg2", "llama_1B_Q4_0_pp16+tg2"]
    assert [(row["bytes"], row["time_median_s"]) for row in found.values()] == [(3e9, 0.5), (3e9, 0.9)]


def test_llama_bench_of_two_gpus_keeps_the_rows_of_the_first(tmp_path, capsys):
    path = tmp_path / "two.jsonl"
    path.write_text("\n".join(json.dumps(LLAMA | {"n_prompt": 512 * (at + 1), "gpu_info": gpu}) for at, gpu in enumerate(("H100", "A100"))))
    assert [row["shape"]["prompt"] for row in read(tmp_path, "llama-bench", path, "--format", "fp16").values()] == [512]
    assert "device 0 is 'A100', and 'H100' before" in capsys.readouterr().err


LLAMA = {"model_type": "llama 8B Q4_0", "backends": "CUDA", "model_size": 5 * 10**9, "model_n_params": 8 * 10**9, "n_prompt": 1024,
         "n_gen": 0, "avg_ts": 1e4}


@pytest.mark.parametrize(("change", "passes"), [
    ({}, 2), ({"n_batch": 128}, 8), ({"n_batch": 768}, 3), ({"n_prompt": 1, "n_ubatch": 1}, 1),
    ({"model_type": "phi3 3B Q4_0", "model_n_params": 3821079648}, 2), ({"model_type": "llama ?B Q4_0"}, 2),
    ({"model_type": "gpt-oss 20B Q8_0", "model_n_params": 20914757184}, 0), ({"model_type": "deepseek2 671B Q4_K - Medium"}, 0),
    ({"model_type": "llama4 17Bx16E (Scout) Q4_0"}, 0), ({"model_type": "dbrx 132B Q4_0"}, 0), ({"model_type": "new 8B F16"}, 0),
    ({"model_type": "llama 7B Q4_0", "model_n_params": 24153690112}, 0), ({"model_filename": "Mixtral-8x7B.gguf"}, 0),
])  # fmt: skip
def test_only_a_model_without_experts_has_flops_and_bytes(tmp_path, change, passes):
    path = tmp_path / "rows.jsonl"
    row = LLAMA | change
    path.write_text(json.dumps(row) + "\n")
    (found,) = read(tmp_path, "llama-bench", path, "--format", "fp16").values()
    assert found["bytes"] == passes * row["model_size"]
    assert found["flops"] == (2 * row["model_n_params"] * row["n_prompt"] if passes else 0)


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_the_columns_of_a_table_may_have_other_names(mark, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("kernel,latency (us),M,N,K,dtype,note\nmine,12.5,8,16,24,fp16,x\nhis,13,8,16,24,bf16,y\n".replace(",", mark))
    columns = ("name=kernel", "time=latency (us)", "m=M", "n=N", "k=K", "format=dtype")
    found = read(tmp_path, "csv", table, "--columns", *columns)
    assert found["external/mine/fp16/m:8/n:16/k:24/steady@cpu"]["time_median_s"] == 12.5e-6
    assert found["external/his/bf16/m:8/n:16/k:24/steady@cpu"]["time_median_s"] == 13e-6


@pytest.mark.parametrize(("header", "columns", "time_s", "flops", "moved"), [
    ("kernel,ms,Flops,GB", "time=ms flops=Flops bytes=GB", 12.5e-3, 100, 0.5e9),
    ("kernel,ms,GFLOPs,GB", "time_ms=ms flops_GFLOP=GFLOPs bytes=GB", 12.5e-3, 100e9, 0.5e9),
    ("kernel,latency_us,FLOP count,moved [Mbit]", "time=latency_us flops_k=FLOP\tcount bytes=moved\t[Mbit]", None, 0, 0),
    ("kernel,latency_us,FLOP count,moved [Mbit]", "time=latency_us flops_GFLOP=FLOP\tcount bytes=moved\t[Mbit]", None, 0, 0),
    ("kernel,time_b,work,moved (total)", "time_us=time_b flops=work bytes_KiB=moved\t(total)", 12.5e-6, 100, 512),
    ("kernel,GPU ms mean,work,moved Gb", "time=GPU\tms\tmean flops=work bytes=moved\tGb", 12.5e-3, 100, 0.5e9 / 8),
])
def test_a_column_is_in_the_unit_that_its_name_states(tmp_path, capsys, header, columns, time_s, flops, moved):
    (tmp_path / "t.csv").write_text(f"{header}\ngemm_fp16,12.5,100,0.5\n")
    words = ("csv", tmp_path / "t.csv", "--columns", "name=kernel", *(word.replace("\t", " ") for word in columns.split(" ")))
    if time_s is None:
        assert main(["import", *map(str, words), "-o", str(tmp_path / "out")]) == 2
        assert ("unknown unit 'k' of flops" if "_k=" in columns else "is in FLOP, and --columns says GFLOP; allowed: one unit") in capsys.readouterr().err
        return
    (row,) = read(tmp_path, *words).values()
    assert (row["time_median_s"], row["flops"], row["bytes"]) == (time_s, flops, moved)


@pytest.mark.parametrize(("name", "stated"), [
    ("gemm_bf16", "bf16"), ("BM_Sum<float>/1024", "fp32"), ("add(const double*, int)", "fp64"), ("void f<__nv_bfloat16>", "bf16"),
    ("cast(float const*)", "fp32"), ("conv<e4m3>", "fp8_e4m3"), ("a_fp16_b_fp16", "fp16"),
    ("sm80_xmma_gemm_tf32f32_tf32f32_f32_nn_n_tilesize128x128x16", "tf32"), ("sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n", "tf32"),
    ("sm90_xmma_gemm_f16f16_f16f32_f32_tn_n", "fp16"), ("sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_simt", "fp32"),
    ("nvjet_sss_tf32_128x256_TNT", "tf32"), ("nvjet_sm90_sss_tf32_128x256_64x4_1x2_h_bz_coopA_NNT", "tf32"), ("nvjet_sss_128x256_TNT", None),
    ("nvjet_hsh_96x128_64x7_2x1_v_bz_TNN", "fp16"), ("nvjet_sm100_tst_64x32_64x16_2x1_2cta_v_bz_TNT", "bf16"), ("nvjet_tss_8x64_v_TNT", "bf16"),
    ("nvjet_qqtst_128x160_128x6_2x1_v_bz_coopA_algo2_TNN", "fp8_e4m3"), ("nvjet_sm90_qrtsr_64x64_NNT Grid Size=8", "fp8_e4m3xfp8_e5m2"),
    ("nvjet_bii_64x64_TNT", "int8"), ("nvjet_bss_64x64_TNT", None), ("nvjet_sm100_ootst_256x128_128x4_Avec16UE4M3_TNT", None),
    ("nvjet_sm120_tst_mma_64x64x128_3_32x32x128_tmaAB_bz_TNNN", "bf16"), ("nvjet_new_bf16", None), ("test_nvjet_bf16", "bf16"),
    ("sm89_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n", "fp8_e4m3"), ("sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwc", "tf32"),
    ("cutlass_80_tensorop_s1688gemm_128x128_16x5_nn_align4", "tf32"), ("cutlass_80_tensorop_s1688tf32gemm_256x128_nn", "tf32"),
    ("cutlass_75_tensorop_s1688gemm_f16_256x128_nn", "fp16"), ("cutlass_80_tensorop_bf16_s16816gemm_bf16_256x128", "bf16"),
    ("ampere_sgemm_128x64_tn", None), ("gemm_double_buffered", None), ("half_warp", None), ("k<float4>", None), ("k<__half, float>", None), ("copy_fp16_to_fp32", None),
])  # fmt: skip
def test_the_format_that_a_name_states(name, stated):
    assert number_formats.of_name(name) == stated


def test_rows_whose_names_state_their_format_need_no_option(tmp_path, capsys):
    table = tmp_path / "t.csv"
    table.write_text("name,time_us\nsum<float>,1\nsum<double>,2\nplain,3\n")
    assert sorted(key.split("/")[2] for key in read(tmp_path, "csv", table)) == ["fp32", "fp64"]
    said = capsys.readouterr().err
    assert "note: the format of 2 rows is what their names say: fp32, fp64; --format states another" in said
    assert "left out: " in said and "the format of 'plain' is unknown; --format" in said
    assert {key.split("/")[2] for key in read(tmp_path / "other", "csv", table, "--format", "bf16")} == {"bf16"}


def test_names_may_have_letters_of_any_script(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("name,time_us,format\nゼロ コピー,1,fp32\nноль,1,fp32\n", "utf-8")
    assert [key.split("/")[1] for key in read(tmp_path, "csv", table)] == ["ゼロ_コピー", "ноль"]


def test_nsight_compute(tmp_path):
    found = read(tmp_path, "ncu", FILES / "ncu.csv", "--map", FILES / "points_ncu.toml")
    saxpy = found["saxpy/grid_stride/fp32/n:16777216/steady@cuda:0"]
    assert saxpy["samples_s"] == [80e-6, 82e-6] and saxpy["flops"] == 2 * 2**24
    assert saxpy["bytes"] == pytest.approx(134217728 + 67108864) and saxpy["flags"] == ["counted_bytes"]
    # Its tensor cores worked, so that fp32's instructions are not its arithmetic: the shape says it.
    product = found["matmul/mine/bf16/m:4096/n:4096/k:4096/layout:nt/steady@cuda:0"]
    assert (product["flops"], product["time_median_s"]) == (2 * 4096**3, 300e-6)


def test_counters_of_launches_are_averaged(tmp_path):
    lines = (FILES / "ncu.csv").read_text().replace('"82.0","0","16777216"', '"82.0","0","33554432"')
    (tmp_path / "ncu.csv").write_text(lines)
    found = read(tmp_path, "ncu", tmp_path / "ncu.csv", "--map", FILES / "points_ncu.toml")
    assert found["saxpy/grid_stride/fp32/n:16777216/steady@cuda:0"]["flops"] == 3 * 2**24


class Metric:
    def __init__(self, value, unit):
        self.value, self.unit = lambda: value, lambda: unit


class Action(dict):
    def name(self):
        return "saxpy"


def test_a_report_of_nsight_compute_by_its_package(tmp_path, monkeypatch):
    action = Action({ncu.DURATION: Metric(80000, "ns"), "dram__bytes.sum": Metric(2.0, "Mbyte"),
                     "launch__grid_size": Metric(64, "")})
    package = types.SimpleNamespace(load_report=lambda path: [[action]])
    monkeypatch.setitem(sys.modules, "ncu_report", package)
    (tmp_path / "x.ncu-rep").write_bytes(b"\0")
    (row,) = read(tmp_path, "ncu", tmp_path / "x.ncu-rep", "--format", "fp32").values()
    assert (row["time_median_s"], row["bytes"], row["technique"]) == (80e-6, 2e6, "saxpy_Grid_Size=64")


def test_without_its_package_a_report_is_refused(tmp_path, capsys):
    (tmp_path / "x.ncu-rep").write_bytes(b"\0")
    assert main(["import", "ncu", str(tmp_path / "x.ncu-rep"), "-o", str(tmp_path / "o")]) == 2
    assert "ncu_report" in capsys.readouterr().err


def test_the_work_of_known_operations_comes_from_the_binary(monkeypatch, tmp_path):
    monkeypatch.undo()
    script = tmp_path / "ridgebench"
    script.write_text('#!/bin/sh\n[ "$2" = relu ] || { echo "ridgebench: no" >&2; exit 2; }\n'
                      'echo "{\\"flops\\": 64, \\"bytes\\": 512, \\"shape\\": {\\"n\\": 64}}"\n')
    script.chmod(0o755)
    monkeypatch.setattr(command_line, "BINARY", str(script))
    for cached in (program.binary, program.ask):
        cached.cache_clear()
    table = tmp_path / "t.csv"
    table.write_text("name,operation,format,n,time_us\na,relu,fp32,64,1\n")
    (row,) = read(tmp_path, "csv", table).values()
    assert (row["flops"], row["bytes"]) == (64, 512)
    table.write_text("name,operation,format,n,time_us\na,dot,fp32,64,1\n")
    assert main(["import", "csv", str(table), "-o", str(tmp_path / "o2")]) == 2
    program.binary.cache_clear()
    program.ask.cache_clear()


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(errno.ENOSPC, "No space left on device", "f")])
@pytest.mark.parametrize("files", [0, 1, 2])
def test_an_import_that_breaks_off_leaves_nothing(error, files, tmp_path, monkeypatch, capsys):
    written = []

    def write(path, text):
        if len(written) == files:
            raise error
        written.append(path)
        path.write_text(text)

    monkeypatch.setattr("ridgebench.exchange.importers.records.write_at_once", write)
    assert main(["import", "csv", str(FILES / "plain.csv"), "-o", str(tmp_path / "out")]) == 3
    assert len(written) == files and not (tmp_path / "out").exists()
    assert capsys.readouterr().err.splitlines()[-1] in ("import: interrupted", "import: f: No space left on device")


def test_nothing_is_written_over(tmp_path, capsys):
    read(tmp_path, "csv", FILES / "plain.csv")
    before = (tmp_path / "out" / "records.jsonl").read_bytes()
    assert main(["import", "csv", str(FILES / "plain.csv"), "-o", str(tmp_path / "out")]) == 2
    assert "is not empty" in capsys.readouterr().err
    assert (tmp_path / "out" / "records.jsonl").read_bytes() == before


def test_a_record_has_every_key_of_the_schema():
    assert set(schema_of("record")["required"]) <= set(schema_of("record")["properties"])
    assert Imported([]).left_out == []
