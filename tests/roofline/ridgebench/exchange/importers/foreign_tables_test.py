"""Forms in which real files of nvbench, Nsight Compute and CUTLASS come: all axes, the long table, other formats."""

import json

import pytest
from golden import imported

from ridgebench.__main__ import main

COLUMNS = "Benchmark,Device,Device Name,T,Skipped,Samples,GPU Time (sec),Noise,Batch GPU (sec),Mask_width,Entropy{io}"


def test_axes_of_later_benchmarks_stand_behind_skipped(tmp_path, capsys):
    lines = ["copy,0,GPU,F32,No,9,1e-3,0.1,,,", *(f"conv,0,GPU,F32,No,9,1e-3,0.1,,{width},0.5" for width in (3, 5)),
             "conv,0,GPU,F32,No,9,1e-3,0.1,,3,1.000", "conv,0,GPU,F64,No,9,1e-3,0.1,,3,", "conv,0,GPU,I32,No,9,1e-3,0.1,,3,",
             "conv,0,GPU,I8,No,9,1e-3,0.1,,3,"]
    found = imported(tmp_path, "nvbench", "\n".join([COLUMNS, *lines]))
    assert list(found) == [
        "external/copy/fp32/cold@cuda:0",
        "external/conv_Entropy_io_=0.5/fp32/Mask_width:3/cold@cuda:0",
        "external/conv_Entropy_io_=0.5/fp32/Mask_width:5/cold@cuda:0",
        "external/conv_Entropy_io_=1.000/fp32/Mask_width:3/cold@cuda:0",
        "external/conv/fp64/Mask_width:3/cold@cuda:0", "external/conv/int8/Mask_width:3/cold@cuda:0",
    ]
    assert "conv T=I32 Mask_width=3: format int32; ridgebench has " in capsys.readouterr().err
    assert found["external/conv/int8/Mask_width:3/cold@cuda:0"]["accumulator"] == "int32"


def test_a_row_of_a_second_device_under_one_number_is_left_out(tmp_path, capsys):
    lines = ["copy,0,H100,F32,No,9,1e-3,0.1,,,", "copy,0,A100,F64,No,9,2e-3,0.1,,,", "copy,1,A100,F32,No,9,3e-3,0.1,,,"]
    found = imported(tmp_path, "nvbench", "\n".join([COLUMNS, *lines]))
    assert list(found) == ["external/copy/fp32/cold@cuda:0", "external/copy/fp32/cold@cuda:1"]
    assert "device 0 is 'A100', and 'H100' before; allowed: one model for a device in a file" in capsys.readouterr().err
    devices = [{"id": 0, "name": name} for name in ("H100", "A100")]
    (tmp_path / "json").write_text(json.dumps({"devices": devices, "benchmarks": []}))
    assert main(["import", "nvbench", str(tmp_path / "json"), "-o", str(tmp_path / "other")]) == 2
    assert "device 0 is 'A100', and 'H100' before" in capsys.readouterr().err


def state(**axes: str) -> dict:
    summary = {"tag": "nv/cold/time/gpu/mean", "data": [{"name": "value", "value": "0.001"}]}
    return {"axis_values": [{"name": key, "value": value} for key, value in axes.items()], "summaries": [summary]}


def test_axes_of_any_type_are_in_the_id(tmp_path, capsys):
    states = [state(Duration="0.1"), state(Duration="0.2"), state(In="F32", Out="F64"), state(In="I8", Out="F32"),
              state(In="I16", Out="I64"), state(Offset="I64", **{"T{ct}": "F16"}), {"axis_values": None, "summaries": []}]
    text = json.dumps({"devices": None, "benchmarks": [{"name": "b", "states": states}]})
    assert list(imported(tmp_path, "nvbench", text, "--format", "fp32")) == [
        "external/b_Duration=0.1/fp32/cold@cuda:0", "external/b_Duration=0.2/fp32/cold@cuda:0",
        "external/b_In=F32_Out=F64/fp32/cold@cuda:0", "external/b_In=I8_Out=F32/fp32/cold@cuda:0",
        "external/b_Offset=I64/fp16/cold@cuda:0",
    ]
    error = capsys.readouterr().err
    assert "b In=I16 Out=I64: format int16 and int64; ridgebench has" in error and "state 6 (b): no GPU time" in error


LONG = '"ID","Process ID","Kernel Name","Block Size","Grid Size","Section Name","Metric Name","Metric Unit","Metric Value"'


@pytest.mark.parametrize("duration", ["gpu__time_duration.sum", "Duration"])
def test_the_long_table_of_ncu(tmp_path, duration):
    lines = [LONG]
    for launch, (time_us, grid) in enumerate(((10, "(1,1,1)"), (12, "(1,1,1)"), (30, "(2,1,1)"))):
        head = f'"{launch}","7","k<float>(int, int)","(32,1,1)","{grid}","Command line profiler metrics"'
        lines += [f'{head},"{duration}","us","{time_us}"', f'{head},"dram__bytes.sum","Kbyte","1,000.5"', f'{head},"","",""']
    found = imported(tmp_path, "ncu", "==PROF== Connected\n" + "\n".join(lines), "--format", "fp32")
    first, second = found.values()
    assert first["samples_s"] == [10e-6, 12e-6] and second["samples_s"] == [30e-6]
    assert first["bytes"] == 1000500 and "Grid_Size=_1,1,1_" in first["technique"]


FP32 = "smsp__sass_thread_inst_executed_op_f{}_pred_on.sum"
TENSOR, DOUBLE = "sm__inst_executed_pipe_tensor.sum", "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum"


@pytest.mark.parametrize(("kernel", "more", "flops", "lacks"), [
    ("gemm_bf16_tensorop", {}, 0, f"lacks {TENSOR} and smsp__sass_thread_inst_executed_op_hfma_pred_on.sum;"),
    ("gemm", {}, 0, f"lacks {TENSOR};"), ("gemm", {TENSOR: "n/a"}, 0, f"lacks {TENSOR};"),
    ("gemm", {TENSOR: "0"}, 16777216, ""), ("gemm", {TENSOR: "7"}, 0, ""),
    ("gemm", {"sm__ops_path_tensor_src_tf32_dst_fp32.sum": "0"}, 16777216, ""), ("gemm", {"sm__ops_path_tensor_src_int8.sum": "0"}, 0, f"lacks {TENSOR};"),
    ("gemm", {"sm__pipe_tensor_op_hmma_cycles_active.sum": "0"}, 16777216, ""), ("gemm", {"sm__pipe_tensor_op_hmma_cycles_active.sum": "5"}, 0, ""),
    ("gemm", {"sm__inst_executed_pipe_tensor_op_imma.sum": "0"}, 0, f"lacks {TENSOR};"),
    ("sum<double>", {TENSOR: "0"}, 0, f"lacks {DOUBLE};"), ("sum<double>", {TENSOR: "0", DOUBLE: "0"}, 16777216, ""),
])
def test_instructions_of_fp32_are_all_flops_only_if_others_were_counted(tmp_path, capsys, kernel, more, flops, lacks):
    cells = {"Kernel Name": kernel, "gpu__time_duration.sum": "10", FP32.format("add"): "0", FP32.format("mul"): "16777216",
             FP32.format("fma"): "0", **more}
    units = ["", "us", *["inst"] * (len(cells) - 2)]
    text = "".join(",".join(f'"{cell}"' for cell in line) + "\n" for line in (cells, units, cells.values(), cells.values()))
    (row,) = imported(tmp_path, "ncu", text, "--format", "bf16").values()
    error = capsys.readouterr().err
    assert row["flops"] == flops and (lacks in error if lacks else not error) and error.count("\n") == bool(lacks)


def test_bytes_that_only_one_launch_counts_are_not_counted(tmp_path):
    text = ('"Kernel Name","gpu__time_duration.sum","dram__bytes.sum"\n"","us","byte"\n' '"k","10","1000"\n"k","12",""\n')
    (row,) = imported(tmp_path, "ncu", text, "--format", "fp32").values()
    assert row["samples_s"] == [10e-6, 12e-6] and "counted_bytes" not in row["flags"]


@pytest.mark.parametrize("table", [
    '"Kernel Name","gpu__time_duration.sum"\n"","us"\n"k","10"\n"k","1\n"k"\n"k","12"\n',
    f'{LONG}\n' + "".join(f'"{n}","7","k","b","g","s","gpu__time_duration.sum",{end}\n'
                          for n, end in enumerate(('"us","10"', '"us","1', '"us"', '"us","12"')))])  # fmt: skip
def test_a_torn_line_of_ncu_does_not_end_the_file(tmp_path, capsys, table):
    (row,) = imported(tmp_path, "ncu", table, "--format", "fp32").values()
    assert row["samples_s"] == [10e-6, 12e-6] and capsys.readouterr().out.endswith("; 2 rows left out\n")


def test_a_table_of_ncu_without_the_time_names_the_metric(tmp_path, capsys):
    (tmp_path / "file").write_text(f'{LONG}\n"0","7","k","b","g","s","dram__bytes.sum","byte","1"\n')
    assert main(["import", "ncu", str(tmp_path / "file"), "-o", str(tmp_path / "out"), "--format", "fp32"]) == 2
    assert "launch 1: gpu__time_duration.sum is missing; allowed: ncu --metrics " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "operation", "kind"),
    [
        ({"A": "s8:row", "B": "s8:column", "D": "s32:column"}, "gemm", "int8"),
        ({"A": "f16:row", "B": "f16:column", "D": "f32:column"}, "gemm", "fp16"),
        ({"A": "f16:row", "B": "f16:column", "D": "f16:column", "beta": "0.5"}, "gemm", "fp16"),
        ({"batch_count": "2"}, "gemm", "fp16"), ({"A": "f16:column"}, "gemm", "fp16"), ({"A": "f16", "B": "f16"}, "gemm", "fp16"),
        ({"A": "f32:row", "B": "f32:column", "D": "f32:column", "Operation": "cutlass_tensorop_s1688tf32gemm_256x128_tn"}, "matmul", "tf32"),
        ({"A": "f64:row", "B": "f64:column", "D": "f64:column"}, "matmul", "fp64"),
    ],
)
def test_a_gemm_of_cutlass_that_is_no_matmul_keeps_its_name(tmp_path, monkeypatch, change, operation, kind):
    monkeypatch.setattr("ridgebench.data.program.predict", lambda *_: {"flops": 524288.0, "bytes": 24576.0, "shape": {}})
    cells = {"Provider": "CUTLASS", "OperationKind": "gemm", "Operation": "o", "Disposition": "passed", "Status": "success",
             "m": "64", "n": "64", "k": "64", "A": "f16:row", "B": "f16:column", "D": "f16:column", "beta": "0",
             "batch_count": "1", "Bytes": "24576", "Flops": "524288", "Runtime": "0.1"} | change
    (row,) = imported(tmp_path, "cutlass", f"{','.join(cells)}\n{','.join(cells.values())}\n").values()
    assert (row["op"], row["format"]) == (operation, kind)


def test_an_operation_in_capital_letters_has_the_work_of_its_own(tmp_path):
    found = imported(tmp_path, "csv", "name,operation,format,time_us,N\nmine,RELU,fp32,10,1000000\nother,Relu6,fp32,10,1000000\n")
    assert {row["op"]: (row["flops"], row["bytes"]) for row in found.values()} == {"relu": (1e6, 8e6), "Relu6": (0, 0)}
