"""Titles say what the records show."""

from dataclasses import replace

import pytest
from golden import GOLDEN
from judged_view import judged_again

from ridgebench.base import units
from ridgebench.data.program import ask
from ridgebench.data.records import Row, load_run
from ridgebench.data.view import View, make_view
from ridgebench.figures.page import doubt, error_vs_speed, finding, page, panel, points, titles


def golden() -> View:
    return make_view(load_run(GOLDEN), None)


def changed(view: View, condition, **values) -> View:
    return judged_again(replace(view, rows=[replace(r, **values) if condition(r) else r for r in view.rows]))


def test_the_title_names_the_compute_roof_and_the_memory_roof():
    compute, memory = finding.roofline_title(golden()).split("; ")
    assert compute == "fp32 matmul reaches 88 % of this machine's FMA roof"
    assert memory == "at the memory roof: ReLU, dot"


def test_an_operation_below_the_memory_roof_is_not_said_to_be_at_it():
    slow = changed(golden(), lambda r: r.op == "dot" and r.format == "bf16",
                   fraction_of_measured_roof=0.4)
    assert finding.roofline_title(slow).endswith(
        "; at the memory roof: ReLU, dot (fp32); below it: bf16 dot, 40 %"
    )
    slower = changed(slow, lambda r: r.op == "dot" and r.format == "fp32",
                     fraction_of_measured_roof=0.2)
    assert finding.roofline_title(slower).endswith(
        "; at the memory roof: ReLU; furthest below it: fp32 dot, 20 %"
    )
    slowest = changed(slower, lambda r: r.op == "relu", fraction_of_measured_roof=0.002)
    assert finding.roofline_title(slowest).endswith(
        "; every operation below the memory roof; furthest below it: fp32 ReLU, <1 %"
    )
    assert finding.roofline_title(slow.only("bf16")).endswith("at the memory roof: ReLU; below it: dot, 40 %")


def test_most_formats_at_the_roof_are_named_by_the_exception():
    drawn = ["fp32", "fp16", "bf16", "fp8_e4m3", "fp8_e5m2"]
    assert finding.which(["fp32", "fp16", "fp8_e4m3", "fp8_e5m2"], drawn) == " (all but bf16)"
    assert finding.which(drawn[:3], drawn) == " (all but fp8)" and finding.which(drawn[3:], drawn) == " (fp8)"
    assert finding.which(drawn[:4], drawn) == " (all but fp8_e5m2)" and finding.which(drawn, drawn) == ""
    assert finding.which(["bf16"], ["fp16", "bf16"]) == " (bf16)" and finding.which(["fp8_e4m3"], ["fp8_e4m3"]) == ""


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
    assert row.least_time_s == row.bytes / 3.6e10


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
    assert "no measured roof" in titles.time_title(bare)
    launches = changed(golden(), lambda r: True, bound="launch")
    assert finding.roofline_title(launches) == (
        "15 verified rows, none bound by memory or arithmetic"
    )
    nothing = changed(golden(), lambda r: True, status="failed", reason="because")
    assert finding.roofline_title(nothing) == "No verified row to draw"


def test_the_lower_bound_is_the_larger_of_compute_and_memory_time():
    row = next(r for r in golden().points if r.op == "relu" and r.format == "fp32")
    assert row.least_time_s == row.bytes / 3.6e10
    row = next(r for r in golden().points if r.op == "matmul")
    assert row.least_time_s == row.flops / 4e11
    bare = changed(golden(), lambda r: r.id == row.id, roof={**row.roof, "flops_per_s": None})
    without = next(r for r in bare.points if r.id == row.id)
    assert without.least_time_s is None, "traffic alone would promise too much"


def test_the_time_title_says_how_far_the_best_rows_are_from_the_least_time():
    assert titles.time_title(golden()) == (
        "At best, ReLU takes 1.03, dot 1.05 and matmul 1.14 times the least time by the roofs"
    )


def with_control(view: View, op: str, change: float) -> View:
    """The view with a control of the ceilings of an operation that differs by this share."""
    again = [
        replace(row, id=f"{row.id}:control", role="control",
                **{key: value * (1 + change) for key in ("flops_per_s", "bytes_per_s") if (value := getattr(row, key))})
        for row in view.ceilings if row.id.startswith(op)
    ]
    return judged_again(replace(view, rows=view.rows + again))


def test_titles_claim_nothing_of_a_roof_whose_control_moved():
    calm = with_control(golden(), "dram/copy", 0.019)
    assert finding.roofline_title(calm) == finding.roofline_title(golden())
    moved = with_control(golden(), "dram/copy", 1.07)
    assert finding.roofline_title(moved) == (
        "fp32 matmul reaches 88 % of this machine's FMA roof"
    )
    assert doubt.doubt(moved) == "The memory roofs drifted during the run: controls moved by 107 %" and not doubt.doubt(golden())
    assert titles.time_title(moved) == "At best, matmul takes 1.14 times the least time by the roofs"
    both = with_control(moved, "fma", -0.5)
    assert finding.roofline_title(both) == "15 verified rows under roofs that drifted"
    assert titles.time_title(both) == "Time of 15 verified rows; the roofs of the best ones drifted"
    assert doubt.doubt(both) == "The memory and FMA roofs drifted during the run: controls moved by 50 to 107 %"
    assert finding.compute_bound(both) == []


def test_a_naive_row_heads_no_figure():
    naive = replace(golden(), rows=[row for row in golden().rows if row.op != "matmul" or row.naive])
    assert "matmul" not in finding.roofline_title(naive)


def packed(view: View) -> Row:
    return next(row for row in view.points if row.technique == "packed" and row.flops > 1e9)


def test_a_share_by_a_roof_that_moved_is_marked_and_not_written_at_its_point():
    view = with_control(golden(), "fma", 0.5)
    row = packed(view)
    assert panel.share_text(row, view).startswith("~") and points.text_of(row, view) == "fp32 matmul"
    row = packed(golden())
    assert points.text_of(row, golden()).endswith("88 %")
    raised = replace(row, flags=["above_roof"], fraction_of_measured_roof=1.004)
    assert panel.share_text(raised, golden()) == "100↑"


def test_a_row_above_a_roof_that_it_may_not_raise_has_its_share():
    cut = replace(packed(golden()), fraction_of_measured_roof=2.6, cut_by_budget=True, flags=["few_samples"])
    assert panel.share_text(cut, golden()) == "260"


def with_errors(shares: dict[str, float]) -> View:
    """Golden rows whose matmul of each format errs by a share of a typical output: the root of its number of terms."""
    def verified(row: Row) -> Row:
        absolute = shares[row.format] * row.shape["k"] ** 0.5
        return replace(row, verify={"error": 0.5, "tolerance": 2 * absolute, "elements": 1, "exact": False})

    rows = [verified(row) if row.op == "matmul" and row.drawable else row for row in golden().rows]
    return judged_again(replace(golden(), rows=rows))


def test_the_title_on_errors_says_what_a_smaller_format_gains_and_costs():
    view = with_errors({"fp32": 2.0**-20, "bf16": 2.0**-8})
    view = changed(view, lambda r: r.op == "matmul" and r.format == "bf16" and r.drawable, flops_per_s=1e13)
    products = [row for row in view.points if row.op == "matmul" and not row.naive]
    rows = {row.format: row for row in sorted(products, key=lambda row: row.flops_per_s or 0)}
    for row in rows.values():
        assert error_vs_speed.error_of(view, row) == pytest.approx({"fp32": 2.0**-20, "bf16": 2.0**-8}[row.format])
    faster = rows["bf16"].flops_per_s / rows["fp32"].flops_per_s
    assert error_vs_speed.title(view) == (f"bf16 matmul is {units.digits(faster)} times as fast as fp32, and errs by 2⁻⁸ of a typical "
                                          "output in place of 2⁻²⁰")
    cut = changed(view, lambda r: r.op == "matmul", flags=["few_samples"])
    budgeted = described(cut, budget_s=60.0)
    assert error_vs_speed.title(budgeted) == "matmul errs by 2⁻²⁰ of a typical output in fp32 and 2⁻⁸ in bf16", "speeds are no finding"


def test_roundings_are_half_the_epsilon_of_the_program():
    told = {one["format"]: one["epsilon"] for one in ask("info")["formats"]}
    assert {name: 2 * 2.0**power for name, power in error_vs_speed.ROUNDING.items() if name in told} == pytest.approx(
        {name: value for name, value in told.items() if name in error_vs_speed.ROUNDING})
    assert {"fp32", "tf32", "fp16", "bf16", "fp8_e4m3", "fp8_e5m2"} <= told.keys()


def test_what_is_computed_in_another_format_is_named():
    assert page.storage_note(golden()) == "bf16: computed in fp32"
    assert page.storage_note(golden().only("bf16")) == "relu, dot and matmul in bf16: computed in fp32"
    mixed = changed(golden(), lambda r: r.op == "relu" and r.format == "bf16" and r.naive, arithmetic="bf16")
    assert page.storage_note(mixed) == "bf16: some rows computed in fp32"
    assert page.storage_note(mixed.only("bf16")) == "dot, matmul and some of relu in bf16: computed in fp32"
    native = changed(golden(), lambda r: True, arithmetic="bf16")
    assert page.storage_note(native.only("bf16")) == ""
    fp8 = changed(golden(), lambda r: r.format == "bf16", format="fp8_e4m3", arithmetic="fp8_e4m3")
    assert page.storage_note(fp8) == ""
    widened = changed(fp8, lambda r: r.format == "fp8_e4m3" and r.op == "dot", arithmetic="fp32")
    assert page.storage_note(widened.only("fp8_e4m3")) == "dot in fp8_e4m3: computed in fp32"


def test_skipped_cases_are_counted_and_all_other_results_listed_by_reason():
    groups = page.undrawn_groups(golden())
    assert [group.head for group in groups] == ["wrong 1", "invalid 1", "failed 1", "cold, warm 1"]
    assert page.unserved([golden()]) == "3 cases not served: see the report"
    one = changed(golden(), lambda r: r.status == "skipped" and r.op != "dot", status="failed", reason="because")
    assert page.unserved([one]) == "1 case not served: see the report"
    assert [group.head for group in page.undrawn_groups(one)].count("failed 2") == 1
    all_served = changed(golden(), lambda r: r.status == "skipped", status="failed", reason="because")
    assert page.unserved([all_served]) == ""


def described(view: View, **environment) -> View:
    return judged_again(replace(view, environment=view.environment | environment))


def test_no_title_rests_on_a_run_that_did_not_end():
    for change, why in (({"ended": None}, "the run has no end"), ({"interrupted": True}, "the run was interrupted")):
        view = described(golden(), **change)
        for title in (finding.roofline_title, titles.time_title, error_vs_speed.title):
            assert title(view) == "15 verified rows of an unfinished run"
        assert doubt.doubt(view) == f"No claim: {why}"
        assert finding.roofline_title(view.only("bf16")) == "bf16: 7 verified rows of an unfinished run"
        assert "unfinished run" in page.subtitle(view) and finding.compute_bound(view) == []
    assert "cut off" in doubt.doubt(judged_again(replace(golden(), torn=True)))
    foreign = described(golden(), ended=None, imported={"tool": "other"})
    assert finding.roofline_title(foreign) == finding.roofline_title(golden())


def test_a_row_that_the_budget_cut_heads_no_title():
    cut = changed(golden(), lambda r: r.op == "matmul", flags=["few_samples"])
    assert finding.roofline_title(cut) == finding.roofline_title(golden()), "the profile asks for no more samples"
    budgeted = described(cut, budget_s=60.0)
    assert finding.roofline_title(budgeted) == "At the memory roof: ReLU, dot"
    assert "matmul" not in titles.time_title(budgeted)
    every = described(changed(golden(), lambda r: True, flags=["few_samples"]), budget_s=60.0)
    assert finding.roofline_title(every) == "15 verified rows; --budget cut the samples of the best ones"
    assert titles.time_title(every) == "Time of 15 verified rows; --budget cut the samples of the best ones"


def test_what_the_run_recorded_counts_and_not_the_rows():
    view = with_control(golden(), "fma", 0.5)
    row = packed(view)
    calm = described(view, controls=[], doubted={})
    assert panel.share_text(packed(calm), calm) == "88" and finding.roofline_title(calm) == finding.roofline_title(golden())
    ceiling = row.roof["compute_ceiling"]
    control = {"ceiling": ceiling, "control": f"{ceiling}:control", "change": -0.031, "moved": True, "earlier": False}
    doubted = described(golden(), controls=[control], doubted={row.id: [ceiling]})
    assert panel.share_text(packed(doubted), doubted) == "~88" and doubted.moved == {ceiling: -0.031}
    assert doubt.doubt(doubted) == "The FMA roof drifted during the run: its control moved by 3 %"
    earlier = replace(doubted, rows=[one for one in doubted.rows if one.id != ceiling])
    assert "the earlier roof drifted during the run: its control moved by 3 %" in doubt.drift(earlier)
