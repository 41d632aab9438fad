"""Health beside rates: what doctor found before the run, what the rows recorded, checksums, absent rows and impossible rates."""

import hashlib
import json
from dataclasses import replace

import pytest
from command_line import schema
from damaged import attempt, collect
from golden import change_records
from made_fleet import FACTS, at, changed, make_fleet, slowed
from ridgebench.fleet import findings, fleet_file
from ridgebench.fleet.judge import assess
from ridgebench.fleet.render import exports
from ridgebench.fleet.states import code_of
from synthetic_fleet import PASSES, PLANNED, write_results


def finding(code: str, status: str = "warning", device: str = "cuda:3", subject: str = "gpu") -> dict:
    return {"subject": subject, "device": device, "status": status, "code": code, "text": f"words on {code}", "help": None}


def say(folder, *found: dict) -> None:
    """Writes doctor's answer beside the folder of an attempt."""
    value = {"schema": "urn:ridgebench:doctor:1", "usable": True, "verdict": "x", "findings": list(found), "facts": {}}
    folder.with_name(f"{folder.name}.doctor.json").write_text(json.dumps(value))


def odd(fleet) -> dict:
    """State, severity and code of the GPUs that are not OK or have a note, and what is said of them."""
    found = assess(collect(fleet))
    return {(v.gpu.node, v.gpu.index): (v.state, v.severity, code_of(v), "; ".join([v.reason, *v.notes]))
            for v in found.verdicts if v.state != "OK" or v.notes}  # fmt: skip


@pytest.mark.parametrize(("code", "status", "state", "severity", "exit_code"), [
    ("rows_failed", "warning", "UNHEALTHY", "FAIL", 6), ("nvlinks_down", "warning", "UNHEALTHY", "FAIL", 6),
    ("pcie_lanes", "warning", "UNHEALTHY", "FAIL", 6), ("gpu_reset_required", "error", "UNHEALTHY", "FAIL", 6),
    ("rows_pending", "warning", "UNHEALTHY", "WARN", 4), ("other_processes", "warning", "UNHEALTHY", "WARN", 4),
    ("ecc_errors", "warning", "UNHEALTHY", "WARN", 4), ("power_cap", "warning", None, None, None), ("ecc_off", "note", None, None, None),
])  # fmt: skip
def test_what_doctor_found_is_a_state(code, status, state, severity, exit_code, fleet):
    for node in ("gn1", "gn2", "gn3", "gn4"):
        say(attempt(fleet, node), *([finding(code, status)] if node == "gn2" else []), finding("openblas_core", subject="libraries", device=None))
    found = odd(fleet)
    if state is None:
        assert found == {}
        return
    assert list(found) == [("gn2", 3)] and found["gn2", 3][:3] == (state, severity, exit_code)
    assert f"doctor: words on {code}" in found["gn2", 3][3]
    text = " ".join(findings.expectation(assess(collect(fleet))))
    assert "doctor` examined" not in text, "it examined all of them"


def test_the_collected_form_has_health_and_doubts(fleet):
    say(attempt(fleet, "gn2"), finding("rows_failed"), finding("rows_pending"))
    value = json.loads(fleet_file.text_of(collect(fleet)))
    assert list(schema("fleet").iter_errors(value)) == []
    (gpu,) = [gpu for gpu in value["gpus"] if gpu["health"]]
    assert (gpu["node"], gpu["index"], gpu["doubted"]) == ("gn2", 3, [])
    assert gpu["health"] == [{"severe": True, "text": "doctor: words on rows_failed"}, {"severe": False, "text": "doctor: words on rows_pending"}]


def test_doctor_of_some_nodes_is_counted_and_an_answer_that_is_cut_off_is_named(fleet):
    say(attempt(fleet, "gn1"))
    path = attempt(fleet, "gn2").with_name("attempt-1.doctor.json")
    path.write_text('{"schema": "urn:')
    found = odd(fleet)
    assert list(found) == [("gn2", 0)] and found["gn2", 0][1] == "WARN" and "attempt-1.doctor.json" in found["gn2", 0][3]
    path.write_text("")  # doctor was killed
    assert odd(fleet) == {}
    assert "examined 8 of 32 GPUs" in " ".join(findings.expectation(assess(collect(fleet))))


def test_a_gpu_that_cuda_does_not_offer_is_named(fleet):
    say(attempt(fleet, "gn2"), finding("gpu_lost", "error", "nvidia-smi:8"))
    assert odd(fleet) == {("gn2", 0): ("UNHEALTHY", "FAIL", 6, "nvidia-smi:8: doctor: words on gpu_lost")}


@pytest.mark.parametrize(("recorded", "state", "severity", "says"), [
    ({"remapped_rows": {"corrected": 0, "uncorrected": 1, "pending": False, "failed": True}}, "UNHEALTHY", "FAIL", "could not be replaced"),
    ({"remapped_rows": {"corrected": 0, "uncorrected": 1, "pending": True, "failed": False}}, "UNHEALTHY", "WARN", "wait for a reset"),
    ({"pcie": {"generation": 5, "max_generation": 5, "lanes": 1, "max_lanes": 16}}, "UNHEALTHY", "FAIL", "1 of 16 lanes"),
    ({"nvlinks": 2, "nvlinks_present": 18}, "UNHEALTHY", "FAIL", "16 of its 18 NVLinks are down"),
    ({"remapped_rows": {"corrected": 5, "uncorrected": 0, "pending": False, "failed": False}}, None, None, None),
])  # fmt: skip
def test_doctor_judges_what_a_run_recorded(recorded, state, severity, says, fleet, program):
    path = attempt(fleet, "gn3") / "loaded" / "cuda-5" / "environment.json"
    value = json.loads(path.read_text())
    value["devices"][0] |= recorded
    path.write_text(json.dumps(value))
    found = odd(fleet)
    assert [(where, one[0], one[1]) for where, one in found.items()] == ([(("gn3", 5), state, severity)] if state else [])
    assert state is None or "doctor: " in found["gn3", 5][3] and says in found["gn3", 5][3]
    assert "is known from what their runs recorded" in " ".join(findings.expectation(assess(collect(fleet))))


@pytest.mark.parametrize("bad", PASSES)
def test_doctor_judges_what_each_pass_of_a_tree_recorded(bad, tmp_path, program):
    for name in PASSES:
        failed = {"remapped_rows": {"corrected": 0, "uncorrected": 1, "pending": False, "failed": name == bad}}
        write_results(tmp_path / "tree" / "gn1" / name, "gn1", 0, PLANNED, lambda row: 1.0, rows=3, **failed)
    assert odd(tmp_path / "tree")["gn1", 0][:2] == ("UNHEALTHY", "FAIL")


def test_errors_of_the_memory_during_rows_fail_a_gpu(fleet):
    def change(record):
        record["telemetry"]["window"]["ecc_uncorrected"] = 2.0
        return record

    change_records(attempt(fleet, "gn3") / "loaded" / "cuda-5", change)
    found = odd(fleet)
    assert list(found) == [("gn3", 5)] and found["gn3", 5][:3] == ("UNHEALTHY", "FAIL", 6)
    assert "ECC could not correct 6 errors" in found["gn3", 5][3]


@pytest.mark.parametrize(("severe", "severity", "code"), [(True, "FAIL", 6), (False, "WARN", 4)])
def test_a_counter_of_faults_that_grew_is_named(severe, severity, code, fleet):
    path = attempt(fleet, "gn3") / "loaded" / "cuda-5" / "environment.json"
    text = "cuda:5 counted faults during the run: remapped_rows.uncorrected grew from 0 to 1"
    conditions = [{"code": "busy", "text": "other programs run"}, {"code": "worn", "text": text, "device": "cuda:5", "severe": severe, "counters": []},
                  {"code": "worn", "text": "of another device", "device": "cuda:4", "severe": True, "counters": []}]  # fmt: skip
    path.write_text(json.dumps(json.loads(path.read_text()) | {"conditions": conditions}))
    assert odd(fleet) == {("gn3", 5): ("UNHEALTHY", severity, code, text)}


def test_another_process_during_a_row_is_a_warning(fleet):
    change_records(attempt(fleet, "gn3") / "loaded" / "cuda-5", lambda record: record | {"telemetry": record["telemetry"] | {"other_processes": 1}})
    assert odd(fleet)["gn3", 5][:3] == ("UNHEALTHY", "WARN", 4)


def sums(folder) -> None:
    names = ("environment.json", "records.jsonl")
    (folder / "SHA256SUMS").write_text("".join(f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in names))


@pytest.mark.parametrize("name", ["environment.json", "records.jsonl"])
def test_a_file_that_is_not_what_the_run_wrote_fails(name, fleet):
    folder = attempt(fleet, "gn1") / "isolated" / "cuda-2"
    sums(folder)
    assert odd(fleet) == {}
    (folder / name).write_text((folder / name).read_text().replace("H200", "H100").replace('"sets": ', '"sets":  '))
    found = odd(fleet)
    assert list(found) == [("gn1", 2)] and found["gn1", 2][0] == "FAILED"
    assert f"{name} is not what the run wrote: its checksum differs" in found["gn1", 2][3]


def test_a_rate_is_work_over_time(fleet):
    change_records(attempt(fleet, "gn1") / "isolated" / "cuda-2", lambda record: record | {"bytes_per_s": 1.02 * record["bytes_per_s"]})
    found = odd(fleet)
    assert list(found) == [("gn1", 2)] and found["gn1", 2][0] == "FAILED" and "bytes_per_s is" in found["gn1", 2][3]


def test_rows_that_are_absent_warn(fleet):
    path = attempt(fleet, "gn1") / "isolated" / "cuda-2" / "records.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    found = odd(fleet)
    assert list(found) == [("gn1", 2)] and found["gn1", 2][:3] == ("INCOMPLETE", "WARN", 4) and "1 of 6 rows are absent" in found["gn1", 2][3]


def verdict(change, node="gn2", index=3):
    fleet = changed(make_fleet(), {(node, index): change})
    return assess(fleet).verdicts[at(fleet, node, index)]


def test_a_rate_above_the_data_sheet_is_wrong():
    found = verdict(lambda gpu: slowed(gpu, -1e9, "dram_read"))
    assert (found.state, code_of(found)) == ("WRONG", 6) and "of the data sheet in dram_read" in found.reason
    everywhere = changed(make_fleet(), {(f"gn{node}", n): (lambda gpu: slowed(gpu, -0.5, "dram_read")) for node in (1, 2, 3, 4) for n in range(8)})
    assert {one.state for one in assess(everywhere).verdicts} == {"WRONG"}, "peers that agree are no excuse"


@pytest.mark.parametrize(("facts", "slower", "severity", "says"), [
    ({"power_limit_w": 500.0}, 0.3, "FAIL", "power_limit_w: 500.0 against 700.0; 3"),
    ({"driver": "535"}, 0.0, "WARN", "driver: 535 against 580"),
])
@pytest.mark.parametrize("nodes", [5, 25])
def test_a_whole_node_that_differs_is_news_although_its_gpus_agree(facts, slower, severity, says, nodes):
    odd_one = {("gn3", n): (lambda gpu: slowed(replace(gpu, facts=FACTS | facts), slower)) for n in range(8)}
    found = assess(changed(make_fleet(nodes), odd_one))
    assert found.code == 5 and {v.gpu.node for v in found.verdicts if v.state == "NOT_COMPARABLE"} == {"gn3"}
    (one,) = findings.findings(found)
    assert (one.where, one.severity) == ("gn3, all 8 GPUs", severity) and one.reason.startswith(says)
    assert ("below the fleet's median" in one.reason) == (slower > 0)


@pytest.mark.parametrize(("nodes", "well"), [(4, True), (20, False)])
def test_another_model_is_news_unless_it_is_a_part_of_the_site(nodes, well):
    other = {("gn1", n): (lambda gpu: slowed(replace(gpu, facts=FACTS | {"model": "NVIDIA H100", "data_sheet": "h100-sxm"}), 0.3)) for n in range(8)}
    found = assess(changed(make_fleet(nodes), other))
    assert (found.code == 0) == well and {v.gpu.node for v in found.verdicts if v.state != "OK"} == (set() if well else {"gn1"})


def test_controls_that_moved_are_noted_in_the_report_and_in_junit(fleet):
    path = attempt(fleet, "gn4") / "loaded" / "cuda-7" / "environment.json"
    control = {"ceiling": "dram_copy/vec16/fp32/n:1/steady@cuda:7", "control": "x", "change": -0.041, "moved": True, "earlier": False}
    path.write_text(json.dumps(json.loads(path.read_text()) | {"controls": [control, control | {"ceiling": "y@cuda:7", "moved": False}], "doubted": {}}))
    found = assess(collect(fleet))
    (one,) = findings.findings(found)
    text = "control moved: dram_copy/vec16/fp32/n:1/steady -4.1 % from first to last; shares of roofs are doubted"
    assert (one.where, one.severity, one.reason, found.code) == ("gn4 GPU 7", "INFO", text, 0)
    whole = changed(make_fleet(), {("gn2", n): (lambda gpu, n=n: replace(gpu, doubted=(f"dram_copy -{n + 3}.0 %",))) for n in range(8)})
    (node,) = findings.findings(assess(whole))
    assert node.where == "gn2, all 8 GPUs" and node.reason.endswith("doubted; and 7 more like this"), "one line of a node"
    assert f'name="gn4 GPU 7"><system-out>{text}</system-out></testcase>' in exports.to_junit(found)
