"""The gate on commands of other benchmarks: verdicts, exit codes, options. Made-up programs stand in."""

import json

import pytest
from gate_bench import SCHEMA, verdicts
from made_up_benchmark import processes
from ridgebench.judge.command_session import CommandSession

SLOWER = 0.03


@pytest.mark.parametrize("kind", ["gbench", "nvbench", "csv"])
@pytest.mark.parametrize(("change", "code", "verdict"), [(0, 0, "SAME"), (SLOWER, 4, "WORSE"), (-SLOWER, 0, "BETTER")])
def test_verdicts_are_those_of_every_comparison(kind, change, code, verdict, bench):
    first, second = bench.program("a", kind=kind), bench.program("b", kind=kind, change=change)
    found, report = bench.gate(first, second, kind=kind)
    assert (found, set(verdicts(report).values())) == (code, {verdict})
    assert report["rows"][0]["change"] == pytest.approx(change, abs=0.004)
    assert processes(first) == 11 and processes(second) == 10, "one unscored process, and the first look decides"


def test_a_rate_of_which_more_is_better(bench):
    sides = bench.program("a"), bench.program("b", change=SLOWER)
    code, report = bench.gate(*sides, "--metric", "items_per_second")
    assert (code, set(verdicts(report).values())) == (4, {"WORSE"})
    row = report["rows"][0]
    assert report["metric"] == "items_per_second of the best repetition, higher is better" and row["baseline_s"] is None
    assert row["baseline_value"] == pytest.approx(1000, rel=0.01) and row["candidate_value"] < row["baseline_value"]


def test_higher_values_of_a_column_may_be_better(bench):
    sides = [bench.program(arm, kind="csv", change=change) for arm, change in (("a", 0), ("b", SLOWER))]
    assert verdicts(bench.gate(*sides, "--better", "higher", kind="csv")[1])["BM_Sort/1"] == "BETTER"


def test_a_command_may_be_words_with_options_of_its_own(bench):
    words = bench.words(bench.program("a"), bench.program("b"), "--pairs=10")
    for arm in ("--baseline", "--candidate"):
        place = words.index(arm) + 2
        words[place:place] = ["--benchmark_filter=Sort/1", "-x", "a b"]
    code, report = bench.call(*words)
    assert (code, list(verdicts(report))) == (0, ["BM_Sort/1"])
    session = json.loads((bench.out / "session.json").read_text())
    assert session["candidate"][1:] == ["--benchmark_filter=Sort/1", "-x", "a b"]


@pytest.mark.parametrize("own", ["--benchmark_repetitions=3", "--benchmark_min_time=1"])
def test_both_commands_get_the_same_time(own, bench):
    first, second = bench.program("a"), bench.program("b")
    session = CommandSession(bench.out, {"baseline": [str(first), own], "candidate": [str(second)]}, reader="gbench")
    for arm in ("baseline", "candidate"):
        added = [word for word in session.words(arm, bench.out / "01-baseline", None)[1:] if word != own]
        assert [word.split("=")[0] for word in added] == ["--benchmark_out", "--benchmark_out_format"]


def test_json_alone_is_all_of_standard_output(bench, capsys):
    words = bench.words(bench.program("a"), bench.program("b"))
    words[words.index("--json") : words.index("--json") + 2] = ["--json"]
    assert bench.call(*words)[0] == 0
    SCHEMA.validate(json.loads(capsys.readouterr().out))


def test_decided_rows_are_not_run_again(bench):
    quiet, noisy = {"BM_Quiet/1+2": 1e-3}, {"BM_Noisy": 1e-3}
    first = bench.program("a", rows=quiet | noisy)
    second = bench.program("b", rows=quiet | {"BM_Noisy": 1.01e-3})
    code, report = bench.gate(first, second)
    assert {row["id"]: row["pairs"] for row in report["rows"]} == {"BM_Quiet/1+2": 10, "BM_Noisy": 20}
    late = json.loads((bench.out / "11-baseline" / "output").read_text())
    assert [row["name"] for row in late["benchmarks"]] == ["BM_Noisy"]


def test_the_most_pairs_are_an_option(bench):
    code, report = bench.gate(bench.program("a"), bench.program("b", change=0.1), "--pairs", "6")
    assert (code, report["looks"], report["rows"][0]["pairs"]) == (4, [6], 6)


def test_a_session_is_judged_again_with_the_pairs_that_it_was_planned_for(bench):
    first = bench.gate(bench.program("a"), bench.program("b", change=0.1), "--pairs", "6")
    again = bench.call("--session", bench.out, "--json", bench.folder / "report.json")
    assert again == first


def test_a_value_that_is_no_time_fails_its_row(bench):
    broken = bench.program("b", kind="csv", rows={"BM_Sort/1": 1e-3, "BM_Sort/2": 0})
    code, report = bench.gate(bench.program("a", kind="csv"), broken, kind="csv")
    assert (code, verdicts(report)) == (6, {"BM_Sort/1": "SAME", "BM_Sort/2": "FAILED"})
    assert "value is '0.0'; allowed: a number from 1e-300 to 1e+300" in report["rows"][0]["reason"]


def test_a_long_name_does_not_widen_the_table(bench, capsys):
    name = "BM_" + "x" * 3000 + "/end"
    sides = [bench.program(arm, rows={name: 1e-3}) for arm in "ab"]
    assert verdicts(bench.gate(*sides)[1]) == {name: "SAME"}
    assert max(map(len, capsys.readouterr().out.splitlines()[2:4])) < 300


def test_a_row_that_reports_an_error_has_failed(bench):
    broken = bench.program("b", errors={"BM_Sort/2": "no such file"}, rows={"BM_Sort/1": 1e-3})
    code, report = bench.gate(bench.program("a"), broken)
    assert (code, verdicts(report)["BM_Sort/2"]) == (6, "FAILED")
    assert report["rows"][0]["reason"] == "pair 1: failed in the candidate: no such file"


def test_two_devices_are_not_compared(bench, capsys):
    sides = [bench.program(arm, kind="nvbench", device=name) for arm, name in (("a", "H100"), ("b", "H200"))]
    assert bench.gate(*sides, kind="nvbench")[0] == 5
    assert "NOT_COMPARABLE: model: H100 against H200" in capsys.readouterr().err
    assert bench.call("--session", bench.out, "--allow-mismatch", "model")[0] == 3


def test_what_follows_the_dashes_and_the_place_of_the_result(bench):
    script = bench.folder / "script.sh"
    script.write_text(f'#!/bin/sh\n[ "$2" = shared ] && exec {bench.program("a")} --benchmark_out="$1"\nexit 9\n')
    script.chmod(0o755)
    code, _ = bench.gate(f"sh {script} {{out}}", f"sh '{script}' {{out}}", "--", "shared")
    assert code == 0
    assert json.loads((bench.out / "session.json").read_text())["candidate"] == ["sh", str(script), "{out}", "shared"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "--baseline, --candidate and --reader are needed"),
        (["--reader", "gbench", "--baseline", "x"], "go together"),
        (["--reader", "junit", "--baseline", "x", "--candidate", "x"], "invalid choice"),
        (["--reader", "csv", "--baseline", "/nowhere/x", "--candidate", "true"], "cannot run /nowhere/x: "),
        (["--reader", "csv", "--baseline", "'", "--candidate", "true"], "is not a command"),
        (["--reader", "csv", "--baseline", "", "--candidate", "true"], "is not a command"),
        (["--reader", "csv", "--baseline", "--candidate", "true"], "--baseline has no command"),
        (["--reader", "csv", "--baseline", "true", "--baseline", "true"], "--baseline comes twice"),
        (["--reader", "csv", "--baseline", "true", "--candidate", "true", "--pairs", "4"], "from 5 to 1000"),
        (["--reader", "csv", "--baseline", "true", "--candidate", "true", "--filter", "("], "not a regular expression"),
        (["--reader", "csv", "--baseline", r"printf 'name,value\na,1\n'", "--candidate", "true", "--filter", "^zz"],
         "the baseline measured no row that --filter '^zz' matches; allowed: one or more"),
        (["--reader", "csv", "--baseline", "true", "--candidate", "true", "--turns", "samples"], "--turns needs"),
        (["--reader", "ridgebench", "--baseline", "true", "--candidate", "true", "--metric", "x"], "are not for"),
        (["--reader", "ridgebench", "--baseline", "true --out x", "--candidate", "true"], "--out is not allowed"),
        (["--resume"], "--resume needs a folder"),
        (["--session", "/nowhere"], "/nowhere/session.json: not found"),
        (["--session", "x", "--resume", "y"], "--session takes no command"),
        (["--session", "x", "--metric", "y"], "go with two commands"),
        (["--session", "x", "--pairs", "5"], "--session takes no command, --resume, --minutes or --pairs"),
        (["--session", "x", "--timeout", "5"], "--timeout is not for --session"),
    ],
)
def test_usage(arguments, said, bench, monkeypatch, capsys):
    monkeypatch.chdir(bench.folder)
    assert bench.call(*arguments)[0] == 2
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.count("\n") == 1 and said in shown.err
