"""Counters under Nsight Compute, which a made-up ncu represents: no GPU is needed here."""

import json
import shutil
from pathlib import Path

from ridgebench.data.records import load_run
from ridgebench.exchange import counters
import pytest
from golden import GOLDEN

READ, WRITTEN, L2, TO_SM, TENSOR, FMA = counters.METRICS.values()
HEADER = f'"ID","Kernel Name","{READ}","{WRITTEN}","{L2}","{TO_SM}","{TENSOR}","{FMA}","{counters.DURATION}"'
UNITS = '"","","Mbyte","Kbyte","Mbyte","Mbyte","%","%","us"'
STAMP = '"9","write_stamp","0","0","0","0","0","0","2"'
LAUNCHES = [
    '"0","fill","9,999.0","0","0","0","0","0","1,500"',
    *[STAMP] * 6,
    '"1","void relu<float>(float)","400.5","1,500","804","402","0","12.5","1,000"',
    '"2","void relu<float>(float)","400.0","2,000","803","402","0","12.5","1,001"',
    '"3","void relu<float>(float)","401.0","2,500","805","402","0","12.5","1,000"',
    '"4","check","1","1","2","1","0","0","10"',
]


@pytest.fixture(name="results")
def results_fixture(tmp_path):
    """The golden run as if a GPU had made it."""
    folder = tmp_path / "results"
    shutil.copytree(GOLDEN, folder)
    for name in ("environment.json", "records.jsonl"):
        text = (folder / name).read_text()
        text = text.replace('"device":"cpu"', '"device":"cuda:0"')
        text = text.replace('"device": "cpu"', '"device": "cuda:0"')
        text = text.replace('"name": "cpu"', '"name": "cuda:0"').replace("@cpu", "@cuda:0")
        (folder / name).write_text(text)
    return folder


def install_ncu(tmp_path, monkeypatch, output: str, code: int = 0) -> Path:
    """An ncu that prints this; its folder comes first on the path, and it keeps its arguments."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "output").write_text(output)
    script = f'#!/bin/sh\necho "$@" >>{folder}/arguments\ncat {folder}/output\nexit {code}\n'
    (folder / "ncu").write_text(script)
    (folder / "ncu").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return folder / "arguments"


def call(*arguments) -> int:
    return counters.main([str(argument) for argument in arguments])


def test_the_rows_own_kernel_is_the_one_that_took_most_time(results, tmp_path, monkeypatch, capsys):
    output = "\n".join(["==PROF== Connected", HEADER, UNITS, *LAUNCHES, ""])
    arguments = install_ncu(tmp_path, monkeypatch, output)
    assert call(results, "--filter", "relu/streaming/fp32/.*/steady") == 0
    [told] = [json.loads(line) for line in (results / "counters.jsonl").read_text().splitlines()]
    assert told["kernel"] == "void relu<float>(float)" and told["launches"] == 3
    assert told["dram_read_bytes"] == 400.5e6 and told["dram_written_bytes"] == 2e6
    assert told["dram_bytes"] == 402.5e6
    assert told["l2_bytes"] == 804e6 and told["l2_to_sm_bytes"] == 402e6
    assert told["fma_pipe_active_percent"] == 12.5 and told["tensor_pipe_active_percent"] == 0
    said = capsys.readouterr().out
    assert "over compulsory bytes" in said and "model" not in said, "the row has no model"
    given = arguments.read_text()
    assert "--clock-control none" in given and f"--filter ^{told['id'][:20]}" in given
    assert r"--nvtx-include ridgebench@relu\/streaming\/fp32\/n:100000000\/steady\@cuda:0/ " in given


def test_a_kernel_that_is_named_by_operation_and_technique_comes_before_a_longer_one(results, tmp_path, monkeypatch):
    named = LAUNCHES[-4].replace("void relu<float>", "void ridgebench::relu_streaming<float>").replace("1,000", "1")
    output = "\n".join([HEADER, UNITS, *LAUNCHES, named, ""])
    install_ncu(tmp_path, monkeypatch, output)
    assert call(results, "--filter", "relu/streaming/fp32/.*/steady") == 0
    told = json.loads((results / "counters.jsonl").read_text())
    assert told["kernel"] == "void ridgebench::relu_streaming<float>(float)" and told["launches"] == 1


def test_what_was_counted_is_compared_with_the_model_of_the_technique(results, tmp_path, monkeypatch, capsys):
    path = results / "records.jsonl"
    records = [json.loads(line) for line in path.read_text().splitlines()]
    (row,) = [one for one in records if one["id"].startswith("relu/streaming/fp32/") and one["regime"] == "steady"]
    row |= {"bytes": 805e6, "bytes_per_s": 805e6 / row["time_median_s"], "model_dram_bytes": 350e6, "model_l2_to_sm_bytes": 201e6}
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    install_ncu(tmp_path, monkeypatch, "\n".join([HEADER, UNITS, *LAUNCHES, ""]))
    assert call(results, "--filter", "relu/streaming/fp32/.*/steady") == 0
    said = capsys.readouterr().out
    assert "DRAM traffic over compulsory bytes 0.500, over the model 1.150; L2 to SMs over the model 2.000\n" in said
    assert [one.dram_over_model for one in load_run(results).rows if one.id == row["id"]] == [pytest.approx(1.15)]
    (tmp_path / "bin" / "output").write_text(f'"ID","Kernel Name","{READ}"\n"","","byte"\n"0","k","5"\n')
    assert call(results, "--filter", "relu/streaming/fp32/.*/steady") == 0
    assert "over the model unknown; L2 to SMs over the model unknown\n" in capsys.readouterr().out


def test_a_metric_that_a_device_lacks_is_null(results, tmp_path, monkeypatch):
    output = f'"ID","Kernel Name","{READ}"\n"","","byte"\n"0","k","5"\n'
    install_ncu(tmp_path, monkeypatch, output)
    assert call(results, "--filter", "relu/streaming/fp32/.*/steady") == 0
    told = json.loads((results / "counters.jsonl").read_text())
    assert told["dram_read_bytes"] == 5 and told["dram_bytes"] is None


@pytest.mark.parametrize(
    ("output", "code", "said"),
    [
        ("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n", 2, "does not permit"),
        ("==ERROR== Failed to connect\n", 8, "ncu failed: ==ERROR== Failed to connect"),
        ("", 8, "no message"),
    ],
)
def test_what_ncu_cannot_do_is_said(output, code, said, results, tmp_path, monkeypatch, capsys):
    install_ncu(tmp_path, monkeypatch, output, 1)
    assert call(results) == code
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1 and error.startswith("counters: ")
    assert not (results / "counters.jsonl").exists()


def test_a_ceiling_is_counted_only_if_the_filter_names_it(results, tmp_path, monkeypatch):
    arguments = install_ncu(tmp_path, monkeypatch, "\n".join([HEADER, UNITS, *LAUNCHES, ""]))
    assert call(results, "--filter", "^dram/read/") == 0
    [told] = [json.loads(line) for line in (results / "counters.jsonl").read_text().splitlines()]
    assert told["id"].startswith("dram/read/")
    assert "--ceilings" not in arguments.read_text(), "a run with ceilings at hand measures none"
    assert call(results, "--filter", "relu/streaming/fp32/.*/steady") == 0
    assert "--ceilings" in arguments.read_text().splitlines()[-1]


def test_without_ncu_or_rows_of_a_gpu(results, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert call(results) == 7
    assert "ncu is not installed" in capsys.readouterr().err
    assert call(GOLDEN) == 7
    assert "holds no verified row of a GPU" in capsys.readouterr().err
    assert call(tmp_path / "nowhere") == 2
    assert call(results, "--filter", "[") == 2
    capsys.readouterr()
    assert call(results, "--filter", "^zzz") == 2
    assert "--filter '^zzz' matches no verified row of a GPU" in capsys.readouterr().err


def test_what_was_counted_before_is_kept(results, tmp_path, monkeypatch, capsys):
    output = "\n".join(["==PROF== Connected", HEADER, UNITS, *LAUNCHES, ""])
    install_ncu(tmp_path, monkeypatch, output)
    assert call(results, "--filter", "relu/streaming/fp32/.*/steady") == 0
    first = (results / "counters.jsonl").read_text()
    (tmp_path / "bin" / "output").write_text(output.replace('"400.5"', '"n/a"').replace('"400.0"', '"nan"'))
    assert call(results, "--filter", "relu/streaming/bf16/.*/steady") == 0
    second = (results / "counters.jsonl").read_text()
    assert second.startswith(first) and second.count("\n") == 2
    assert json.loads(second.splitlines()[1])["dram_read_bytes"] == 401e6, "of the launch that tells"
    (tmp_path / "bin" / "output").write_text("ncu: no more space\n")
    assert call(results, "--filter", "relu") != 0
    assert (results / "counters.jsonl").read_text() == second
    (results / "counters.jsonl").write_text(second + "{")
    assert call(results, "--filter", "relu") == 2
    assert "counters.jsonl:3" in capsys.readouterr().err
