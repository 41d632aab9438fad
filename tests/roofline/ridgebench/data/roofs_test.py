"""A roof is the best that anything verified reached, in made-up rows and in the published runs."""

from dataclasses import replace

import pytest
from golden import GOLDEN, ROOT
from judged_view import judged_again

from ridgebench.data.judged import ABOVE_ROOF
from ridgebench.data.records import Row, load_run
from ridgebench.data.view import View, make_view
from ridgebench.figures.page import error_vs_speed, finding, titles
from ridgebench.figures.page.page import fits
from ridgebench.figures.page.roofs import measured_roofs
from ridgebench.pages.result_tables import MARGIN

SERVED_BY_CACHE, SHORT_ROTATION, PARTIAL_RATE = "served_by_cache", "short_rotation", "partial_rate"  # flags
PUBLISHED = sorted(path.parent for path in ROOT.glob("results/*/*/records.jsonl") if path.parent.parent.name != "local")


def rows() -> list[Row]:
    return load_run(GOLDEN).rows


def judged(some: list[Row]) -> list[Row]:
    return judged_again(replace(make_view(load_run(GOLDEN), None), rows=some)).rows


def find(some: list[Row], op: str, name: str = "fp32", technique: str = "") -> Row:
    kind = (op, name, True)
    return next(row for row in some if (row.op, row.format, row.drawable) == kind and technique in row.technique)


def faster(row: Row, factor: float) -> Row:
    """The row at this share of its memory roof."""
    rate = factor * row.roof["bytes_per_s"]
    seconds = row.bytes / rate
    times = dict.fromkeys(("time_median_s", "time_ci_low_s", "time_ci_high_s"), seconds)
    return replace(row, bytes_per_s=rate, flops_per_s=row.flops / seconds, fraction_of_measured_roof=factor, **times)


def with_rate(factor: float) -> list[Row]:
    victim = find(rows(), "relu")
    return judged([faster(row, factor) if row.id == victim.id else row for row in rows()])


def test_a_row_above_its_roof_raises_it_for_all_rows_of_the_mix_and_is_flagged():
    after = with_rate(1.05)
    relu, other, dot = find(after, "relu"), find(after, "relu", "bf16"), find(after, "dot")
    assert ABOVE_ROOF in relu.flags and relu.fraction_of_measured_roof == pytest.approx(1)
    assert ABOVE_ROOF not in other.flags
    before = find(rows(), "relu", "bf16")
    assert other.roof["bytes_per_s"] == pytest.approx(1.05 * before.roof["bytes_per_s"])
    assert other.fraction_of_measured_roof == pytest.approx(before.fraction_of_measured_roof / 1.05, rel=1e-3)
    assert dot == find(judged(rows()), "dot"), "another mix"
    ceiling = next(row for row in after if row.id == relu.roof["memory_ceiling"])
    assert (ceiling.raised, ceiling.raised_by) == (pytest.approx(1.05), relu.id)


def test_a_row_within_the_margin_changes_nothing():
    assert with_rate(1 + MARGIN / 2)[-1] == judged(rows())[-1]
    assert not any(ABOVE_ROOF in row.flags or row.raised != 1 for row in with_rate(1 + MARGIN / 2))


def test_only_the_steady_regime_raises_a_roof():
    victim = find(rows(), "relu")
    warm = [replace(faster(row, 2.0), regime="warm") if row.id == victim.id else row for row in rows()]
    assert not any(row.raised != 1 for row in judged(warm))


@pytest.mark.parametrize(("flags", "of_ceilings", "raises"), [
    ([], [], True),
    ([SHORT_ROTATION, SERVED_BY_CACHE], [], False),
    ([SHORT_ROTATION], [], False),  # older records
    ([SHORT_ROTATION], [SHORT_ROTATION], True),  # the host limits the rotation of its ceilings too
    ([SHORT_ROTATION, SERVED_BY_CACHE], [SHORT_ROTATION], False),
])
def test_a_row_that_caches_may_serve_raises_no_roof_and_heads_no_title(flags, of_ceilings, raises):
    victim = find(rows(), "relu")
    some = [replace(row, flags=of_ceilings) if row.saturates == "memory" else replace(row, flags=[]) for row in rows()]
    after = judged([replace(faster(row, 2.0), flags=flags) if row.id == victim.id else row for row in some])
    row = next(row for row in after if row.id == victim.id)
    assert any(row.raised != 1 for row in after) == raises == (ABOVE_ROOF in row.flags)
    for bound, served in (("memory", not raises), ("compute", False)):
        again = judged([replace(one, bound=bound) if one.id == victim.id else one for one in after])
        assert [one.served_by_cache for one in again if one.id == victim.id] == [served]


@pytest.mark.parametrize(("op", "raised"), [("matmul", True), ("gelu", False)])
def test_the_flops_of_gelu_are_a_convention_and_raise_no_engine(op, raised):
    victim = find(rows(), "matmul", technique="packed")
    fast = {"op": op, "flops_per_s": 1.5 * victim.roof["flops_per_s"]}
    after = judged([replace(row, **fast) if row.id == victim.id else row for row in rows()])
    assert any(row.raised == pytest.approx(1.5) for row in after) == raised
    assert ABOVE_ROOF in next(row for row in after if row.id == victim.id).flags


def is_roof(ceiling: Row) -> bool:
    return next(row.is_roof for row in judged([ceiling if row.id == ceiling.id else row for row in rows()]) if row.id == ceiling.id)


def test_a_burst_and_an_instruction_below_the_full_rate_are_no_roofs():
    ceiling = next(row for row in rows() if row.saturates == "fma")
    assert is_roof(ceiling) and is_roof(replace(ceiling, burst=False, technique="burst_mode"))
    assert not is_roof(replace(ceiling, burst=True))
    assert not is_roof(replace(ceiling, burst=None, technique="wgmma_burst")), "older records say it by the name"
    assert not is_roof(replace(ceiling, flags=[PARTIAL_RATE]))


def test_the_special_ceiling_bounds_the_time():
    row = find(rows(), "relu")
    special = {"special_results": 3e9, "special_results_per_s": 1e9}
    after = judged([replace(row, roof={**row.roof, **special}) if one.id == row.id else one for one in rows()])
    assert next(one.least_time_s for one in after if one.id == row.id) == 3.0


@pytest.fixture(params=PUBLISHED, ids=lambda folder: folder.parent.name, scope="module")
def published(request) -> View:
    return make_view(load_run(request.param), None)


def test_no_published_row_exceeds_its_roof_unflagged(published):
    for row in published.points:
        if row.roof is None:
            continue
        for key in ("flops_per_s", "bytes_per_s"):
            rate, roof = getattr(row, key), row.roof[key]
            if rate and roof and (key == "bytes_per_s" or row.engine != "memory"):
                assert rate <= (1 + MARGIN) * roof, row.id
    drawn = measured_roofs(published)
    fastest = max(roof.value for roof in drawn.memory)
    highest = max(roof.value for roof in drawn.compute)
    for row in published.points:
        assert (row.bytes_per_s or 0) <= (1 + MARGIN) * fastest, row.id
        assert row.engine == "memory" or (row.flops_per_s or 0) <= (1 + MARGIN) * highest, row.id


def test_the_titles_of_published_figures_fit(published):
    shown = [finding.roofline_title(published), titles.time_title(published), error_vs_speed.title(published)]
    for name in published.formats:
        shown.append(finding.roofline_title(published.only(name)))
    assert all(map(fits, shown)), shown


def test_a_title_claims_a_share_of_settled_roofs_only(published):
    for view in (published, *map(published.only, published.formats)):
        for row in finding.compute_bound(view):
            assert not row.naive and not view.unsettled(row)
            kind = (row.op, row.format, row.engine, "hand")
            rivals = [r for r in view.points if (r.op, r.format, r.engine, r.origin) == kind]
            assert row.flops_per_s >= (1 - finding.NOISE) * max(r.flops_per_s for r in rivals)


def test_a_ridge_is_that_of_the_records(published):
    for view in (published, *map(published.only, published.formats)):
        ridges = {
            row.roof["flops_per_s"] / row.roof["bytes_per_s"]
            for row in view.points
            if row.roof and row.roof["flops_per_s"] and row.roof["bytes_per_s"]
        }
        for roof in measured_roofs(view).compute:
            if roof.formats[0] in view.formats and roof.mix:
                assert any(roof.ridge == pytest.approx(ridge) for ridge in ridges), (view.format, roof)


def test_tf32x3_has_a_third_of_tf32_s_roof_where_an_older_record_has_none():
    view = make_view(load_run(next(f for f in PUBLISHED if "h100" in f.parent.name)), None).only("tf32x3")
    assert finding.roofline_title(view) == "2 verified rows; --budget cut the samples of the best ones"
    whole = judged_again(replace(view, environment=view.environment | {"budget_s": None}))
    assert finding.roofline_title(whole) == "tf32x3 matmul reaches 77 % of this machine's tensor roof"
    assert [roof.name for roof in measured_roofs(view).compute] == ["tf32x3 tensor", "fp32 fma"]


def test_on_the_h200_the_librarys_relu_is_the_copy_roof():
    view = make_view(load_run(next(f for f in PUBLISHED if "h200" in f.parent.name)), None)
    raised = [row for row in view.ceilings if row.raised_by]
    assert [(row.op, row.raised_by.split("/")[1]) for row in raised] == [("dram_copy", "cub")]
    assert sum(ABOVE_ROOF in row.flags for row in view.points) == 7
