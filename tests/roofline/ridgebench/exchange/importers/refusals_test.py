"""What `ridgebench import` refuses: one line on stderr that names file and cause, exit code 2, and no folder."""

import json
from pathlib import Path

import pytest
from golden import ROOT

from ridgebench.__main__ import main

FILES = ROOT / "tests" / "data" / "imports"
ROW = '{"name": "a", "real_time": 1, "cpu_time": 1, "time_unit": "ns"}'


def refused(tmp_path: Path, capsys, *words) -> str:
    out = tmp_path / "out"
    assert main(["import", *map(str, words), "-o", str(out)]) == 2
    error = capsys.readouterr().err
    assert error.startswith("import: ") and error.count("\n") == 1 and len(error) < 1000, error
    assert all(character.isprintable() for character in error[:-1])
    assert not out.exists()
    return error


@pytest.mark.parametrize(
    ("tool", "text", "part"),
    [
        ("gbench", "", "not JSON"),
        ("llama-bench", "[]", "no point in it"), ("llama-bench", "{}", "no test of a model"), ("llama-bench", "", "no point in it"),
        ("llama-bench", '[{"model_type": "a F16", "n_gen": -1}]', "n_gen is '-1'; allowed: a whole number"),
        ("llama-bench", '[{"model_type": "a F16", "n_gen": 1, "avg_ts": 0}]', "avg_ts is 0; allowed"),
        ("llama-bench", '[{"model_type": "a F16", "n_gen": 1, "backends": "Vulkan"}]', "backends is 'Vulkan'; ridgebench has CPU"),
        ("llama-bench", '[{"model_type": "a F16", "n_gen": 1, "avg_ts": 1, "backends": "CUDA", "n_gpu_layers": 0}]', "n_gpu_layers is 0"),
        ("llama-bench", '[{"model_type": "a F16", "avg_ts": 1}]', "n_prompt and n_gen are 0"),
        ("gbench", "[]", "no object of at most"), ("gbench", "{}", "no list 'benchmarks'"),
        ("gbench", '{"benchmarks": [1]}', "benchmarks[0]: no object"),
        ("gbench", '{"benchmarks": []}', "no point in it"),
        ("gbench", '{"benchmarks": [{"name": "a", "real_time": 1}]}', "is unknown; --format"),
        ("gbench", '{"benchmarks": [%s]}' % ROW.replace('"ns"', '"fortnight"'), "unknown unit 'fortnight' of time_unit"),
        ("gbench", '{"benchmarks": [%s]}' % ROW.replace('"real_time": 1', '"real_time": -1'), "real_time is -1e-09 s"),
        ("gbench", '{"benchmarks": [%s]}' % ROW.replace('"real_time": 1', '"real_time": true'), "allowed: a number"),
        ("gbench", '{"benchmarks": [%s]}' % ROW.replace('"real_time": 1', '"real_time": NaN'), "real_time is 'None'; allowed: a number"),
        ("gbench", "[" * 5000, "levels deep"),
        ("nvbench", "{}", "not a list of objects"),
        ("nvbench", "a,b\n1,2\n", "column 'Benchmark' is missing"),
        ("nvbench", '{"benchmarks": [{"name": "a", "states": [{"axis_values": []}]}]}', "state 0 (a): no GPU time"),
        ("nvbench", '{"benchmarks": [{"name": "a", "states": 7}]}', "not a list of objects"),
        ("ncu", '"ID","Kernel Name"\n"",""\n"0","k"\n', "'gpu__time_duration.sum' is missing"),
        ("ncu", '"Kernel Name","gpu__time_duration.sum"\n"","parsec"\n"k","1"\n', "unknown unit 'parsec'"),
        ("ncu", '"Kernel Name","gpu__time_duration.sum"\n"","ns"\n"k","n/a"\n', "is missing"),
        ("ncu", '"Kernel Name","gpu__time_duration.sum"\n"","ns"\n"k","1","2"\n', "3 cells; allowed: 2"),
        ("cutlass", "Problem,Provider\n1,CUTLASS\n", "column 'OperationKind' is missing"),
        ("triton", "n,A (furlong/s)\n1,2\n", "unknown unit 'furlong/s' of A"),
        ("triton", "n,A (GB/s)\n1,2\n", "the format of 'A n=1' is unknown"),
        ("triton", "n,A (GB/s)\n1,0\n", "A is 0 GB/s"),
        ("triton", "n,A (ms)\n1,1e40\n", "A is 1e+37 s"),
        ("triton", "n" * 1001 + ",A (ms)\n1,2\n", "a column has a name of 1001 characters; allowed: up to 1000"),
        ("csv", "name,time\na,1\n", "column 'time' has no unit"),
        ("csv", "name,time_us,time_ms\na,1,1\n", "two columns hold time"),
        ("csv", "name,time_us,name\na,1,b\n", "column 'name' comes twice"),
        ("csv", "name,time_us,colour\na,1,red\n", "unknown column 'colour'"),
        ("csv", "name,time_us\na,one\n", "'one'; allowed: a number"),
        ("csv", "name,time_us\na,1,2\n", "3 cells; allowed: 2"),
        ("csv", "name,time_us,format\na,1,fp128\n", "no point remains; 1 row left out, the last: a: format fp128; ridgebench has"),
        ("csv", "name,time_us,format\na,1,fp32\na,2,fp32\n", "2 rows left out, the last: "),
        ("csv", "name,time_us,format\na,1,fp32\na,2,fp32\n", "external/a/fp32/steady@cpu comes 2 times"),
        ("csv", "name,time_us,operation,m,M\na,1,dot,2,3\n", "is unknown; --format"),
        ("csv", "name,time_us,operation,format,m,M\na,1,dot,fp32,2,3\n", "m, M name a dimension twice"),
        ("csv", "name,time_us,format,flops\na,1,fp32,1e99\n", "flops is 1e+99"),
        ("csv", "name,time_us,format,flops,bytes\na,1,fp32,1,1e-300\n", "bytes is 1e-300; allowed: 0, or 1e-09 to 1e+21"),
        ("csv", "name,time_us,format,shape\na,1,fp32,n:0\n", "shape 'n:0'"),
        ("csv", "name,time_us,format,operation,m,n\na,1,fp32,foo,8.5,8\n", "m is '8.5'"),
        ("csv", "name,time_us,format,shape,m\na,1,fp32,n:8,9\n", "both 'shape' and m have sizes"),
        ("csv", 'name,time_us\n"a\x00,1\n', "no line of a table"),
        ("csv", "name,time_us,format\n" + "a" * 1500 + ",1,fp32\n", "1500 characters"),
    ],
)
def test_a_file_that_is_not_what_it_should_be(tmp_path, capsys, tool, text, part):
    path = tmp_path / "file"
    path.write_text(text)
    assert part in refused(tmp_path, capsys, tool, path)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "nothing in it"),
        ("[point", "no TOML"),
        ("[[points]]\nname = 'a'", "points in it; allowed: tables [[point]]"),
        ("[[point]]\nformat = 'fp32'", "name is missing"),
        ("[[point]]\nname = '('", "not a regular expression"),
        ("[[point]]\nname = 'a'\nflop = 1", "unknown key 'flop'; allowed: name, "),
        ("[[point]]\nname = 'a'\nflops = 'n'", "is not a number, an operator"),
        ("[[point]]\nname = 'a'\nflops = '().__class__'", "is not a number, an operator"),
        ("[[point]]\nname = 'a'\nflops = '9**9**9'", "flops: the exponent 9; allowed: up to 8"),
        ("[[point]]\nname = 'a'\nflops = '1/0'", "flops: "),
        ("[[point]]\nname = 'a'\nflops = true", "allowed: a number or arithmetic"),
        ("[[point]]\nname = 'a'\nbytes = -1", "bytes is -1"),
        ("[[point]]\nname = 'a'\nshape = 'n:{m}'", "{m} is not a named group of name; allowed: none"),
        ("[[point]]\nname = '(?P<n>a)'\nshape = 'n:{n}'", "shape 'n:a'"),
        ("[[point]]\nname = '(?P<n>a)'\ntechnique = 't{tech}'", "technique: {tech} is not a named group of name; allowed: {n}"),
        ("[[point]]\nname = 'a'\noperation = 'o{'", "operation: 'o{' has a brace without its pair"),
        ("[[point]]\nname = 'a'\nregime = 'hot'", "regime is 'hot'; allowed: steady, cold, warm"),
        ("[[point]]\nname = 'a'\nformat = 7", "format is '7'; allowed: a text"),
        ("[[point]]\nname = 'a'\nformat = 'fp128'", "unknown format 'fp128'; allowed: fp32, "),
        ("point = 7", "allowed: tables [[point]]"),
        ("point = [7]", "no table; allowed: [[point]]"),
    ],
)
def test_a_map_that_is_none(tmp_path, capsys, text, part):
    table, points = tmp_path / "t.csv", tmp_path / "points.toml"
    table.write_text("name,time_us,format\na,1,fp32\n")
    points.write_text(text)
    assert part in refused(tmp_path, capsys, "csv", table, "--map", points)


def test_options_and_paths(tmp_path, capsys):
    plain = FILES / "plain.csv"
    assert "not found" in refused(tmp_path, capsys, "csv", tmp_path / "absent")
    assert "not a regular file" in refused(tmp_path, capsys, "csv", tmp_path)
    assert "invalid choice" in refused(tmp_path, capsys, "perf", plain)
    assert "no data sheet 'h1000'; nearest: h100" in refused(tmp_path, capsys, "csv", plain, "--roof", "h1000")
    for words, part in (
        (("name=kernel",), "column 'kernel' is missing; there are name, "),
        (("name",), "--columns 'name'; allowed: NAME=COLUMN"),
        (("name=name", "technique=name"), "--columns has a name or a column twice"),
        (("name=name",), "no column with a time"),
        (("time=time_us",), "column 'name' is missing"),
        (("name=name", "speed=time_us"), "unknown column 'speed'"),
    ):
        assert part in refused(tmp_path, capsys, "csv", plain, "--columns", *words), words
    assert "--columns is an option of csv" in refused(tmp_path, capsys, "ncu", plain, "--columns", "name=a")
    assert "--unit is an option of triton" in refused(tmp_path, capsys, "csv", plain, "--unit", "ms")
    assert "unknown --format 'int32'; allowed: fp32, " in refused(tmp_path, capsys, "csv", plain, "--format", "int32")
    assert "no column names a unit" in refused(tmp_path, capsys, "triton", FILES / "triton_old.csv")


@pytest.mark.parametrize(("header", "words", "part"), [
    ("kernel,ms,GFLOPs", "flops=GFLOPs", "column 'GFLOPs' may hold work or a rate; --columns 'flops_GFLOP=GFLOPs' says that it holds work"),
    ("kernel,ms,rate (TFLOPS)", "flops=rate (TFLOPS)", "may hold work or a rate; --columns 'flops_TFLOP=rate (TFLOPS)' says"),
    ("kernel,ms,TFLOP/s", "flops=TFLOP/s", "column 'TFLOP/s' is in TFLOP/s; allowed for flops: flop, flops, "),
    ("kernel,ms,TFLOP/s", "flops_TFLOP=TFLOP/s", "column 'TFLOP/s' is in TFLOP/s; allowed for flops: "),
    ("kernel,ms,bandwidth GB/s", "bytes=bandwidth GB/s", "is in GB/s; allowed for bytes: byte, bytes, "),
    ("kernel,ms,bytes_per_s", "bytes=bytes_per_s", "is in s; allowed for bytes: byte, bytes, "),
    ("kernel,ms,latency (ms)", "time_us=latency (ms)", "column 'latency (ms)' is in ms, and --columns says us; allowed: one unit"),
    ("kernel,ms,latency", "time=latency", "column 'time' has no unit; allowed: time_s, "),
])
def test_units_of_columns_that_contradict(tmp_path, capsys, header, words, part):
    (tmp_path / "t.csv").write_text(f"{header}\ngemm_fp16,12.5,100\n")
    times = () if words.startswith("time") else ("time=ms",)
    assert part in refused(tmp_path, capsys, "csv", tmp_path / "t.csv", "--columns", "name=kernel", *times, words)


def test_hostile_names_are_shown_without_their_control_characters(tmp_path, capsys):
    path = tmp_path / "x.json"
    rows = [{"name": "a\x1b[31m\nb", "real_time": 1, "time_unit": "ns"}]
    path.write_text(json.dumps({"benchmarks": rows}))
    refused(tmp_path, capsys, "gbench", path)
    assert main(["import", "gbench", str(path), "--format", "fp32", "-o", str(tmp_path / "out")]) == 0
    (line,) = (tmp_path / "out" / "records.jsonl").read_text().splitlines()
    assert json.loads(line)["id"] == "external/a_31m_b/fp32/steady@cpu"
