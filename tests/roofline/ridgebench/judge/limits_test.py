"""Tolerances of rows and losses that are allowed: what counts, what the report says, what is refused."""

import pytest
from ridgebench.base.files import ResultsError
from ridgebench.judge import gate
from ridgebench.judge.limits import read_limits
from ridgebench.judge.report import Comparison, Report


def limits(tmp_path, text: str, preset="standard"):
    path = tmp_path / "tolerances.toml"
    path.write_text(text)
    return read_limits(path, preset)


def report(*rows: tuple[str, str]) -> Report:
    return Report("interleaved", "a", "b", [Comparison(*row) for row in rows])


def test_the_first_rule_that_matches_a_row_sets_its_limits(tmp_path):
    found = limits(tmp_path, '[tolerance]\n"^BM_a" = 0.03\n"a" = "5 %"\n"z$" = { tolerance = 0.1, margin = "20 %" }\n')
    known = {name: (found.of(name).tolerance, found.of(name).margin) for name in ("BM_a1", "xa", "z", "other")}
    assert known["BM_a1"] == pytest.approx((0.03, 0.045)), "the margin stays as far away as the preset's"
    assert known["xa"] == pytest.approx((0.05, 0.065)) and known["z"] == (0.1, 0.2)
    assert known["other"] == (gate.PRESETS["standard"].tolerance, gate.PRESETS["standard"].margin)


def test_an_allowed_loss_passes_and_says_why(tmp_path):
    found = limits(tmp_path, '[allow]\n"^slow" = { reason = "safer | parser", until = 9999-12-31 }\n')
    told = report(("slow1", gate.WORSE), ("slow2", "MISSING"), ("slow3", gate.UNDECIDED), ("slow4", gate.SAME))
    found.allow(told)
    assert told.exit_code == 0 and {row.id: row.verdict for row in told.rows} == {
        "slow1": "ALLOWED", "slow2": "ALLOWED", "slow3": "ALLOWED", "slow4": "SAME"}
    assert told.rows[0].reason == "WORSE, allowed until 9999-12-31: safer | parser"


@pytest.mark.parametrize(("verdict", "code"), [("FAILED", 6), ("NOT_COMPARABLE", 5)])
def test_what_went_wrong_is_not_allowed(verdict, code, tmp_path):
    told = report(("slow", verdict))
    limits(tmp_path, '[allow]\n"slow" = { reason = "known" }\n').allow(told)
    assert told.exit_code == code


def test_an_allowed_loss_keeps_what_else_was_said_of_it(tmp_path):
    told = report(("slow", gate.WORSE))
    told.rows[0].reason = "conditions: candidate busy"
    limits(tmp_path, '[allow]\n"slow" = { reason = "known" }\n').allow(told)
    assert told.rows[0].reason == "WORSE, allowed: known; conditions: candidate busy"


def test_an_allowance_ends(tmp_path):
    told = report(("slow", gate.WORSE))
    limits(tmp_path, '[allow]\n"slow" = { reason = "known", until = 2020-02-29 }\n').allow(told)
    assert (told.exit_code, told.rows[0].reason) == (4, "its allowance ended on 2020-02-29")


def test_a_rule_without_a_row_is_noted(tmp_path):
    told = report(("a", gate.SAME))
    limits(tmp_path, '[tolerance]\n"^b" = 0.1\n').allow(told)
    assert told.notes == ["the tolerances name '^b', which matches no row"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[tolerance", "Expected"), ("[limit]\n", "unknown key 'limit'; allowed: tolerance, allow"),
        ("tolerance = 3\n", "tolerance is not a table"), ('[tolerance]\n"(" = 0.1\n', "'(' is not a regular expression"),
        ('[tolerance]\n"a" = 1\n', "is 1; allowed: a share"),
        ('[tolerance]\n"a" = -0.1\n', "allowed: a share"), ('[tolerance]\n"a" = nan\n', "allowed: a share"),
        ('[tolerance]\n"a" = true\n', "allowed: a share"), ('[tolerance]\n"a" = "x %"\n', "allowed: a share"),
        ('[tolerance]\n"a" = { margin = 0.1 }\n', "'a' has no tolerance"),
        ('[tolerance]\n"a" = { tol = 0.1 }\n', "unknown key 'tol'"),
        ('[tolerance]\n"a" = { tolerance = 0.1, margin = 0.1 }\n', "allowed: more than its tolerance"),
        ('[allow]\n"a" = "known"\n', "is not a table"), ('[allow]\n"a" = { until = 2027-01-01 }\n', "has no reason"),
        ('[allow]\n"a" = { reason = " " }\n', "has no reason"),
        ('[allow]\n"a" = { reason = "x", til = 1 }\n', "unknown key 'til'"),
        ('[allow]\n"a" = { reason = "x", until = "2027-01-01" }\n', "allowed: a date"), ("a = " + "[" * 10_000, ""),
    ],
)
def test_files_that_are_refused(text, said, tmp_path):
    with pytest.raises(ResultsError) as error:
        limits(tmp_path, text)
    assert str(error.value).startswith(f"{tmp_path}/tolerances.toml: ") and said in str(error.value)


def test_a_tolerance_decides_through_the_whole_gate(bench):
    path = bench.folder / "tolerances.toml"
    path.write_text('[tolerance]\n"Sort/1" = "5 %"\n')
    code, report_ = bench.gate(bench.program("a"), bench.program("b", change=0.03), "--tolerances", path)
    rows = {row["id"]: row for row in report_["rows"]}
    assert (code, rows["BM_Sort/1"]["verdict"], rows["BM_Sort/2"]["verdict"]) == (4, "SAME", "WORSE")
    assert rows["BM_Sort/1"]["tolerance"] == 0.05 and rows["BM_Sort/2"]["tolerance"] is None
    path.write_text('[allow]\n"Sort" = { reason = "known" }\n')
    code, report_ = bench.call("--session", bench.out, "--tolerances", path, "--json", bench.folder / "report.json")
    assert (code, {row["verdict"] for row in report_["rows"]}) == (0, {"ALLOWED"})
