"""A mistake on the command line gives exit code 2 and one line with the allowed values."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from command_line import BINARY, OK, ROOT, SMALL, environment, read_environment, records, refused, ridgebench, run

HELP = "--help` lists what is allowed"
COMMANDS = "allowed: doctor, info, list, run, duel, step, soak, predict, plan, number, show, explain, verify"
PLANS = "allowed: train, memory, tensor, activations, zero, fits, parallel, check, mfu, transfer, einsum"


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        ("", ("ridgebench: a command is missing", COMMANDS)),
        ("measure", ("ridgebench: unknown command or flag 'measure'", COMMANDS)),
        ("--verbose", ("'--verbose'", COMMANDS)),
        ("info extra", ("extra", "`ridgebench info " + HELP)),
        ("info --xml", ("--xml", "`ridgebench info " + HELP)),
        ("list --sorted", ("--sorted", "`ridgebench list " + HELP)),
        ("run extra", ("'extra'", "`ridgebench run " + HELP)),
        ("run --fast", ("'--fast'", "`ridgebench run " + HELP)),
        ("predict", ("operation is required", HELP)),
        ("predict relu n:4 --on h200", ("--format is required", HELP)),
        ("predict relu n:4 --format bf16", ("--on is required", HELP)),
        ("verify", ("directory is required", HELP)),
        ("plan", ("ridgebench: plan: a command is missing", PLANS)),
        ("plan holiday", ("'holiday'", PLANS)),
        ("plan train --gpu 8", ("--gpu", "`ridgebench plan train " + HELP)),
        ("plan tensor", ("--shape is required", "`ridgebench plan tensor " + HELP)),
    ],
)
def test_unknown_or_missing_words(arguments, parts):
    refused(ridgebench(*arguments.split()), *parts)


@pytest.mark.parametrize(
    ("flag", "value", "parts"),
    [
        ("--device", "tpu", ("'tpu'", "cuda:N, cpu, all")),
        ("--device", "cuda:", ("'cuda:'", "cuda:N")),
        ("--device", "cuda:-1", ("'cuda:-1'", "whole number")),
        ("--device", "cuda:0x1", ("'cuda:0x1'", "whole number")),
        ("--device", "cpu:1", ("'cpu:1'", "allowed: cpu")),
        ("--device", "sim:speed=1", ("'speed=1'", "bandwidth", "noise", "seed")),
        ("--device", "sim:noise", ("'noise'", "key=value")),
        ("--device", "sim:noise=-1", ("noise=-1", "at least 0")),
        ("--device", "sim:noise=much", ("noise=much", "number")),
        ("--profile", "huge", ("'huge'", "quick, standard, full, lecture")),
        ("--regime", "hot", ("'hot'", "steady, cold, warm")),
        ("--fill", "ones", ("'ones'", "normal, uniform, zeros, integers")),
        ("--roof", "h1000", ("'h1000'", "nearest: h100", "h200", "data sheet file")),
        ("--filter", "[", ("'['", "not a regular expression")),
        ("--filter", "(", ("'('", "not a regular expression")),
        ("--filter", "*", ("'*'", "not a regular expression")),
        ("--filter", "no such row", ("'no such row'", "ridgebench list")),
        ("--budget", "0", ("--budget", "'0'", "number of seconds")),
        ("--budget", "-1", ("--budget", "'-1'", "number of seconds")),
        ("--budget", "nan", ("--budget", "'nan'", "number of seconds")),
        ("--budget", "inf", ("--budget", "'inf'", "number of seconds")),
        ("--budget", "soon", ("--budget", "'soon'", "number of seconds")),
        ("--seed", "-1", ("--seed", "'-1'", "whole number")),
        ("--seed", "1.5", ("--seed", "1.5")),
        ("--seed", "1e30", ("--seed", "'1e30'", "whole number")),
        ("--seed", "99999999999999999999", ("--seed", "whole number")),
        ("--ceilings", "nowhere", ("nowhere", "cannot be read")),
    ],
)
def test_values_of_run(flag, value, parts, tmp_path):
    folder = tmp_path / "results"
    small = [] if flag == "--filter" else ["--filter", "relu/naive/fp32"]
    device = [] if flag == "--device" else ["--device", "sim"]
    refused(run(folder, *device, *small, f"{flag}={value}"), *parts)
    assert not folder.exists(), "nothing was measured, so nothing is left"


def test_a_roof_may_be_the_file_of_a_data_sheet(tmp_path):
    sheet = json.loads((ROOT / "roofline/devices/h200.json").read_text()) | {"name": "mine"}
    (tmp_path / "mine.json").write_text(json.dumps(sheet))
    folder = tmp_path / "results"
    assert run(folder, *SMALL, "--roof", "mine.json", cwd=tmp_path).returncode == 0
    assert read_environment(folder)["roof"] == str(tmp_path / "mine.json"), "figures find it from any folder"
    (tmp_path / "mine.json").write_text("{}")
    refused(run(tmp_path / "other", *SMALL, "--roof", "mine.json", cwd=tmp_path), "mine.json: key schema is missing")


def test_numbers_of_run_have_the_same_grammar(tmp_path):
    small = ["--device", "sim", "--filter", "relu/naive/fp32/"]
    assert run(tmp_path / "results", *small, "--seed", "1k", "--budget", "5e-1").returncode == 0
    stored = read_environment(tmp_path / "results")
    assert (stored["seed"], stored["budget_s"]) == (1000, 0.5)


@pytest.mark.parametrize("flag", ["--out=x", "--device=sim", "--seed=2", "--filter=relu", "--no-early"])
def test_resume_takes_all_else_from_the_run(flag, tmp_path):
    refused(ridgebench("run", "--resume", tmp_path, flag), "--resume", flag.split("=")[0])


def test_resume_refuses_another_filter_in_googles_words(tmp_path):
    result = ridgebench("run", "--resume", tmp_path, "--benchmark_filter=relu")
    refused(result, "--resume", "--benchmark_filter")


@pytest.mark.parametrize("command", ["run --resume", "verify"])
def test_a_folder_that_holds_no_run(command, tmp_path):
    refused(ridgebench(*command.split(), tmp_path), str(tmp_path), "cannot be read")


def test_out_into_a_run_keeps_it(tmp_path):
    folder = tmp_path / "results"
    assert run(folder, *SMALL).returncode == 0
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    refused(run(folder, *SMALL), "already holds a run", f"--resume {folder}")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_out_where_nothing_can_be_written(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    for folder in (tmp_path / "file" / "results", "/proc/ridgebench/results"):
        refused(run(folder, *SMALL), f"cannot write results to {folder}", "allowed: a folder")


@pytest.mark.parametrize(
    ("flag", "parts"),
    [
        ("min_time=2", ("min_time", "--budget SECONDS")),
        ("repetitions=3", ("repetitions", "--budget SECONDS")),
        ("format=xml", ("--benchmark_format", "'xml'", "console, json, csv")),
        ("out_format=xml", ("--benchmark_out_format", "'xml'", "console, json, csv")),
        ("color=blue", ("--benchmark_color", "'blue'", "auto, true, false")),
        ("list_tests=often", ("--benchmark_list_tests", "'often'", "true, false")),
        ("filter=[", ("'['", "not a regular expression")),
        ("filter=no_such_row", ("'no_such_row'", "ridgebench list")),
        ("filter=(?!relu)", ("not a regular expression",)),
        ("out=", ("--benchmark_out", "no file is named")),
        ("out=/nowhere/copy.json", ("/nowhere/copy.json", "allowed: a file in a folder")),
        ("time_unit=ms", ("time_unit", "allowed: filter, list_tests, format, out")),
    ],
)
def test_flags_of_google_benchmark(flag, parts, tmp_path):
    folder = tmp_path / "results"
    refused(run(folder, "--device", "sim", f"--benchmark_{flag}"), *parts)
    assert not folder.exists()


@pytest.mark.parametrize("flag", ["--benchmark_filter=relu", "--benchmark_list_tests"])
def test_flags_of_google_benchmark_without_a_command(flag):
    refused(ridgebench(flag), f"{flag} is a flag of `run`: ridgebench run {flag}")


SIZE = "a whole number between 1 and"


@pytest.mark.parametrize(
    ("operation", "shape", "form", "device", "parts"),
    [
        ("rule", "n:4", "bf16", "h200", ("'rule'", "relu", "gelu", "dot", "matvec", "matmul")),
        ("relu", "n:4", "int4", "h200", ("relu has no format int4; allowed: ", "fp32", "bf16", "fp8_e5m2")),
        ("relu", "n:4", "fp4", "h200", ("relu has no format fp4_e2m1; allowed: ", "fp8_e4m3")),
        ("relu", "n:4", "fp4_e2m1", "h200", ("relu has no format fp4_e2m1; allowed: ", "fp8_e5m2")),
        ("relu", "n:4", "tf32", "h200", ("relu has no format tf32", "fp32, fp16, bf16")),
        ("dot", "n:4", "fp8_e4m3xfp8_e5m2", "h200", ("dot has no format", "allowed")),
        ("matmul", "n:4", "bf16xfp8", "h200", ("no format", "fp8_e4m3xfp8_e5m2")),
        ("matmul", "n:4", "fp8", "a100-80-sxm", ("no peak for fp8_e4m3", "bf16")),
        ("relu", "n:4", "bf16", "h300", ("'h300'", "h100-sxm", "results directory")),
        ("relu", "n:4", "bf16", "", ("''", "h100-sxm", "results directory")),
        ("relu", "x4096", "bf16", "h200", ("'x4096'", "name:size")),
        ("relu", "", "bf16", "h200", ("''", "name:size")),
        ("relu", "n=4", "bf16", "h200", ("'n=4'", "name:size")),
        ("relu", "n:4/", "bf16", "h200", ("''", "name:size")),
        ("relu", "n:", "bf16", "h200", ("n:", SIZE)),
        ("relu", "n:0", "bf16", "h200", ("n:0", SIZE)),
        ("relu", "n:-8", "bf16", "h200", ("n:-8", SIZE)),
        ("relu", "n:1e-3", "bf16", "h200", ("n:1e-3", SIZE)),
        ("relu", "n:4m", "bf16", "h200", ("n:4m", SIZE)),
        ("relu", "n:40%", "bf16", "h200", ("n:40%", SIZE)),
        ("relu", "n:99999999999999999999", "bf16", "h200", (SIZE,)),
        ("relu", "n:4/n:5", "bf16", "h200", ("'n'", "twice")),
        ("relu", "n:4/layout:nt", "bf16", "h200", ("'layout'", "has n")),
        ("matmul", "m:4/n:4", "bf16", "h200", ("lacks dimension 'k'", "m, n, k")),
        ("matmul", "m:4/n:4/k:4/q:2", "bf16", "h200", ("'q'", "m, n, k, b, lda, ldb, ldc, layout")),
        ("matmul", "n:4/layout:tt", "bf16", "h200", ("'tt'", "nt, nn, tn")),
        ("matmul", "layout:nt", "bf16", "h200", ("lacks dimension 'm'",)),
        ("matmul", "n:1000000000000", "bf16", "h200", ("too large", "2^62")),
    ],
)
def test_predict(operation, shape, form, device, parts):
    refused(ridgebench("predict", operation, shape, "--format", form, "--on", device), *parts)


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        ("train", ("allowed: --parameters or --model with --tokens",)),
        ("train --params 7e9", ("--tokens",)),
        ("train --params -1 --tokens 1e9", ("--parameters is -1", "above 0")),
        ("train --params nan --tokens 1e9", ("--parameters or --params is 'nan'", "above 0", "70B")),
        ("train --params many --tokens 1e9", ("--parameters or --params is 'many'", "70B")),
        ("train --params 7e9 --tokens 40%", ("--tokens is '40%'", "15T")),
        ("train --flops 1e20 --on h200", ("--mfu",)),
        ("train --flops 1e20 --gpus 8", ("--on DEVICE",)),
        ("train --flops 1e20 --mfu 2 --on h200", ("--mfu is 2", "at most 1")),
        ("train --flops 1e20 --mfu 0 --on h200", ("--mfu is 0", "above 0")),
        ("train --flops 1e20 --mfu half --on h200", ("'half'", "results directory")),
        ("train --flops 1e20 --mfu 0.5 --gpus 1.5 --on h200", ("--gpus", "whole number")),
        ("train --flops 1e20 --mfu 0.5 --on h200 --format int4", ("'int4'", "bf16")),
        ("memory", ("--parameters", "--on DEVICE")),
        ("memory --gpus 8", ("--on DEVICE",)),
        ("memory --on h200 --optimizer muon", ("'muon'", "adamw, lion, adafactor")),
        ("memory --on h200 --precision fp64", ("'fp64'", "bf16, fp32, bf16-master, fp32-bf16")),
        ("memory --on h200 --gpus 0", ("--gpus is 0", "whole number")),
        ("memory --on h300", ("'h300'", "h200")),
        ("zero --stage 4 --ranks 8 --params 1e9", ("--stage is 4", "0, 1, 2, 3")),
        ("zero --stage 1 --ranks 0 --params 1e9", ("--ranks is 0", "whole number")),
        ("tensor --shape 4x", ("'4x'", "joined by x")),
        ("tensor --shape 0x4", ("'0x4'", "joined by x")),
        ("tensor --shape -4", ("-4",)),
        ("tensor --shape 9999999999x9999999999", ("2^53",)),
        ("activations --layers 2 --width 8 --batch 8 --format fp4", ("'fp4'", "not supported")),
        ("activations --layers 0 --width 8 --batch 8", ("--layers is 0", "whole number")),
        ("activations --layers 2 --width 8 --batch 2 --micro-batches 4", ("at most the batch",)),
        ("activations --batch 2", ("--layers with --width", "--model")),
        ("activations --model gpt-2 --layers 2 --batch 2", ("leave out --layers",)),
        ("activations --layers 2 --width 8 --batch 2 --context 8", ("--context", "--model")),
        ("activations --model gpt-9 --batch 2", ("'gpt-9'", "gpt-2")),
        ("activations --model gpt-2 --context 0 --batch 2", ("--context is 0", "whole number")),
        ("train --flops 1e20 --pue 1.2", ("--pue", "--on DEVICE")),
        ("train --flops 1e20 --mfu 0.5 --on h200 --pue 0.5", ("--pue is 0.5", "at least 1")),
        ("train --flops 1e20 --mfu 0.5 --on h200 --watts 0", ("--watts is 0", "above 0")),
        ("train --flops 1e20 --mfu 0.5 --on h200 --price-per-gpu-hour free", ("--price-per-gpu-hour is 'free'",)),
        ("zero --ranks 8", ("--parameters", "--on DEVICE")),
        ("zero --ranks 1.5 --params 1", ("--ranks is 1.5", "whole number")),
        ("mfu --flops 1e20 --on h200", ("--time is required",)),
        ("mfu --flops 1e20 --time 1", ("the peak is missing", "--on DEVICE", "--peak")),
        ("mfu --flops 1e20 --params 1 --tokens 1 --time 1 --on h200", ("give the work once",)),
        ("mfu --params 1 --time 1 --on h200", ("give the work once", "--parameters or --model with --tokens")),
        ("mfu --flops 1e20 --time 0 --on h200", ("--time is 0", "above 0")),
        ("mfu --flops 1e20 --time 10ms --on h200", ("--time is '10ms'",)),
        ("transfer --bytes 1G", ("--link is required",)),
        ("transfer --bytes 1G --link usb", ("'usb'", "50GB/s", "pcie4x16", "nvlink4")),
        ("transfer --bytes 1G --link 0", ("--link is 0", "above 0")),
        ("transfer --bytes 1e30 --link 1e-300", ("--link is 1e-300", "1e-30")),
        ("mfu --flops 1e30 --time 1e-300 --on h200", ("--time is 1e-300", "1e-30")),
        ("train --flops 1e30 --mfu 1e-270 --on h200 --price-per-gpu-hour 1e30", ("cost exceeds every number",)),
        ("transfer --bytes -1 --link 1G", ("--bytes is -1", "above 0")),
        ("einsum ab,bc->ac", ("--size is required",)),
        ("einsum ab,bc --size a=1,b=2,c=3", ("has no ->", "bshd,bthd->bhst")),
        ("einsum ab,->a --size a=1,b=2", ("without indices",)),
        ("einsum a1->a --size a=1", ("is not a letter",)),
        ("einsum ab->ac --size a=1,b=2,c=3", ("no operand has",)),
        ("einsum ab->aa --size a=1,b=2", ("index twice",)),
        ("einsum ab,bc->ac --size a=1,b=2", ("lacks the index 'c'",)),
        ("einsum ab->a --size a=1,b=2,z=3", ("has 'z'",)),
        ("einsum ab->a --size a=1,b=2,a=3", ("--size a is given twice",)),
        ("einsum ab->a --size a=1,b", ("--size is 'b'", "b=8")),
        ("einsum ab->a --size a=1,b=0.5", ("--size b is '0.5'", "whole number")),
        ("einsum ab->a --size a=1e15,b=1e15", ("product of the sizes", "2^53")),
        ("fits --model gpt-2 --batch 1", ("--on is required",)),
        ("fits --layers 1 --width 1 --batch 1 --on h200", ("--parameters with --layers", "--model CONFIG")),
        ("fits --params 1e9 --batch 1 --on h200", ("--layers with --width",)),
        ("fits --model gpt-2 --on h200", ("--batch is required",)),
        ("fits --model gpt-2 --batch 1 --ranks 0 --on h200", ("--ranks is 0",)),
        ("fits --model gpt-2 --batch 1 --stage 5 --on h200", ("--stage is 5", "0, 1, 2, 3")),
        ("activations --layers 2 --width 8 --batch 2 --checkpoint log", ("'log'", "none, layer, sqrt, full")),
    ],
)
def test_plan(arguments, parts):
    refused(ridgebench("plan", *arguments.split()), *parts)


def test_resume_of_nothing():
    refused(ridgebench("run", "--resume", ""), "--resume", "an empty text names nothing")


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [("commit", "0" * 40, "commit of the program"), ("method_version", 1, "method_version of the program")],
)
def test_another_program_does_not_resume_a_run(key, value, said, tmp_path):
    folder = tmp_path / "results"
    assert run(folder, *SMALL).returncode == 0
    stored = read_environment(folder)
    (folder / "environment.json").write_text(json.dumps(stored | {key: value}))
    refused(ridgebench("run", "--resume", folder), said, str(value))


def test_another_device_does_not_resume_a_run(tmp_path):
    folder = tmp_path / "results"
    assert run(folder, *SMALL).returncode == 0
    path, stored = folder / "environment.json", read_environment(folder)
    stored["devices"][0]["threads"] += 1
    path.write_text(json.dumps(stored))
    before = (folder / "records.jsonl").read_bytes()
    refused(ridgebench("run", "--resume", folder), "threads of the device was")
    stored["devices"] *= 2
    path.write_text(json.dumps(stored))
    refused(ridgebench("run", "--resume", folder), "2 devices were measured, now there are 1")
    assert (folder / "records.jsonl").read_bytes() == before


def test_a_resumed_run_keeps_its_beginning(tmp_path):
    folder = tmp_path / "results"
    assert run(folder, *SMALL).returncode == 0
    first = read_environment(folder)
    assert ridgebench("run", "--resume", folder).returncode == 0
    stored = read_environment(folder)
    for key in ("run_id", "started", "command_line", "devices"):
        assert stored[key] == first[key]
    assert len(stored["resumed"]) == 1


@pytest.mark.parametrize("command", ["info", "list --device sim", "predict relu n:4 --format bf16 --on h200"])
def test_a_standard_output_that_is_full(command):
    with open("/dev/full", "w", encoding="utf-8") as full:
        result = subprocess.run(
            [BINARY, *command.split()], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert result.returncode == 3
    assert result.stderr.startswith("ridgebench: cannot write to standard output")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("device", ["sim", "sim:seed=1", "injected"])
def test_the_product_has_no_devices_of_the_tests(device):
    product = Path(os.environ["RIDGEBENCH_BUILD"]) / "ridgebench"
    result = subprocess.run([product, "list", "--device", device], capture_output=True, text=True, check=False)
    refused(result, f"unknown device '{device}'; allowed: cuda:N, cpu, all")


def test_probes_can_be_left_out_and_a_row_says_so(tmp_path):
    folder = tmp_path / "results"
    refused(run(folder, env=environment(RIDGEBENCH_PROBES="no")), "RIDGEBENCH_PROBES='no'", "allowed: 0, 1")
    assert not folder.exists()
    assert run(folder, env=environment(RIDGEBENCH_PROBES="0")).returncode == OK
    for record in records(folder):
        assert record["verify"].get("probes") is None
        assert ("few_probes" in record["flags"]) == (record["role"] != "control"), "a control never has probes"


def test_the_seed_of_the_check_is_drawn_or_set(tmp_path):
    folder = tmp_path / "results"
    wrong = run(folder, env=environment(RIDGEBENCH_CHECK_SEED="abc"))
    refused(wrong, "RIDGEBENCH_CHECK_SEED='abc'", "a whole number from 0 to 2^53")
    assert not folder.exists()
    assert run(folder, env=environment(RIDGEBENCH_CHECK_SEED="77")).returncode == OK
    assert {record["verify"]["seed"] for record in records(folder)} == {77}
    drawn = []
    for name in ("one", "other"):
        assert run(tmp_path / name).returncode == OK
        (seed,) = {record["verify"]["seed"] for record in records(tmp_path / name)}
        drawn.append(seed)
    assert drawn[0] != drawn[1]
