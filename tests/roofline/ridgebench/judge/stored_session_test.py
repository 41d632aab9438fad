"""Sessions whose times are made up: verdicts, exit codes, reasons not to judge, reports."""

import json
import shutil

import pytest
from ridgebench.judge.gate_cli import main
from synthetic_session import UNTIMED, log_ratios, retimed, write_session


def judge(folder, *arguments) -> int:
    try:
        return main(["--session", str(folder), *map(str, arguments)])
    except SystemExit as stop:
        return stop.code


def report(folder, tmp_path, *arguments) -> tuple[int, dict]:
    path = tmp_path / "report.json"
    code = judge(folder, "--json", path, *arguments)
    return code, json.loads(path.read_text())


def verdicts(told: dict) -> dict[str, str]:
    return {row["id"]: row["verdict"] for row in told["rows"]}


def test_a_loss_of_five_per_cent_must_go_red(tmp_path, capsys):
    folder = write_session(tmp_path / "session", log_ratios(0.05, rows=3))
    assert judge(folder) == 4
    assert "3 rows: 3 WORSE" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "code", "verdict"),
    [(0, 0, "SAME"), (0.02, 4, "WORSE"), (-0.02, 0, "BETTER"), (0.05, 4, "WORSE")],
)
def test_verdicts_and_exit_codes(change, code, verdict, tmp_path):
    folder = write_session(tmp_path / "session", log_ratios(change, rows=2))
    found, told = report(folder, tmp_path)
    assert found == told["exit_code"] == code
    assert set(verdicts(told).values()) == {verdict}
    assert told["is_verdict"] is True and told["rows"][0]["pairs"] == 20
    assert told["rows"][0]["change"] == pytest.approx(change, abs=0.004)
    assert told["rows"][0]["p_adjusted"] < 0.01 or change <= 0


def test_too_few_pairs_leave_it_undecided(tmp_path, capsys):
    ratios = log_ratios(0.05, pairs=9)
    assert judge(write_session(tmp_path / "session", ratios)) == 3
    assert "9 pairs; the first look takes 10" in capsys.readouterr().out
    assert judge(write_session(tmp_path / "session", ratios[:1])) == 3
    assert judge(write_session(tmp_path / "session", ratios[:0])) == 2


def test_the_tight_preset_detects_one_per_cent(tmp_path):
    folder = write_session(tmp_path / "session", log_ratios(0.01, pairs=40, spread=0.002))
    assert report(folder, tmp_path, "--preset", "tight")[0] == 4
    same = write_session(tmp_path / "same", log_ratios(0.004, pairs=40, spread=0.004))
    assert report(same, tmp_path, "--preset", "standard")[0] == 0


@pytest.mark.parametrize(
    ("change", "verdict", "code"), [(0.145, "WORSE", 4), (0.073, "UNDECIDED", 3), (0, "UNDECIDED", 3)]
)
def test_a_busy_machine_passes_nothing(change, verdict, code, tmp_path, capsys):
    folder = write_session(tmp_path / "session", log_ratios(change, pairs=40, spread=0.15, seed=4))
    found, told = report(folder, tmp_path)
    assert (found, told["rows"][0]["verdict"]) == (code, verdict)
    if code == 3:
        reason = told["rows"][0]["reason"]
        assert "hides the answer; about " in reason and "would decide" in reason
        assert "UNDECIDED is not a pass. A quieter machine decides" in capsys.readouterr().out


def test_every_time_times_a_constant_changes_no_verdict(tmp_path):
    ratios = log_ratios(0.007, rows=4, pairs=40)

    def scale(arm, pair, records, environment):
        for one in records:
            one.update(retimed(one, [1e3 * seconds for seconds in one["samples_s"]]))

    plain = report(write_session(tmp_path / "a", ratios), tmp_path)[1]
    scaled = report(write_session(tmp_path / "b", ratios, scale), tmp_path)[1]
    assert verdicts(plain) == verdicts(scaled)
    for one, other in zip(plain["rows"], scaled["rows"]):
        assert one["change"] == pytest.approx(other["change"])


def test_more_samples_within_a_process_prove_nothing(tmp_path):
    ratios = log_ratios(0.006, rows=4)

    def duplicate(arm, pair, records, environment):
        for one in records:
            one["samples_s"] = one["samples_s"] * 50

    plain = report(write_session(tmp_path / "a", ratios), tmp_path)[1]
    repeated = report(write_session(tmp_path / "b", ratios, duplicate), tmp_path)[1]
    assert plain["rows"] == repeated["rows"]


def test_swapping_the_arms_of_a_session_turns_worse_into_better(tmp_path):
    ratios = log_ratios(0.03, rows=2)
    swapped = report(write_session(tmp_path / "session", -ratios), tmp_path)
    assert swapped[0] == 0 and set(verdicts(swapped[1]).values()) == {"BETTER"}


@pytest.mark.parametrize(("without", "verdict", "code"), [("candidate", "MISSING", 4), ("baseline", "NEW", 0)])
def test_a_row_on_one_side_only(without, verdict, code, tmp_path):
    def drop(arm, pair, records, environment):
        if arm == without:
            del records[0]

    folder = write_session(tmp_path / "session", log_ratios(0, rows=2), drop)
    found, told = report(folder, tmp_path)
    assert found == code
    assert verdicts(told) == {"relu/r0@cpu": verdict, "relu/r1@cpu": "SAME"}


def test_a_row_that_the_baseline_lacks_in_one_pair_is_neither_new_nor_lost_by_the_candidate(tmp_path):
    def drop(arm, pair, records, environment):
        if (arm, pair) == ("baseline", 7):
            del records[0]

    code, told = report(write_session(tmp_path / "session", log_ratios(0, rows=2), drop), tmp_path)
    assert (code, verdicts(told)["relu/r0@cpu"]) == (3, "UNDECIDED")
    assert told["rows"][0]["reason"] == "pair 7: the baseline has no such row"


@pytest.mark.parametrize("turns", ["process", "samples"])
def test_times_at_the_ends_of_double_precision(turns, tmp_path):
    def stretch(arm, pair, records, environment):
        none = {"flops_per_s": None, "bytes_per_s": None, "intensity_flop_per_byte": None}
        seconds = 1e308 if arm == "candidate" else 5e-324
        records[0].update(retimed(records[0] | none | {"flops": 0, "bytes": 0}, [seconds] * 7))

    folder = write_session(tmp_path / "session", log_ratios(0, pairs=20), stretch, turns=turns)
    assert judge(folder, "--json", tmp_path / "report.json") == 4
    json.loads((tmp_path / "report.json").read_text(), parse_constant=pytest.fail)


def test_a_comparison_of_new_rows_alone_judged_nothing(tmp_path, capsys):
    def rename(arm, pair, records, environment):
        if arm == "candidate":
            records[0]["id"] = "relu/r1@cpu"
        else:
            records[0].update(UNTIMED, id="relu/r1@cpu", status="skipped", reason="not here")

    assert judge(write_session(tmp_path / "session", log_ratios(0), rename)) == 3
    assert "Nothing was judged" in capsys.readouterr().out


def test_a_row_that_goes_wrong_once_has_failed(tmp_path):
    def spoil(arm, pair, records, environment):
        if arm == "candidate" and pair == 13:
            records[0].update(UNTIMED, status="wrong", reason="moved")

    folder = write_session(tmp_path / "session", log_ratios(0, rows=2), spoil)
    code, told = report(folder, tmp_path)
    assert code == 6 and verdicts(told)["relu/r0@cpu"] == "FAILED"


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        ({"bound": "launch"}, "bound by its launch"),
        ({"flags": ["below_one_wave"]}, "less than one wave of thread blocks"),
    ],
)
def test_rows_that_say_nothing_about_the_code_are_not_gated(edit, reason, tmp_path):
    def change(arm, pair, records, environment):
        records[0].update(edit)

    code, told = report(write_session(tmp_path / "s", log_ratios(0.1), change), tmp_path)
    assert code == 3, "no row was judged"
    assert verdicts(told) == {"relu/r0@cpu": "NOT_GATED"} and told["rows"][0]["reason"] == reason
    code, told = report(write_session(tmp_path / "s", log_ratios(0, rows=2), change), tmp_path)
    assert code == 0, "another row was"


@pytest.mark.parametrize(
    "cause",
    [{"telemetry": {"clock_events": ["hw_thermal_slowdown"]}}, {"telemetry": {"other_processes": 1}}, {"flags": ["cpu_throttled"]}],
)
def test_a_cause_from_outside_that_struck_one_arm(cause, tmp_path):
    def strike(arms):
        def change(arm, pair, records, environment):
            if arm in arms and pair == 3:
                records[0].update(cause)

        return change

    ratios = log_ratios(0.05, rows=2)
    code, told = report(write_session(tmp_path / "s", ratios, strike(["candidate"])), tmp_path)
    assert code == 5 and verdicts(told) == {"relu/r0@cpu": "NOT_COMPARABLE", "relu/r1@cpu": "WORSE"}
    both = strike(["baseline", "candidate"])
    assert report(write_session(tmp_path / "s", ratios, both), tmp_path)[0] == 4


def test_a_power_cap_is_an_outcome_and_cycles_tell_it_from_the_code(tmp_path):
    def slow_clock(arm, pair, records, environment):
        records[0]["clock_hz"] = 1.5e9 / (1.05 if arm == "candidate" else 1)
        records[0]["telemetry"] = {"clock_events": ["sw_power_cap"] if arm == "candidate" else []}

    folder = write_session(tmp_path / "session", log_ratios(0.05), slow_clock)
    code, told = report(folder, tmp_path)
    assert code == 4
    assert told["rows"][0]["verdict"] == "WORSE"
    assert told["rows"][0]["cycles"]["verdict"] == "SAME"
    assert told["rows"][0]["cycles"]["change"] == pytest.approx(0, abs=0.004)


@pytest.mark.parametrize("when", ["always", "in mid session"])
def test_a_key_that_differs_between_the_arms_or_over_time(when, tmp_path, capsys):
    def change(arm, pair, records, environment):
        if (arm == "candidate" and when == "always") or (pair > 9 and when != "always"):
            environment["fill"] = "zeros"

    folder = write_session(tmp_path / "session", log_ratios(0, rows=2), change)
    assert judge(folder) == 5
    assert "NOT_COMPARABLE: fill: " in capsys.readouterr().err
    assert judge(folder, "--allow-mismatch", "fill") == 0


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": "other"}', '{"schema": NaN}'])
def test_a_session_that_is_none(text, tmp_path, capsys):
    (tmp_path / "session.json").write_text(text)
    assert judge(tmp_path) == 2
    assert capsys.readouterr().err.startswith(f"gate: {tmp_path}/session.json: not a session")


@pytest.fixture(name="hostile")
def hostile_fixture(tmp_path):
    """One row of each verdict that a session can give, under names that try to escape."""
    names = ["</failure>|<b>", "::error::\n%0A\x1b[31m", "a,b:c\x00", "`x`|y", "rtl ‮"]
    ratios = log_ratios(0, rows=5, pairs=40)
    ratios[:, 0] += 0.05
    ratios[:, 1] -= 0.05
    ratios[:, 2] *= 4.2

    def rename(arm, pair, records, environment):
        for one, name in zip(records, names):
            one["id"] = name
        if arm == "candidate":
            del records[3]

    return write_session(tmp_path / "session", ratios, rename)


def test_the_terminal_shows_the_worst_first_and_no_control_characters(hostile, capsys):
    assert judge(hostile) == 4
    lines = capsys.readouterr().out.splitlines()
    shown = [line.split()[0] for line in lines[3:8]]
    assert shown[:2] == ["WORSE", "MISSING"] and "BETTER" in shown
    assert all(line.isprintable() for line in lines)


@pytest.mark.parametrize(("copied", "of"), [("02-baseline", "01-baseline"), ("03-candidate", "03-baseline"), ("04-candidate", "01-candidate")])
def test_a_copy_is_no_other_process(tmp_path, capsys, copied, of):
    folder = write_session(tmp_path / "session", log_ratios(0))
    shutil.rmtree(folder / copied)
    shutil.copytree(folder / of, folder / copied)
    assert judge(folder) == 2
    named = {folder / copied, folder / of}
    error = capsys.readouterr().err
    assert "is a copy of" in error and "allowed: each run once" in error and all(str(one) in error for one in named)


@pytest.mark.parametrize(("side", "code"), [("baseline", 5), ("candidate", 5), ("both", 0)])
def test_a_row_that_caches_served_on_one_side_only(tmp_path, side, code):
    def edit(arm, pair, records, environment):
        if side in (arm, "both"):
            records[0]["flags"] = ["served_by_cache"]

    found, told = report(write_session(tmp_path / "session", log_ratios(0, rows=2), edit), tmp_path)
    assert found == code and verdicts(told) == {"relu/r0@cpu": "NOT_COMPARABLE" if code else "SAME", "relu/r1@cpu": "SAME"}
    if code:
        assert told["rows"][0]["reason"] == f"pair 1: caches may have served the {side} only (served_by_cache)"
