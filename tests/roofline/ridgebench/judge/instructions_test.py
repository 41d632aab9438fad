"""A gate that counts the instructions of two commands, by a made-up perf, a made-up valgrind, or the real one."""

import os
import shutil
import subprocess

import pytest
from gate_bench import verdicts

PERF = """#!/bin/sh
# perf stat -x, -e instructions:u -o FILE -- COMMAND ARGUMENT
out=$6; shift 7
"$@" || exit $?
echo "# started" >$out
{line}
"""
COUNT = 'echo "${COUNT:-7},,instructions:u,100,100.00,," >>$out'
VALGRIND = """#!/bin/sh
for word in "$@"; do case $word in --cachegrind-out-file=*) out=${word#*=};; --*) ;; *) break;; esac; done
echo "summary: 1000" >"$(dirname "$out")/cachegrind.1"
echo "summary: 500 1 2" >"$(dirname "$out")/cachegrind.2"
"""
WORK = "#include <cstdlib>\nint main(int, char** v) { volatile long s = 0; for (long i = std::atol(v[1]); i; --i) s = s + i; }\n"
FIXED = ("--metric", "instructions")


@pytest.fixture(name="tools")
def tools_fixture(tmp_path, monkeypatch):
    """A PATH with the shell's programs, to which `tools.add` adds made-up ones."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("sh", "true", "false", "cat", "dirname", "echo", "env"):
        (folder / name).symlink_to(shutil.which(name))
    monkeypatch.setenv("PATH", str(folder))

    class Tools:
        def add(self, name: str, text: str):
            (folder / name).write_text(text)
            (folder / name).chmod(0o755)
            return folder / name

    return Tools()


def counting(tools, name: str, counts: list[int]):
    """A command whose processes write these counts for a perf that reads them."""
    path = tools.add(name, "")
    state = path.with_suffix(".counts")
    state.write_text("\n".join(map(str, counts)) + "\n")
    tools.add(name, f"#!/bin/sh\nread n <{state}\necho $n >{path.parent}/next\n{{ read skip; cat; }} <{state} >{state}.new\ncat {state}.new >{state}\n")
    return path


def perf_of_counts(tools) -> None:
    """A perf that prints what the command wrote, and 7 for a command that writes nothing."""
    place = tools.add("placeholder", "").parent / "next"
    tools.add("perf", PERF.replace("{line}", f'n=7; [ ! -e {place} ] || read n <{place}\necho "$n,,instructions:u,100,100.00,," >>$out'))


def gate(bench, *arguments):
    return bench.call(*FIXED, *map(str, arguments), "--json", bench.folder / "report.json")


@pytest.mark.parametrize(
    ("counts", "verdict", "code"),
    [
        (([100000, 100000], [100000, 100000]), "SAME", 0),
        (([100000, 100000], [101000, 101000]), "WORSE", 4),
        (([100000, 100000], [99000, 99000]), "BETTER", 0),
        (([100000, 100050], [101000, 101000]), "WORSE", 4),
        (([100000, 100050], [100600, 100600]), "SAME", 0),
        (([100000, 100200], [101000, 101000]), "UNDECIDED", 3),
        (([100000, 100000], [101000, 101200]), "UNDECIDED", 3),
    ],
)
def test_one_pair_decides_a_percent_unless_the_counts_scatter(counts, verdict, code, tools, bench):
    perf_of_counts(tools)
    one, other = counting(tools, "one", counts[0]), counting(tools, "other", counts[1])
    found, report = gate(bench, "--baseline", one, "--candidate", other)
    assert (found, verdicts(report)) == (code, {"process": verdict})
    (row,) = report["rows"]
    assert row["baseline_value"] == counts[0][1] and row["candidate_value"] == counts[1][1] and row["low"] is None
    assert report["metric"] == "instructions, counted by the processor, in user mode, lower is better"
    if verdict == "UNDECIDED":
        assert "two processes of a side differ by 0.20 %; allowed: 0.1 %" in row["reason"]


def test_cachegrind_counts_where_the_processor_does_not(tools, bench):
    tools.add("perf", PERF.replace("{line}", 'echo "<not supported>,,instructions:u,0,100.00,," >>$out'))
    tools.add("valgrind", VALGRIND)
    code, report = gate(bench, "--baseline", "true", "--candidate", "true")
    assert code == 0 and report["rows"][0]["baseline_value"] == 1500 and "simulated by cachegrind" in report["metric"]


@pytest.mark.parametrize(
    ("perf", "said"),
    [
        (None, "perf is not installed; valgrind is not installed"),
        ('echo "<not supported>,,instructions:u" >>$out', "perf: the processor shows no counter of instructions; valgrind is not installed"),
        ("echo denied >&2; exit 255", "perf: a process under perf ended with code 255: denied; valgrind is not installed"),
        ("true", "perf: the processor shows no counter of instructions"),
    ],
)
def test_without_a_counter_one_line_names_both_tools(perf, said, tools, bench, capfd):
    if perf:
        tools.add("perf", PERF.replace("{line}", perf))
    assert gate(bench, "--baseline", "true", "--candidate", "true")[0] == 2
    error = capfd.readouterr().err
    assert "--metric instructions needs perf or valgrind" in error and said in error and error.count("\n") == 1


def test_a_command_that_fails_ends_the_gate(tools, bench, capfd):
    tools.add("perf", PERF.replace("{line}", COUNT))
    assert gate(bench, "--baseline", "true", "--candidate", "false")[0] == 6
    assert "ended with code 1" in capfd.readouterr().err
    assert gate(bench, "--baseline", "true", "--candidate", "nowhere")[0] == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--baseline", "true"], "needs --baseline and --candidate"),
        (["--baseline", "true", "--candidate", "true", "--pairs", "10"], "--pairs is not for --metric instructions"),
        (["--baseline", "true", "--candidate", "true", "--filter", "x"], "--filter is not for"),
    ],
)
def test_other_options_are_refused(words, said, bench, capfd):
    assert gate(bench, *words)[0] == 2
    assert said in capfd.readouterr().err


@pytest.mark.skipif(shutil.which("valgrind") is None or shutil.which("g++") is None, reason="valgrind or g++ is not installed")
def test_a_percent_of_real_work(bench):
    (bench.folder / "work.cpp").write_text(WORK)
    subprocess.run(["g++", "-O1", "work.cpp", "-o", "work"], cwd=bench.folder, check=True)
    path = os.fspath(bench.folder / "work")
    for count, verdict in ((1000000, "SAME"), (1020000, "WORSE"), (980000, "BETTER")):
        _, report = gate(bench, "--baseline", path, "1000000", "--candidate", path, count)
        assert verdicts(report) == {"process": verdict}, report
