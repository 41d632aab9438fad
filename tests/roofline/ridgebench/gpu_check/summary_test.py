"""The short table of a run on a GPU: what puts its rows in doubt comes first, and the marks of the figures are used."""

from dataclasses import replace

from golden import GOLDEN
from ridgebench.data.records import load_run
from ridgebench.gpu_check.summary import tuning, best, lines


def text(change=lambda row: row, **environment) -> str:
    run = load_run(GOLDEN)
    return "\n".join(lines([change(row) for row in run.rows], run.environment | environment))


def line(shown: str, beginning: str) -> str:
    return next(one for one in shown.splitlines() if one.startswith(beginning))


def test_a_run_that_did_not_end_is_no_result():
    assert text().startswith("statuses: ")
    assert text(interrupted=True).startswith("UNFINISHED: the run was interrupted; no row below is a result\n")
    assert text(ended=None).startswith("UNFINISHED: the run has no end")


def test_shares_of_a_roof_that_moved_are_marked():
    row = next(row for row in load_run(GOLDEN).rows if row.drawable and row.op == "relu" and row.origin == "hand" and not row.naive)
    ceiling = row.roof["memory_ceiling"]
    moved = {"ceiling": ceiling, "control": f"{ceiling}:control", "change": -0.04, "moved": True, "earlier": False}
    shown = text(controls=[moved], doubted={row.id: [ceiling]})
    assert f"CONTROL MOVED: the rate of {ceiling} changed by -4.0 %" in shown
    assert "~" in line(shown, f"relu/{row.format}") and "~" not in line(text(), f"relu/{row.format}")


def test_a_row_that_the_budget_cut_is_named_only_where_there_is_no_other():
    run = load_run(GOLDEN)
    sizes: dict[tuple, list] = {}
    for row in run.rows:
        if row.drawable and row.origin == "hand" and row.regime == "steady":
            sizes.setdefault((row.op, row.format, str(row.shape)), []).append(row)
    several = next(rows for rows in sizes.values() if len(rows) > 1)
    fastest = max(several, key=lambda row: row.rate)
    cut = [replace(row, flags=["few_samples"]) if row is fastest else row for row in several]
    assert best(cut, "hand", run.environment).id == fastest.id, "the profile asks for no more samples"
    assert best(cut, "hand", run.environment | {"budget_s": 60.0}).id != fastest.id
    assert best(cut[:1], "hand", run.environment | {"budget_s": 60.0}).id == cut[0].id


NAMES = (("tiled", "hand"), ("cublas", "library"), ("cublas_tuned", "library"))


def rivals(**changes) -> list:
    """Rows of the same work, of a hand-written technique and a library's; `changes` has a list of values for each key."""
    run = load_run(GOLDEN)
    one = next(row for row in run.rows if row.drawable and row.op == "matmul" and row.regime == "steady")
    found = [replace(one, technique=name, origin=origin) for name, origin in NAMES]
    return [replace(row, **dict(zip(changes, values))) for row, values in zip(found, zip(*changes.values()))]


def test_a_ratio_of_two_power_states_says_so():
    environment = load_run(GOLDEN).environment
    alike, apart = ("\n".join(lines(rivals(power_state=states), environment)) for states in (("capped", "capped"), ("capped", "full_clock")))
    assert line(alike, "matmul").endswith(" 1.000")
    assert line(apart, "matmul").endswith(" 1.000, power states differ: capped 1, full_clock 1")
    (tuned,) = tuning(rivals(power_state=("capped", "capped", "mixed")))
    assert tuned.endswith(", power states differ: capped 1, mixed 1")


def test_a_row_that_the_budget_cut_has_no_ratio():
    rows = rivals(flags=(["few_samples"], []))
    environment = load_run(GOLDEN).environment
    assert line("\n".join(lines(rows, environment)), "matmul").endswith(" 1.000")
    assert line("\n".join(lines(rows, environment | {"budget_s": 9.0})), "matmul").endswith(" -")


def test_a_ratio_says_whose_launches_may_overlap():
    environment = load_run(GOLDEN).environment
    one, both = ("\n".join(lines(rivals(early=early), environment)) for early in ((True, False), (True, True)))
    assert line(one, "matmul").endswith(" 1.000, launches of tiled may overlap")
    assert line(both, "matmul").endswith(" 1.000")
