"""Soaks in the report of a fleet: wrong bits by node, GPU, SM and phase, interrupted soaks, lost GPUs and broken logs."""

import json
import re
from xml.etree import ElementTree

import pytest
from command_line import schema, strict_json
from ridgebench.__main__ import main
from ridgebench.base.command_line import INTERRUPTED, OK, REGRESSION, ROW_FAILED
from synthetic_fleet import uuid_of, write_fleet

pytestmark = pytest.mark.usefixtures("program")

KERNEL = "unit_products/mma_sync/bf16/units:4/steady@cuda:"
TIMES = {"started": "2026-11-27T13:00:00Z", "ended": "2026-11-27T13:30:00Z"}
PROGRESS = {"event": "progress", "elapsed_s": 600, "round": 1}
END = {"event": "end", "elapsed_s": 1800, "interrupted": False}


def mismatch(index, phase, units, bits=1):
    return {"event": "mismatch", "id": f"{KERNEL}{index}", "phase": phase, "elapsed_s": 60, "words": 1, "bits": bits, "units": units}


def write_soak(folder, node, index, *events, ended=END):
    """The folder of the soak of a GPU, whose log has these events before its end."""
    units = [{"id": f"{KERNEL}{index}", "launches": 100, "bytes": 6e9, "time_s": 0.5}]
    begin = {"event": "begin", "device": f"cuda:{index}", "seconds": 1800, "memory_bytes": 1e9, "slow_share": 0.1, "units": units}
    log = [begin, {**PROGRESS, "units": units}, *events, *([ended] if ended else [])]
    folder.mkdir(parents=True)
    (folder / "soak.jsonl").write_text("".join(json.dumps(event) + "\n" for event in log))
    device = {"name": f"cuda:{index}", "uuid_hash": uuid_of(node, index), "model": "NVIDIA H200"}
    (folder / "environment.json").write_text(json.dumps({"devices": [device], "host": {"hostname_hash": "0" * 16}}))


def write_soak_node(folder, node, gpus):
    """The folder of a node's soak. gpus: of each GPU the events of its log, and what its pass has beside `done`."""
    entries = []
    for index, (events, how) in enumerate(gpus):
        ended = {**END, "interrupted": True} if how.get("reason") == "interrupted" else END if how.get("exit", 0) in (OK, ROW_FAILED) else None
        write_soak(folder / "soak" / f"cuda-{index}", node, index, *events, ended=ended)
        of_pass = {"folder": f"soak/cuda-{index}", "state": "done", "exit": 0, "reason": None, **TIMES, **how}
        entries.append({"device": f"cuda:{index}", "index": index, "uuid_hash": uuid_of(node, index), "model": "NVIDIA H200",
                        "pci_address": None, "passes": {"soak": of_pass}})  # fmt: skip
    value = {"schema": "ridgebench.node/1", "node": node, "hostname_hash": "0" * 16, "version": "0.2.0", "command_line": ["soak"],
             **TIMES, "exit": 0, "budget_s": None, "gpus": entries}  # fmt: skip
    (folder / "node.json").write_text(json.dumps(value))


WRONG = ([mismatch(1, "hot", [2], 3), mismatch(1, "hot", [2]), mismatch(1, "swing", [2, 3])], {"state": "failed", "exit": 6, "reason": "WRONG"})
LOST = ([], {"state": "failed", "exit": 7, "reason": "device cuda:2 was lost"})
STOPPED = ([], {"state": "killed", "exit": None, "reason": "interrupted"})
KILLED = ([], {"state": "killed", "exit": None, "reason": "ended by signal 9 (Killed)"})
WORN = ([{"event": "fault", "counter": "remapped_rows.uncorrected", "before": 0, "after": 1}], {"state": "failed", "exit": 6, "reason": "worn"})
WELL = ([], {})


def reported(folder, capsys):
    """Exit code, report.json and standard output of `fleet report`."""
    code = main(["fleet", "report", str(folder)])
    found = strict_json((folder / "report" / "report.json").read_text())
    assert list(schema("fleet_report").iter_errors(found)) == [] and found["exit_code"] == code
    return code, found, capsys.readouterr().out


@pytest.fixture(name="soaked")
def soaked_fixture(tmp_path):
    """The soak of a node whose second GPU has wrong bits; the others are well, lost, interrupted, killed and worn."""
    write_soak_node(tmp_path / "gn7", "gn7", [WELL, WRONG, LOST, STOPPED, KILLED, WORN])
    return tmp_path


def test_a_tree_of_soaks_alone_has_a_report(soaked, capsys):
    code, found, text = reported(soaked, capsys)
    assert code == ROW_FAILED
    one = {soak["index"]: soak for soak in found["soaks"]}
    assert [one[index]["state"] for index in range(6)] == ["OK", "WRONG", "FAILED", "STARTED", "STARTED", "UNHEALTHY"]
    assert [one[index]["exit_code"] for index in range(6)] == [OK, ROW_FAILED, ROW_FAILED, INTERRUPTED, ROW_FAILED, ROW_FAILED]
    assert one[1]["errors"] == [{"id": f"{KERNEL}1", "mismatches": 3, "words": 3, "bits": 5, "units": [2, 3], "phases": {"hot": 2, "swing": 1}}]
    assert "interrupted; did not finish: 30 of 30 min" == one[3]["reason"] and one[2]["reason"] == "device cuda:2 was lost"
    assert "remapped_rows.uncorrected grew from 0 to 1" in one[5]["reason"] and one[1]["folder"] == "gn7/soak/cuda-1"
    lines = text.splitlines()
    assert lines[0] == "No GPU has been measured; 6 soaks: 1 well, 1 wrong, 1 failed, 2 started, 1 unhealthy"
    wrong = f"gn7 GPU 1: soak: 5 wrong bits in 3 mismatches of {KERNEL}1; SM 2, 3; phase hot 2, swing 1"
    assert any(line.startswith("FAIL  WRONG") and line.endswith(wrong) for line in lines), text
    assert "WARN  STARTED    gn7 GPU 3: soak: interrupted" in text and "FAIL  STARTED    gn7 GPU 4: soak: ended by signal 9" in text


def test_the_other_files_have_the_soaks(soaked, capsys):
    reported(soaked, capsys)
    report = soaked / "report"
    assert re.search(r"\| gn7 cuda:1 \| WRONG \| 30 of 30 \| 6 GB \| .* \| 3 \| 5 \| 2, 3 \| hot 2, swing 1 \|", (report / "report.md").read_text())
    assert "<h3>Soaks</h3>" in (report / "report.html").read_text()
    metrics = (report / "metrics.prom").read_text().splitlines()
    labels = f'node="gn7",gpu="1",uuid_hash="{uuid_of("gn7", 1)}",folder="gn7/soak/cuda-1",row="{KERNEL}1"'
    for line in (f"ridgebench_fleet_soak_wrong_bits{{{labels}}} 5", f'ridgebench_fleet_soak_mismatches{{{labels},phase="hot"}} 2',
                 f'ridgebench_fleet_soak_wrong_multiprocessor{{{labels},sm="3"}} 1'):  # fmt: skip
        assert line in metrics
    samples = [line.rpartition(" ")[0] for line in metrics if not line.startswith("#")]
    assert len(samples) == len(set(samples))
    cases = {case.get("name"): case for case in ElementTree.parse(report / "junit.xml").iter("testcase")}
    assert cases["gn7 cuda:1 soak gn7/soak/cuda-1"].find("error") is not None
    assert cases["gn7 cuda:3 soak gn7/soak/cuda-3"].find("skipped") is not None


def test_a_gpu_that_is_fast_enough_and_has_wrong_bits_is_wrong(tmp_path, capsys):
    fleet = tmp_path / "fleet"
    write_fleet(fleet, 1, 8, rows=2)
    write_soak_node(fleet / "soak-of-gn1", "gn1", [WELL, WRONG, STOPPED, *[WELL] * 5])
    code, found, text = reported(fleet, capsys)
    gpus = {gpu["index"]: gpu for gpu in found["gpus"]}
    assert code == ROW_FAILED and gpus[1]["state"] == "WRONG" and gpus[1]["reason"].startswith("soak: 5 wrong bits")
    assert gpus[2]["state"] == "OK" and gpus[2]["notes"] == ["soak: interrupted; did not finish: 30 of 30 min"] and gpus[2]["severity"] == "WARN"
    assert gpus[0]["state"] == "OK" and gpus[0]["notes"] == []
    assert text.splitlines()[:3] == ["7 of 8 GPUs are well: 1 wrong", "8 of 8 GPUs have complete results", "8 soaks: 6 well, 1 wrong, 1 started"]
    assert text.count("5 wrong bits") == 1, "once, not for the GPU and again for its soak"


def test_an_interrupted_soak_of_a_healthy_fleet_is_undecided(tmp_path, capsys):
    fleet = tmp_path / "fleet"
    write_fleet(fleet, 1, 8, rows=2)
    write_soak_node(fleet / "soak", "gn1", [STOPPED])
    assert reported(fleet, capsys)[0] == INTERRUPTED


def test_the_soak_of_one_device_is_found(tmp_path, capsys):
    write_soak(tmp_path / "gn3" / "night", "gn3", 5, mismatch(5, "cold_start", []))
    slower = {**PROGRESS, "units": [{"id": f"{KERNEL}0", "launches": 200, "bytes": 9e9, "time_s": 0.6}]}
    write_soak(tmp_path / "gn4" / "night", "gn4", 0, slower)
    code, found, _ = reported(tmp_path, capsys)
    wrong, slow = found["soaks"]
    assert code == ROW_FAILED and (wrong["node"], wrong["index"], wrong["state"]) == ("gn3", 5, "WRONG")
    assert wrong["errors"][0]["phases"] == {"cold_start": 1} and wrong["uuid_hash"] == uuid_of("gn3", 5)
    assert (slow["state"], slow["exit_code"]) == ("SLOW", REGRESSION) and slow["reason"].startswith("the last round of unit_products")


@pytest.mark.parametrize("text", ['{"event":"begin"}\n', "nonsense\n", "[]\n", '{"event":"mismatch","id":"x","words":-1,"bits":0,"units":[]}\n'])
@pytest.mark.parametrize("of_node", [True, False])
def test_a_log_that_cannot_be_read_fails_its_soak_only(of_node, text, tmp_path, capsys):
    if of_node:
        write_soak_node(tmp_path / "gn7", "gn7", [WELL, WELL])
    else:
        write_soak(tmp_path / "gn7" / "a", "gn7", 0)
        write_soak(tmp_path / "gn7" / "b", "gn7", 1)
    (tmp_path / "gn7" / ("soak/cuda-1" if of_node else "b") / "soak.jsonl").write_text(text)
    code, found, _ = reported(tmp_path, capsys)
    assert code == ROW_FAILED and sorted(soak["state"] for soak in found["soaks"]) == ["FAILED", "OK"]
    (broken,) = (soak for soak in found["soaks"] if soak["state"] == "FAILED")
    assert "soak.jsonl:1" in broken["reason"] and str(tmp_path) not in broken["reason"]


@pytest.mark.parametrize("value", ["{", "[]", '{"gpus": 3}'])
def test_a_node_that_cannot_be_read_is_named(value, tmp_path, capsys):
    write_soak_node(tmp_path / "gn7", "gn7", [WELL])
    (tmp_path / "gn7" / "node.json").write_text(value)
    code, found, _ = reported(tmp_path, capsys)
    (soak,) = found["soaks"]
    assert code == ROW_FAILED and soak["state"] == "FAILED" and "node.json" in soak["reason"]


@pytest.mark.parametrize("value", ["[]", "{}", '{"devices": [{}], "host": {}}', '{"devices": [{"name": "cuda:9"}], "host": {}}'])
def test_an_environment_that_does_not_fit_is_named(value, tmp_path, capsys):
    write_soak(tmp_path / "gn7" / "a", "gn7", 0)
    (tmp_path / "gn7" / "a" / "environment.json").write_text(value)
    code, found, _ = reported(tmp_path, capsys)
    assert code == ROW_FAILED and [soak["state"] for soak in found["soaks"]] == ["FAILED"]
