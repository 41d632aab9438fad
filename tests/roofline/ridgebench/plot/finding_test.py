"""Titles say what the records show."""

from dataclasses import replace

from golden import GOLDEN

from ridgebench.plot import finding, page
from ridgebench.records import load_run
from ridgebench.view import View, make_view


def golden() -> View:
    return make_view(load_run(GOLDEN), None)


def changed(view: View, condition, **values) -> View:
    return replace(view, rows=[replace(r, **values) if condition(r) else r for r in view.rows])


def test_the_title_names_the_compute_roof_and_the_memory_roof():
    compute, memory = finding.roofline_title(golden()).split("; ")
    assert compute == "fp32 matmul reaches 88 % of this machine's FMA roof"
    assert memory == "at the memory roof: ReLU, dot"


def test_an_operation_below_the_memory_roof_is_not_said_to_be_at_it():
    slow = changed(golden(), lambda r: r.op == "dot" and r.format == "bf16",
                   fraction_of_measured_roof=0.4)
    assert finding.roofline_title(slow).endswith(
        "; at the memory roof: ReLU, dot (fp32); below it: dot, 40 %"
    )
    slower = changed(slow, lambda r: r.op == "dot" and r.format == "fp32",
                     fraction_of_measured_roof=0.2)
    assert finding.roofline_title(slower).endswith(
        "; at the memory roof: ReLU; below it: dot, 20 to 40 %"
    )
    slowest = changed(slower, lambda r: r.op == "relu", fraction_of_measured_roof=0.002)
    assert finding.roofline_title(slowest).endswith(
        "; below the memory roof: ReLU and dot, <1 to 40 %"
    )


def test_most_formats_at_the_roof_are_named_by_the_exception():
    shares = {"fp32": 1.0, "fp16": 0.95, "bf16": 0.5}
    assert finding.where(shares) == " (all but bf16)"


def test_more_than_the_roof_is_only_at_the_roof():
    noisy = changed(golden(), lambda r: r.op == "dot", fraction_of_measured_roof=1.38)
    assert finding.roofline_title(noisy) == finding.roofline_title(golden())


def test_a_row_of_the_memory_engine_has_no_compute_roof():
    view = changed(golden(), lambda r: r.op == "relu" and r.roof, engine="memory", roof={
        "flops_per_s": None, "bytes_per_s": 3.6e10, "compute_ceiling": None,
        "memory_ceiling": "dram/copy/fp32/n:100000000/steady@cpu",
    })
    assert finding.roofline_title(view) == finding.roofline_title(golden())
    row = next(r for r in view.points if r.op == "relu" and r.format == "fp32")
    assert finding.lower_bound(row) == row.bytes / 3.6e10


def test_a_library_row_is_no_finding():
    view = changed(golden(), lambda r: r.origin == "library", fraction_of_measured_roof=1.0)
    assert finding.roofline_title(view) == finding.roofline_title(golden())


def test_the_title_of_one_format_names_it():
    assert finding.roofline_title(golden().only("bf16")).startswith("bf16 matmul reaches 88 %")
    memory = changed(golden(), lambda r: r.op == "matmul", status="failed", reason="because")
    title = finding.roofline_title(memory.only("bf16"))
    assert title == "bf16 at the memory roof: ReLU, dot"


def test_without_a_roof_or_a_row_the_title_says_so():
    bare = changed(golden(), lambda r: True, fraction_of_measured_roof=None, roof=None)
    assert finding.roofline_title(bare) == "15 verified rows, and no measured roof to judge them by"
    assert "no measured roof" in finding.time_title(bare)
    launches = changed(golden(), lambda r: True, bound="launch")
    assert finding.roofline_title(launches) == (
        "15 verified rows, none bound by memory or arithmetic"
    )
    nothing = changed(golden(), lambda r: True, status="failed", reason="because")
    assert finding.roofline_title(nothing) == "No verified row to draw"


def test_the_lower_bound_is_the_larger_of_compute_and_memory_time():
    row = next(r for r in golden().points if r.op == "relu" and r.format == "fp32")
    assert finding.lower_bound(row) == row.bytes / 3.6e10
    row = next(r for r in golden().points if r.op == "matmul")
    assert finding.lower_bound(row) == row.flops / 4e11
    without = replace(row, roof={**row.roof, "flops_per_s": None})
    assert finding.lower_bound(without) is None, "traffic alone would promise too much"


def test_the_time_title_says_what_is_at_the_bound_and_how_far_the_rest_is():
    assert finding.time_title(golden()) == (
        "Each operation in its best format, hand-written: at the lower bound of its time: ReLU, dot; "
        "in multiples of it: matmul 1.14"
    )


def test_the_error_title_names_the_row_nearest_to_its_tolerance():
    assert "uses 50 % of it" in finding.error_title(golden())
    near = changed(golden(), lambda r: r.op == "dot" and r.format == "bf16",
                   verify={"error": 0.97, "tolerance": 1e-3, "elements": 1, "exact": False})
    assert "bf16 dot (vectorized), uses 97 % of it" in finding.error_title(near)


def test_storage_formats_are_named():
    assert page.storage_note(golden()) == "Storage formats: bf16 computed in fp32"
    mixed = changed(golden(), lambda r: r.op == "matmul" and r.format == "bf16", arithmetic="bf16")
    assert page.storage_note(mixed) == "Storage formats: bf16* computed in fp32 (* some rows)"
    native = changed(golden(), lambda r: True, arithmetic="bf16")
    assert page.storage_note(native.only("bf16")) == ""
    fp8 = changed(golden(), lambda r: r.format == "bf16", format="fp8_e4m3", arithmetic="fp8_e4m3")
    assert page.storage_note(fp8) == ""
    widened = changed(fp8, lambda r: r.format == "fp8_e4m3" and r.op == "dot", arithmetic="fp32")
    assert page.storage_note(widened).startswith("Storage formats: fp8* computed in fp32 (*")


def test_rows_skipped_for_one_cause_share_a_line():
    groups = page.undrawn_groups(golden())
    assert [group.head for group in groups] == [
        "wrong 1", "invalid 1", "failed 1", "skipped 2", "skipped 1", "cold, warm 1",
    ]
    named = changed(golden(), lambda r: r.status == "skipped" and r.role == "kernel",
                    reason="onednn cannot do this")
    assert [g.head for g in page.undrawn_groups(named)].count("skipped 2") == 1
