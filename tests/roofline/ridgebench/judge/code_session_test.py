"""A gate that leaves out rows whose machine code is the same."""

import json
import shutil

import pytest
from builds import KERNELS, build, needs_nvcc
from command_line import BINARY
from gate_bench import verdicts

RUN = f"{BINARY} run --device sim:gap=1e-9,row=0.004"
ONE_ROW = ("--filter", "^(relu|gelu)/naive/fp32", "--", "--budget", "0.1")


def codes(report: dict) -> dict:
    return {row["id"]: row["code"] for row in report["rows"]}


@pytest.fixture(name="programs", scope="module")
def programs_fixture(tmp_path_factory):
    folder = tmp_path_factory.mktemp("programs")
    return build(folder / "a"), build(folder / "b", kernels=KERNELS.replace("*= N", "*= N + 5"))


@needs_nvcc
def test_only_the_row_of_the_changed_kernel_is_measured(programs, bench, capfd):
    launches = bench.folder / "launches.csv"
    launches.write_text("row,kernel\nBM_Sort/1,weigh\nBM_Sort/2,scale\n")
    first, second = bench.program("a"), bench.program("b", change=0.05)
    words = bench.words(first, second, "--code", *programs, "--launches", launches, "--pairs", "10", "--md", bench.folder / "gate.md")
    code, report = bench.call(*words)
    assert code == 4 and verdicts(report) == {"BM_Sort/1": "SAME", "BM_Sort/2": "WORSE"}
    assert codes(report) == {"BM_Sort/1": "same code", "BM_Sort/2": "changed"}
    rows = {row["id"]: row for row in report["rows"]}
    assert rows["BM_Sort/1"]["pairs"] == 0 and rows["BM_Sort/1"]["reason"] == "same code"
    assert rows["BM_Sort/2"]["pairs"] == 10 and "changed: void scale<3>(float*)" in rows["BM_Sort/2"]["reason"]
    assert "BM_Sort/1" not in (bench.out / "10-candidate" / "output").read_text()
    said = capfd.readouterr().err
    assert "1 row of 2 have the same code and are not measured" in said and "1 row, 10 pairs" in said
    assert "same code" in (bench.folder / "gate.md").read_text()
    again = bench.call("--session", bench.out, "--json", bench.folder / "report.json")
    assert again[0] == 4 and codes(again[1]) == codes(report)


@needs_nvcc
def test_a_reader_that_measures_all_rows_keeps_the_verdict_on_the_same_code(programs, bench):
    launches = bench.folder / "launches.csv"
    launches.write_text("row,kernel\nBM_Sort/1,weigh\nBM_Sort/2,scale\n")
    first, second = bench.program("a", kind="csv"), bench.program("b", kind="csv", change=0.05)
    words = bench.words(first, second, "--code", *programs, "--launches", launches, "--pairs", "10", kind="csv")
    assert verdicts(bench.call(*words)[1]) == {"BM_Sort/1": "SAME", "BM_Sort/2": "WORSE"}


def test_scripts_are_unknown_and_measured(bench):
    first, second = bench.program("a"), bench.program("b")
    code, report = bench.gate(first, second, "--code", "--pairs", "10")
    assert code == 0 and set(codes(report).values()) == {"unknown"}
    assert all("is not a program in ELF" in row["reason"] and row["pairs"] == 10 for row in report["rows"])


def test_a_program_against_itself_measures_nothing(bench):
    command = f"{BINARY} run --device cpu"
    code, report = bench.gate(command, command, "--code", "--filter", "^relu/naive/fp32", "--", "--op", "relu", "--shape", "4096", kind="ridgebench")
    assert code == 0 and set(verdicts(report).values()) == {"SAME"} and len(report["rows"]) == 1
    assert set(codes(report).values()) == {"same code"} and not list(bench.out.glob("01-*"))
    assert json.loads((bench.out / "session.json").read_text())["code"]
    assert bench.call("--session", bench.out, "--json", bench.folder / "report.json")[0] == 0


@needs_nvcc
def test_the_place_of_a_program_is_no_argument_and_everything_else_is(programs, bench):
    one = bench.program("a")
    twin = programs[0].with_name("twin")
    shutil.copy(programs[0], twin)
    for more, state in (([], "same code"), (["--benchmark_x=1"], "unknown")):
        words = ["--reader", "gbench", "--baseline", "env", "-u", "X", one, programs[0], "--candidate", "env", "-u", "X", one, twin, *more]
        code, report = bench.call(*words, "--code", programs[0], twin, "--pairs", "5", "--out", bench.folder / state, "--json", bench.folder / "report.json")
        assert set(codes(report).values()) == {state}, report


def test_a_simulated_device_is_measured(bench):
    code, report = bench.gate(RUN, RUN, "--code", "--pairs", "5", *ONE_ROW, kind="ridgebench")
    assert code in (0, 3) and all("neither a host nor a GPU" in row["reason"] and row["pairs"] == 5 for row in report["rows"])


def test_other_arguments_are_measured(bench):
    code, report = bench.gate(RUN, f"{RUN},seed=3", "--code", "--pairs", "5", *ONE_ROW, kind="ridgebench")
    assert code in (0, 3) and {row["pairs"] for row in report["rows"]} == {5}
    assert all("the commands have other arguments" in row["reason"] for row in report["rows"])


def test_an_interrupted_session_goes_on_with_what_was_found(bench):
    first, second = bench.program("a"), bench.program("b", mishaps={4: 1})
    words = bench.words(first, second, "--code", "--pairs", "10")
    assert bench.call(*words)[0] == 6
    code, report = bench.call(*words, "--resume")
    assert code == 0 and set(codes(report).values()) == {"unknown"}


@pytest.mark.parametrize("text", ['{"x": 1}', '{"x": ["a"]}', "[]", '"x"'])
def test_a_malformed_finding_of_a_session_is_refused(text, bench, capfd):
    assert bench.gate(bench.program("a"), bench.program("b"), "--pairs", "5")[0] in (0, 3)
    path = bench.out / "session.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"code": json.loads(text)}))
    capfd.readouterr()
    assert bench.call("--session", bench.out)[0] == 2
    assert "not a session" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--code", "a"], "--code has 1 program; allowed: two"),
        (["--code", "a", "b", "c"], "--code has 3 programs; allowed: two"),
        (["--code", "a", "b", "--pairs", "10"], "--pairs needs two commands"),
        (["--code", "a", "b", "--", "x"], "needs two commands"),
        (["--code"], "--baseline, --candidate and --reader are needed"),
        (["--launches", "f"], "--launches needs --code"),
        (["--session", "s", "--code"], "--code is not for --session"),
        (["--code", "/bin/true", "nowhere"], "nowhere: does not exist; allowed: a program"),
        (["--code", "/bin/true", "/bin/true", "--filter", "zzz"], "no row matches --filter 'zzz'"),
    ],
)
def test_options_that_make_no_sense(words, said, bench, capfd):
    try:
        code, _ = bench.call(*words)
    except SystemExit as error:
        code = error.code
    assert code == 2 and said in capfd.readouterr().err
