"""Each state of a GPU, what leads to it, its exit code and the next command."""

from dataclasses import replace
from pathlib import Path

import made_fleet as made
import pytest
from made_fleet import CAPPED, FACTS, at, changed, lost, make_fleet, slowed, troubled
from ridgebench.fleet import findings, peers
from ridgebench.fleet.judge import assess
from ridgebench.fleet.manifest import Manifest, Node
from ridgebench.fleet.states import Verdict, code_of, measured_again
from synthetic_fleet import PLANNED

CAPPED_ROW = next(iter(CAPPED))


def verdict_of(fleet, node: str = "gn2", index: int = 3) -> Verdict:
    return assess(fleet).verdicts[at(fleet, node, index)]


def one(change, **keys) -> Verdict:
    """The verdict of gn2 GPU 3 after a change, in a fleet that is well."""
    return verdict_of(changed(make_fleet(**keys), {("gn2", 3): change}))


def test_a_healthy_fleet_is_well():
    found = assess(make_fleet())
    assert {verdict.state for verdict in found.verdicts} == {"OK"} and found.code == 0
    assert findings.findings(found) == [] and findings.flagged(found) == []
    assert findings.title(found) == "All 32 GPUs are well"


@pytest.mark.parametrize(("by", "most", "side"), [(-1.0, False, "this GPU"), (0.5, True, "its peers")])
def test_rows_that_caches_served_are_not_compared_with_those_of_memory(by, most, side):
    """Neither the fast GPU among slow ones nor the slow one among fast ones is news, nor does it move the median of the others."""

    def served(gpu, row: str):
        return replace(gpu, readings={key: one._replace(cached=key[1].startswith(row)) for key, one in gpu.readings.items()})

    fleet = make_fleet()
    own = slowed(fleet.gpus[at(fleet, "gn2", 3)], by, "copy_to_device")
    others = {(gpu.node, gpu.index): (lambda old: served(old, "copy_to_device" if most else "none")) for gpu in fleet.gpus}
    told = assess(changed(fleet, others | {("gn2", 3): lambda _: served(own, "none" if most else "copy_to_device")}))
    verdict = told.verdicts[at(fleet, "gn2", 3)]
    assert verdict.state == "OK" and {one.state for one in told.verdicts} == {"OK"}
    assert verdict.notes == [f"not compared in copy_to_device/pinned/fp32 (isolated) and in 1 more: caches may have served {side} only (served_by_cache)"]
    assert verdict_of(changed(fleet, {("gn2", 3): lambda _: own})).state == ("FAST" if by < 0 else "SLOW"), "without the flag it is news"


def planned(fleet):
    """The fleet with a manifest, as `fleet plan` makes it."""
    return replace(fleet, manifest=Manifest([Node(name, 8) for name in ("gn1", "gn2", "gn3", "gn4")], PLANNED, [], "quick", [], 1.0))


def test_a_tree_that_nobody_planned_is_measured_again_on_its_nodes():
    verdict = verdict_of(troubled(folder=Path("my tree")), "gn2", 6)
    assert verdict.next == "ssh gn2 'ridgebench run --concurrent --out '\"'\"'my tree/gn2/attempt-2'\"'\"''"


def test_the_copies_of_a_node_are_one_finding():
    copies = {("gn2", n): (lambda gpu, n=n: lost(gpu, "DUPLICATE", f"cuda-{n} is the run of gn1 GPU {n}")) for n in range(8)}
    (one,) = findings.findings(assess(changed(planned(make_fleet()), copies)))
    assert (one.where, one.reason) == ("gn2, all 8 GPUs", "cuda-0 is the run of gn1 GPU 0; and 7 more like this")
    assert one.next == "ridgebench fleet submit FLEET --again" and len(findings.flagged(assess(changed(planned(make_fleet()), copies)))) == 8


STATES = [
    ("WRONG", "FAIL", 6, ("gn3", 5), "ssh gn3 dcgmi diag -r 3 -i 5"),
    ("FAILED", "FAIL", 6, ("gn3", 7), "ssh gn3 ridgebench doctor"),
    ("STARTED", "FAIL", 6, ("gn3", 0), "ssh gn3 ridgebench doctor"),
    ("MISSING", "FAIL", 4, ("gn4", 2), "ridgebench fleet submit FLEET --again"),
    ("DUPLICATE", "WARN", 5, ("gn4", 6), "ridgebench fleet submit FLEET --again"),
    ("STALE", "WARN", 5, ("gn4", 7), "ridgebench fleet submit FLEET --again"),
    ("NOT_COMPARABLE", "WARN", 5, ("gn4", 4), "ssh gn4 ridgebench doctor"),
    ("SLOW", "WARN", 3, ("gn1", 1), "ridgebench fleet submit FLEET --again"),
    ("SLOW", "FAIL", 3, ("gn2", 6), "ridgebench fleet submit FLEET --again"),
    ("SLOW", "FAIL", 4, ("gn2", 3), "ssh gn2 dcgmi diag -r 3 -i 3"),
]


@pytest.mark.parametrize(("state", "severity", "code", "where", "command"), STATES)
def test_each_state_has_its_severity_code_and_next_command(state, severity, code, where, command):
    verdict = verdict_of(planned(troubled()), *where)
    assert (verdict.state, verdict.severity, code_of(verdict), verdict.next) == (state, severity, code, command)
    assert verdict.reason


def test_the_gravest_state_gives_the_exit_code_and_the_rest_is_well():
    found = assess(troubled())
    odd = {(v.gpu.node, v.gpu.index) for v in found.verdicts if v.state != "OK"}
    assert found.code == 6 and odd == {where for _, _, _, where, _ in STATES}


@pytest.mark.parametrize(("states", "code"), [
    ((), 0), (("SLOW",), 3), (("MISSING", "SLOW"), 4), (("STALE", "MISSING"), 5), (("STARTED", "DUPLICATE"), 6),
])  # fmt: skip
def test_the_largest_code_counts(states, code):
    fleet = make_fleet()
    for index, state in enumerate(states):
        change = (lambda gpu: slowed(gpu, 0.08)) if state == "SLOW" else (lambda gpu, s=state: lost(gpu, s, "for a test"))
        fleet = changed(fleet, {("gn1", index): change})
    assert assess(fleet).code == code


def test_slow_says_where_by_how_much_and_how_sure():
    verdict = one(lambda gpu: slowed(gpu, 0.08, "dram_read", "loaded"))
    assert verdict.state == "SLOW" and not verdict.confirmed and len(verdict.slow) == 1
    assert verdict.slow[0].ratio == pytest.approx(0.92, abs=0.02) and verdict.slow[0].z < -5
    assert "below the median in dram_read/bulk/fp32 (loaded); measured once" in verdict.reason


@pytest.mark.parametrize(("by", "severity"), [(0.045, "WARN"), (0.1, "FAIL")])
def test_more_than_six_percent_fails(by, severity):
    assert one(lambda gpu: slowed(gpu, by), spread=0.002).severity == severity


def twice(first, second, seed: int = 9):
    """A GPU that was measured again: the changes of both attempts."""
    again = make_fleet(seed=seed).gpus[at(make_fleet(), "gn2", 3)]
    return lambda gpu: replace(second(again), attempt=2, earlier=first(gpu))


def same(gpu):
    return gpu


def test_slow_twice_in_one_row_is_confirmed():
    verdict = one(twice(lambda gpu: slowed(gpu, 0.08, "dram_read"), lambda gpu: slowed(gpu, 0.07, "dram_read")))
    assert verdict.state == "SLOW" and verdict.confirmed and "attempt 1 said so too" in verdict.reason
    assert code_of(verdict) == 4 and not measured_again(verdict)


def test_slow_in_another_row_the_second_time_is_not_confirmed():
    verdict = one(twice(lambda gpu: slowed(gpu, 0.08, "dram_read"), lambda gpu: slowed(gpu, 0.08, "copy_to_device")))
    assert verdict.state == "SLOW" and not verdict.confirmed and "not confirmed" in verdict.reason
    assert code_of(verdict) == 3 and measured_again(verdict)


def test_slow_only_the_first_time_is_well_with_a_note():
    verdict = one(twice(lambda gpu: slowed(gpu, 0.08, "dram_read"), same))
    assert verdict.state == "OK" and code_of(verdict) == 0
    assert verdict.notes == ["flagged once, not confirmed: attempt 1 was slow in dram_read/bulk/fp32 (isolated)"]


def test_a_third_attempt_confirms_the_first():
    first = twice(lambda gpu: slowed(gpu, 0.08, "dram_read"), same)
    third = make_fleet(seed=11).gpus[at(make_fleet(), "gn2", 3)]
    verdict = one(lambda gpu: replace(slowed(third, 0.08, "dram_read"), attempt=3, earlier=first(gpu)))
    assert verdict.confirmed


@pytest.mark.parametrize(("by", "severity", "code"), [(0.045, "INFO", 0), (0.1, "WARN", 5)])
def test_fast_is_no_fault_and_far_too_fast_is_news(by, severity, code):
    verdict = one(lambda gpu: slowed(gpu, -by, "fma_peak"), spread=0.002)
    assert (verdict.state, verdict.severity, code_of(verdict), verdict.next) == ("FAST", severity, code, "")


@pytest.mark.parametrize(("status", "state"), [("wrong", "WRONG"), ("invalid", "WRONG"), ("failed", "FAILED"), ("skipped", "OK")])
def test_one_row_that_is_not_right_decides(status, state):
    key = ("isolated", next(iter(made.ROWS)))
    bad = make_fleet().gpus[0].readings[key]._replace(status=status, rate=None, seconds=None, reason="why not")
    verdict = one(lambda gpu: replace(gpu, readings={**gpu.readings, key: bad}))
    assert verdict.state == state
    assert verdict.notes == ["1 of 12 rows were skipped"] if state == "OK" else "why not" in verdict.reason


def test_wrong_is_graver_than_what_the_files_say():
    bad = make_fleet().gpus[0].readings["isolated", CAPPED_ROW]._replace(status="wrong", reason="off")
    verdict = one(lambda gpu: replace(gpu, state="FAILED", reason="exit code 6", readings={("isolated", CAPPED_ROW): bad}))
    assert verdict.state == "WRONG"


def test_a_whole_slow_node_is_one_finding():
    fleet = changed(make_fleet(nodes=6), {("gn2", n): (lambda gpu: slowed(gpu, 0.05)) for n in range(8)})
    found = assess(fleet)
    assert {(v.gpu.node, v.of_node) for v in found.verdicts if v.state == "SLOW"} == {("gn2", True)}
    (finding,) = findings.findings(found)
    assert finding.where == "gn2, all 8 GPUs" and "the whole node is 5." in finding.reason
    assert len(findings.flagged(found)) == 8


def test_a_gpu_that_is_slower_than_its_slow_node_is_a_finding_of_its_own():
    fleet = changed(make_fleet(nodes=6), {("gn2", n): (lambda gpu: slowed(gpu, 0.05)) for n in range(8)})
    fleet = changed(fleet, {("gn2", 5): lambda gpu: slowed(gpu, 0.09)})
    found = findings.findings(assess(fleet))
    assert sorted(one.where for one in found) == ["gn2 GPU 5", "gn2, all 8 GPUs"]


def test_a_slow_node_is_confirmed_by_its_second_attempt():
    again = changed(make_fleet(nodes=6, seed=5), {("gn2", n): (lambda gpu: slowed(gpu, 0.05)) for n in range(8)})
    changes = {("gn2", n): (lambda gpu: replace(again.gpus[at(again, "gn2", gpu.index)], attempt=2, earlier=slowed(gpu, 0.05)))
               for n in range(8)}
    found = assess(changed(make_fleet(nodes=6), changes))
    assert found.code == 4 and findings.findings(found)[0].next == "ssh gn2 dcgmi diag -r 3"


def test_one_slot_that_is_slow_in_all_nodes_is_named():
    fleet = make_fleet(nodes=12)
    found = assess(changed(fleet, {(f"gn{n}", 7): (lambda gpu: slowed(gpu, 0.04)) for n in range(1, 13)}))
    assert [one.where for one in findings.findings(found) if "every node" in one.reason] == ["GPU 7 of all nodes"]


def test_a_small_group_is_not_comparable_and_the_key_is_named():
    fleet = changed(make_fleet(), {("gn4", n): (lambda gpu: replace(gpu, facts={**FACTS, "power_limit_w": 500.0})) for n in range(7)})
    verdict = verdict_of(fleet, "gn4", 0)
    assert verdict.state == "NOT_COMPARABLE" and verdict.reason == "power_limit_w: 500.0 against 700.0"
    assert verdict.next == "ssh gn4 nvidia-smi -q -d POWER -i 0"


def test_two_large_groups_are_each_judged_by_themselves():
    fleet = changed(make_fleet(), {("gn4", n): (lambda gpu: slowed(replace(gpu, facts={**FACTS, "power_limit_w": 500.0}), 0.2))
                                   for n in range(8)})
    fleet = changed(fleet, {("gn4", 2): lambda gpu: slowed(gpu, 0.08, "dram")})
    found = assess(fleet)
    assert [(v.gpu.node, v.gpu.index) for v in found.verdicts if v.state == "SLOW"] == [("gn4", 2)]
    assert {(v.gpu.node, v.severity) for v in found.verdicts if v.state == "NOT_COMPARABLE"} == {("gn4", "FAIL")}
    assert [group.differs for group in found.groups] == [(), ("power_limit_w: 500.0 against 700.0",)]


def test_few_gpus_get_no_verdict_but_a_hint():
    found = assess(changed(make_fleet(1, 4), {("gn1", 2): lambda gpu: slowed(gpu, 0.1)}))
    verdict = found.verdicts[2]
    assert verdict.state == "OK" and verdict.severity == "WARN" and "too few for a verdict" in verdict.notes[0]
    assert found.code == 0 and "ridgebench baseline check" in findings.expectation(found)[0]


def test_the_expected_false_flags_are_those_of_all_groups():
    fleet = make_fleet(6, spread=0.02)
    other = {(f"gn{node}", n): (lambda gpu: replace(gpu, facts={**FACTS, "driver": "570"})) for node in (5, 6) for n in range(8)}
    found = assess(changed(fleet, other))
    parts = [peers.expected(group.columns, 1).false_flags for group in found.groups]
    assert len(parts) == 2 and min(parts) > 0 and found.expected.false_flags == pytest.approx(sum(parts))


def test_half_of_the_data_sheet_is_the_floor_also_for_a_single_gpu():
    verdict = assess(changed(make_fleet(1, 1), {("gn1", 0): lambda gpu: slowed(gpu, 0.6, "dram_read")})).verdicts[0]
    assert verdict.state == "SLOW" and verdict.severity == "FAIL" and "of the data sheet in dram_read" in verdict.reason


def test_rows_at_the_power_limit_are_judged_per_clock():
    def throttled(gpu):
        reading = gpu.readings["loaded", CAPPED_ROW]
        slow = reading._replace(rate=0.85 * reading.rate, seconds=reading.seconds / 0.85, clock_hz=0.85 * reading.clock_hz)
        return replace(gpu, readings={**gpu.readings, ("loaded", CAPPED_ROW): slow})

    assert one(throttled).state == "OK"  # the clock is lower, the kernel is not
    verdict = one(lambda gpu: slowed(gpu, 0.08, CAPPED_ROW))
    assert verdict.state == "SLOW" and "per clock" in verdict.reason


def test_a_slow_gpu_in_another_power_state_than_its_peers_says_so():
    def in_states(own: str, others: str) -> Verdict:
        def change(gpu, state: str):
            return replace(gpu, readings={key: reading._replace(power_state=state) for key, reading in gpu.readings.items()})

        fleet = make_fleet()
        fleet = replace(fleet, gpus=[change(gpu, others) for gpu in fleet.gpus])
        return verdict_of(changed(fleet, {("gn2", 3): lambda gpu: change(slowed(gpu, 0.05, "dram_read"), own)}))

    said = in_states("capped", "full_clock").reason
    assert "; dram_read/" in said and said.endswith(": power states differ: capped 1, full_clock 31")
    assert "power" not in in_states("capped", "capped").reason + in_states(None, None).reason


def test_heat_on_one_gpu_is_noted():
    def hot(gpu):
        return replace(gpu, readings={key: r._replace(events=(*r.events, "hw_thermal_slowdown")) for key, r in gpu.readings.items()})

    verdict = one(hot)
    assert verdict.state == "OK" and verdict.severity == "WARN" and "hw_thermal_slowdown" in verdict.notes[0]
    assert verdict.next == "ssh gn2 nvidia-smi -q -d TEMPERATURE,PERFORMANCE -i 3"
    fleet = make_fleet()
    assert {v.severity for v in assess(replace(fleet, gpus=list(map(hot, fleet.gpus)))).verdicts} == {"INFO"}


def test_a_whole_missing_node_is_one_finding():
    fleet = changed(make_fleet(), {("gn3", n): (lambda gpu: lost(gpu, "MISSING", "no file")) for n in range(8)})
    (finding,) = findings.findings(assess(fleet))
    assert finding.where == "gn3, all 8 GPUs" and finding.state == "MISSING"


def test_an_empty_fleet_has_no_verdict():
    found = assess(made.Fleet(Path("FLEET"), None, []))
    assert found.code == 0 and findings.title(found) == "No GPU has been measured"
    lost_fleet = replace(make_fleet(1, 2), gpus=[lost(gpu, "MISSING", "no file") for gpu in make_fleet(1, 2).gpus])
    assert assess(lost_fleet).code == 4


def test_a_folder_with_blanks_is_quoted():
    fleet = changed(planned(make_fleet(folder=Path("my fleet"))), {("gn1", 0): lambda gpu: slowed(gpu, 0.1)})
    assert verdict_of(fleet, "gn1", 0).next == "ridgebench fleet submit 'my fleet' --again"
