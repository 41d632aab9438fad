"""`ridgebench import` of traces of torch.profiler and of the rates of links: nccl-tests and nvbandwidth."""

import gzip
import json
from pathlib import Path

import pytest
from golden import ROOT, read_environment, read_records

from ridgebench.__main__ import main
from ridgebench.data import program
from ridgebench.data.records import load_run
from ridgebench.exchange.importers import torch_profiler

FILES = ROOT / "tests" / "data" / "imports"
MIB = 2**20


def sent(collective: str, ranks: int) -> float:
    """What the program answers; tests/cli/answers/collectives_test.py compares it."""
    if collective in ("broadcast", "reduce", "send-receive"):
        return 1.0
    return (2 if collective == "all-reduce" else 1) * (ranks - 1) / ranks


@pytest.fixture(autouse=True)
def without_binary(monkeypatch):
    monkeypatch.setattr(program, "predict", lambda operation, text, name, device: {"flops": 11.0, "bytes": 12.0, "shape": {}})
    monkeypatch.setattr(program, "operations", frozenset)
    monkeypatch.setattr(program, "sent_by_a_rank", sent)


def read(tmp_path: Path, *words) -> dict[str, dict]:
    """The records that a command line makes, by id."""
    out = tmp_path / "out"
    assert main(["import", *map(str, words), "-o", str(out)]) == 0
    load_run(out)  # obeys the schemas
    return {record["id"]: record for record in read_records(out)}


def test_kernels_of_a_trace_have_the_work_of_their_operation(tmp_path, capsys):
    found = read(tmp_path, "torch-profiler", FILES / "torch_trace.json")
    product = found["matmul/nvjet_tst_128x256_64x4_2x1_v_bz_coopA_TNT/bf16/m:1024/n:4096/k:2048/layout:nt/steady@cuda:0"]
    assert product["samples_s"] == [11.424e-6, 11.2e-6, 11.36e-6]
    assert (product["flops"], product["bytes"]) == (11, 12)  # of the program
    added = next(row for row in found.values() if row["op"] == "addmm")
    assert (added["format"], added["shape"]) == ("tf32", {"m": 256, "n": 512, "k": 1024})
    assert (added["flops"], added["bytes"]) == (2 * 256 * 512 * 1024, 4 * (256 * 512 + 256 * 1024 + 512 * 1024 + 512))
    stack = found["bmm/sm90_xmma_gemm_f16f16/fp16/b:8/m:64/n:32/k:128/steady@cuda:0"]
    assert (stack["flops"], stack["bytes"]) == (2 * 8 * 64 * 32 * 128, 2 * 8 * (64 * 32 + 64 * 128 + 32 * 128))
    assert next(row for row in found.values() if row["op"] == "relu")["shape"] == {"n": 2**20}
    assert "format long int; ridgebench has fp32" in capsys.readouterr().err
    assert read_environment(tmp_path / "out")["devices"][0]["model"] == "NVIDIA H100 80GB HBM3"


def test_of_two_kernels_of_an_operation_none_has_its_work(tmp_path):
    found = read(tmp_path, "torch-profiler", FILES / "torch_trace.json")
    split = [row for row in found.values() if "splitK" in row["technique"]]
    assert [(row["op"], row["flops"], row["bytes"]) for row in split] == [("external", 0, 0)] * 2
    assert len({row["technique"] for row in split}) == 2


def test_a_trace_may_be_packed(tmp_path):
    packed = tmp_path / "trace.json.gz"
    packed.write_bytes(gzip.compress((FILES / "torch_trace.json").read_bytes()))
    assert len(read(tmp_path, "torch-profiler", packed)) == 6


def read_rows(tmp_path: Path, path: Path) -> list[dict]:
    return list(read(tmp_path, "torch-profiler", path).values())


def trace(events: list[dict]) -> str:
    return json.dumps({"traceEvents": events})


def kernel(name: str = "my_kernel_bf16", owner: int = 1, **args) -> dict:
    return {"cat": "kernel", "name": name, "dur": 2.0, "args": {"External id": owner, "grid": [1, 1, 1], **args}}


def operation(dims: list, strides: list, name: str = "aten::mm", owner: int = 1) -> dict:
    return {"cat": "cpu_op", "name": name,
            "args": {"External id": owner, "Input Dims": dims, "Input Strides": strides, "Input type": ["c10::BFloat16"] * len(dims)}}


@pytest.mark.parametrize(("dims", "strides", "shown"), [
    ([[8, 4], [4, 6]], [[4, 1], [6, 1]], "matmul/{}/bf16/m:8/n:6/k:4/layout:nn"),
    ([[8, 4], [4, 6]], [[4, 1], [1, 4]], "matmul/{}/bf16/m:8/n:6/k:4/layout:nt"),
    ([[8, 4], [4, 6]], [[1, 8], [6, 1]], "matmul/{}/bf16/m:8/n:6/k:4/layout:tn"),
    ([[8, 4], [4, 6]], [[1, 8], [1, 4]], "mm/{}/bf16/m:8/n:6/k:4"),  # a layout without a name here
    ([[8, 4], [4, 6]], [], "mm/{}/bf16/m:8/n:6/k:4"),  # the trace lacks strides
    ([[8, 4], [5, 6]], [[4, 1], [6, 1]], "external/{}_1x1x1/bf16"),  # no product
    ([[8, 0], [0, 6]], [[1, 1], [6, 1]], "external/{}_1x1x1/bf16"),
])
def test_a_product_has_the_layout_that_strides_give(tmp_path, dims, strides, shown):
    path = tmp_path / "t.json"
    path.write_text(trace([operation(dims, strides), kernel()]))
    assert list(read(tmp_path, "torch-profiler", path)) == [shown.format("my_kernel_bf16") + "/steady@cuda:0"]


@pytest.mark.parametrize(("name", "dims", "strides", "op"), [
    ("aten::dot", [[8], [8]], [[1], [1]], "dot"), ("aten::dot", [[8], [8]], [[1], [3]], "external"),
    ("aten::dot", [[8], [8]], [[3], [1]], "external"), ("aten::dot", [[8], [8]], [[1]], "external"),
    ("aten::mv", [[4, 6], [6]], [[6, 1], [1]], "matvec"), ("aten::mv", [[4, 6], [6]], [[6, 1], [2]], "external"),
])
def test_gaps_in_either_operand_have_no_bytes(tmp_path, name, dims, strides, op):
    path = tmp_path / "t.json"
    path.write_text(trace([operation(dims, strides, name), kernel()]))
    assert [row["op"] for row in read(tmp_path, "torch-profiler", path).values()] == [op]


@pytest.mark.parametrize(("strides", "op"), [([[6, 1]], "relu"), ([[12, 1]], "external"), ([[1, 4]], "external"), ([], "external")])
def test_a_view_with_gaps_has_no_bytes(tmp_path, strides, op):
    path = tmp_path / "t.json"
    path.write_text(trace([operation([[4, 6]], strides, "aten::relu"), kernel()]))
    assert [row["op"] for row in read(tmp_path, "torch-profiler", path).values()] == [op]


@pytest.mark.parametrize(("name", "stated"), [
    ("sm80_xmma_gemm_tf32f32_tf32f32_f32_nn_n_tilesize128x128x16", "tf32"), ("cutlass_80_tensorop_s1688gemm_128x128_16x5_nn_align4", "tf32"),
    ("nvjet_sm90_sss_tf32_128x256_64x4_2x1_v_bz_NNT", "tf32"), ("ampere_sgemm_128x64_nn", "fp32"), ("sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_simt", "fp32")])
def test_a_product_of_floats_has_the_format_of_its_kernel(tmp_path, name, stated):
    one = operation([[8, 4], [4, 6]], [[4, 1], [6, 1]])
    one["args"]["Input type"] = ["float", "float"]
    path = tmp_path / "t.json"
    path.write_text(trace([one, kernel(name)]))
    assert [row["format"] for row in read_rows(tmp_path, path)] == [stated]


def test_a_product_of_floats_by_a_kernel_that_hides_its_format_needs_an_option(tmp_path, capsys):
    one = operation([[8, 4], [4, 6]], [[4, 1], [6, 1]])
    one["args"]["Input type"] = ["float", "float"]
    path = tmp_path / "t.json"
    path.write_text(trace([one, kernel("nvjet_sss_128x256_64x4_2x1_v_bz_NNT")]))
    assert main(["import", "torch-profiler", str(path), "-o", str(tmp_path / "none")]) == 2
    assert "the format of 'nvjet_sss_128x256_64x4_2x1_v_bz_NNT aten::mm' is unknown; --format or the file of --map" in capsys.readouterr().err
    (row,) = read(tmp_path, "torch-profiler", path, "--format", "tf32").values()
    assert (row["op"], row["format"]) == ("matmul", "tf32")


def test_a_kernel_of_several_operations_is_one_point(tmp_path):
    path = tmp_path / "t.json"
    path.write_text(trace([operation([[4, 6]], [[6, 1]], f"aten::{name}", owner) for owner, name in enumerate(("add", "mul"))] +
                          [kernel("elementwise", owner) for owner in (0, 1, 1)]))
    assert [len(row["samples_s"]) for row in read(tmp_path, "torch-profiler", path).values()] == [3]


@pytest.mark.parametrize(("name", "dims", "strides", "read"), [
    ("aten::bmm", [[8, 4, 6], [8, 6, 2]], [[24, 6, 1], [0, 2, 1]], 8 * 4 * 6 + 6 * 2),  # one B for all products
    ("aten::bmm", [[8, 4, 6], [8, 6, 2]], [], 8 * (4 * 6 + 6 * 2)),
    ("aten::addmm", [[4, 2], [4, 6], [6, 2]], [[0, 1], [6, 1], [2, 1]], 2 + 4 * 6 + 6 * 2),  # a row that is added to all rows
])
def test_an_expanded_tensor_is_read_once(tmp_path, name, dims, strides, read):
    path = tmp_path / "t.json"
    path.write_text(trace([operation(dims, strides, name), kernel()]))
    written = (8 if name == "aten::bmm" else 1) * 4 * 2
    assert [row["bytes"] for row in read_rows(tmp_path, path)] == [2 * (read + written)]


def test_long_names_of_kernels_stay_apart(tmp_path):
    path = tmp_path / "t.json"
    path.write_text(trace([kernel("k" * 3000 + end) for end in "ab"]))
    found = read(tmp_path, "torch-profiler", path, "--format", "bf16")
    assert len(found) == 2 and all(len(key) < 400 for key in found)


def test_launches_that_differ_are_points_of_their_own(tmp_path, capsys):
    path = tmp_path / "t.json"
    path.write_text(trace([kernel(), kernel(owner=[]), kernel(grid=[2, 1, 1]), kernel(device=1), kernel() | {"dur": -1}]))
    found = read(tmp_path, "torch-profiler", path)
    assert [len(row["samples_s"]) for row in found.values()] == [2, 1, 1]
    errors = capsys.readouterr().err
    assert "traceEvents[4]: dur is -1e-06 s" in errors and "profile(record_shapes=True) records them" in errors


@pytest.mark.parametrize(("data", "part"), [
    (b"{}", "traceEvents is not a list"), (b'{"traceEvents": []}', "no kernel of a GPU in it"), (b"\x1f\x8bnothing", "not a whole gzip"),
    (gzip.compress(b"{}" * 999)[:-9], "not a whole gzip"), (gzip.compress(b"\xff"), "not UTF-8"),
    (trace([{"cat": "kernel", "dur": 1}]).encode(), "an entry without name"),
    (trace([kernel(device=-1)]).encode(), "device is '-1'"),
])
def test_a_trace_that_is_not_one(tmp_path, capsys, data, part):
    path = tmp_path / "t"
    path.write_bytes(data)
    assert main(["import", "torch-profiler", str(path), "-o", str(tmp_path / "out")]) == 2
    assert part in capsys.readouterr().err


def test_a_packed_trace_is_bounded(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(torch_profiler, "LARGEST_FILE", 1000)
    path = tmp_path / "t"
    path.write_bytes(gzip.compress(b" " * 1001))
    assert main(["import", "torch-profiler", str(path), "-o", str(tmp_path / "out")]) == 2
    assert "more than 1000 bytes unpacked" in capsys.readouterr().err


def test_collectives_send_the_bytes_of_the_bus_bandwidth(tmp_path, capsys):
    found = read(tmp_path, "nccl-tests", FILES / "nccl_all_reduce.txt")
    last = found["all_reduce/nccl_sum_in_place/fp32/ranks:8/message_bytes:1073741824/steady@cuda:0"]
    assert (last["bytes"], last["time_median_s"], last["flops"]) == (2**30 * 2 * 7 / 8, 5198e-6, 0)
    assert last["bytes_per_s"] == pytest.approx(361.50e9, rel=1e-4)  # as printed
    assert len(found) == 9 and last["flags"] == ["mean_time"]
    assert "131072 bytes in_place: 3 in the column of wrong values" in capsys.readouterr().err


RANKS = "".join(f"#  Rank  {n} Group  0 Pid 1 on node device  {n} [0000:0{n}:00] GPU {n}\n" for n in range(4))
TITLE = "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"


@pytest.mark.parametrize(("collective", "share"), [
    ("all_reduce", 1.5), ("all_gather", 0.75), ("reduce_scatter", 0.75), ("alltoall", 0.75), ("gather", 0.75), ("scatter", 0.75),
    ("broadcast", 1), ("reduce", 1), ("sendrecv", 1)])
def test_each_collective_has_its_factor(tmp_path, collective, share):
    path = tmp_path / "t"
    path.write_text(f"./{collective}_perf -g 4\n{RANKS}{TITLE}1000000 250000 float none -1 10 100 {100 * share} 0 20 50 {50 * share} N/A\n")
    found = read(tmp_path, "nccl-tests", path)
    assert [row["bytes"] for row in found.values()] == [1e6 * share] * 2


def test_an_old_table_without_redop_and_root(tmp_path, capsys):
    path = tmp_path / "t"
    ranks = RANKS.replace("Group  0 ", "")
    path.write_text(f"all_gather_perf\n{ranks}# size count type time algbw busbw error time algbw busbw error\n"
                    "1000 250 half 10 0.1 0.08 0e+00 10 0.1 0.07 0e+00\n1000 250 f8e4m3 10 0.1 0.08 0 10 0.1 0.07 0\n")
    assert list(read(tmp_path, "nccl-tests", path)) == [f"all_gather/nccl_{place}/{kind}/ranks:4/message_bytes:1000/steady@cuda:0"
                                                        for kind in ("fp16", "fp8_e4m3") for place in ("out_of_place", "in_place")]
    assert "the ranks are GPU 0 and GPU 1 and GPU 2 and GPU 3" in capsys.readouterr().err


@pytest.mark.parametrize(("text", "part"), [
    ("", "0 tables with size and busbw"), (TITLE, "does not name the collective; allowed: one of all_reduce_perf"),
    (f"all_reduce_perf all_gather_perf\n{RANKS}{TITLE}", "names all_gather and all_reduce"),
    (f"my_all_reduce_perf\n{RANKS}{TITLE}", "does not name the collective"),
    (f"reduce_perf\n{RANKS.replace('2 Group  0', '2 Group  1')}{TITLE}", "the ranks are in 2 groups"),
    (f"all_reduce_perf\n{TITLE}", "lists 0 ranks; allowed: two or more"), (f"all_reduce_perf\n{RANKS}{TITLE}", "no point in it"),
    (f"all_reduce_perf\n{RANKS}# size busbw\n", "columns 'size busbw'; allowed"),
    (f"all_reduce_perf\n{RANKS}{TITLE}1 2\n", "2 cells; allowed: 13"),
    (f"all_reduce_perf\n{RANKS}{TITLE}1000000 1 float sum -1 10 100 75 0 10 100 75 0\n", "busbw is 75 GB/s, but size, ranks and time give 150"),
    (f"all_reduce_perf\n{RANKS}{TITLE}0 0 float sum -1 10 0 0 0 10 0 0 0\n", "size is '0'"),
])
def test_a_table_of_nccl_that_is_not_one(tmp_path, capsys, text, part):
    path = tmp_path / "t"
    path.write_text(text)
    assert main(["import", "nccl-tests", str(path), "-o", str(tmp_path / "out")]) == 2
    assert part in capsys.readouterr().err


def test_copies_of_nvbandwidth(tmp_path, capsys):
    found = read(tmp_path, "nvbandwidth", FILES / "nvbandwidth.json", "--buffer-size", "256")
    rates = {key: row["bytes_per_s"] for key, row in found.items()}
    assert rates == pytest.approx({
        f"copy_to_device/ce/fp32/bytes:{256 * MIB}/steady@cuda:0": 55.32e9, f"copy_to_device/ce/fp32/bytes:{256 * MIB}/steady@cuda:1": 55.31e9,
        f"copy_to_host/ce/fp32/bytes:{256 * MIB}/steady@cuda:0": 55.01e9, f"copy_to_host/ce/fp32/bytes:{256 * MIB}/steady@cuda:1": 55.02e9,
        f"host_to_device_bidirectional/ce/fp32/bytes:{256 * MIB}/steady@cuda:0": 39.2e9,
        f"host_to_device_bidirectional/ce/fp32/bytes:{256 * MIB}/steady@cuda:1": 39.1e9,
        f"copy_to_peer/read_ce/fp32/bytes:{256 * MIB}/peer:1/steady@cuda:0": 396.5e9,
        f"copy_to_peer/read_ce/fp32/bytes:{256 * MIB}/peer:0/steady@cuda:1": 396.4e9})
    assert all(row["bytes"] == 256 * MIB for row in found.values())
    errors = capsys.readouterr().err
    assert "host_device_latency_sm: its matrix is not in GB/s" in errors and "'Waived'" in errors
    assert [one["model"] for one in read_environment(tmp_path / "out")["devices"]] == ["NVIDIA H100 80GB HBM3"] * 2


def case(matrix, **more) -> str:
    one = {"name": "host_to_device_memcpy_ce", "status": "Passed", "bandwidth_description": "CPU(row) -> GPU(column) (GB/s)",
           "bandwidth_matrix": matrix}
    return json.dumps({"nvbandwidth": {"bufferSize": 1, "testcases": [one | more]}})


def test_copies_within_a_gpu_belong_to_the_column(tmp_path):
    path = tmp_path / "t"
    path.write_text(case([["1000", "2000"]], name="device_local_copy", bandwidth_description="memcpy local GPU(column) bandwidth (GB/s)"))
    assert {key: row["bytes_per_s"] for key, row in read(tmp_path, "nvbandwidth", path).items()} == pytest.approx({
        f"device_local_copy/nvbandwidth/fp32/bytes:{MIB}/steady@cuda:0": 1e12, f"device_local_copy/nvbandwidth/fp32/bytes:{MIB}/steady@cuda:1": 2e12})


@pytest.mark.parametrize(("text", "part"), [
    ("{}", "no object 'nvbandwidth'"), ('{"nvbandwidth": {"testcases": []}}', "no bufferSize; --buffer-size MIB states it"),
    ('{"nvbandwidth": {"testcases": [], "bufferSize": -1}}', "the buffer has '-1' MiB; allowed: a whole number from 1 to 1048576"),
    ('{"nvbandwidth": {"testcases": [], "bufferSize": 9999999}}', "the buffer has '9999999' MiB"),
    (case([]), "bandwidth_matrix has no rows"), (case([["fast"]]), "bandwidth_matrix[0][0] is 'fast'; allowed: a number"),
    (case([["0"]]), "bandwidth_matrix[0][0] is 0; allowed: more than 0"), (case([[]]), "bandwidth_matrix has no rows"),
    (case([["1"]], status="Error"), "'Error'"), (case([["1"]], name=None), "an entry without name"), (case([["N/A"]]), "no point in it")])
def test_a_file_of_nvbandwidth_that_is_not_one(tmp_path, capsys, text, part):
    path = tmp_path / "t"
    path.write_text(text)
    assert main(["import", "nvbandwidth", str(path), "-o", str(tmp_path / "out")]) == 2
    assert part in capsys.readouterr().err


def test_the_option_of_another_tool_is_refused(tmp_path, capsys):
    assert main(["import", "ncu", str(FILES / "ncu.csv"), "--buffer-size", "1", "-o", str(tmp_path / "out")]) == 2
    assert "--buffer-size is an option of nvbandwidth" in capsys.readouterr().err
