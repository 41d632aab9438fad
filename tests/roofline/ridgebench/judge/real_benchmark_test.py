"""A program of Google Benchmark itself under the gate: what it writes, and how it is filtered."""

import json
import shutil
import subprocess

import pytest
from ridgebench.judge import readers

PROGRAM = r"""
#include <benchmark/benchmark.h>
#include <cstdlib>

// CPU time is that of instructions here; the candidate has four times as many.
void work(benchmark::State& state) {
  const long factor = std::getenv("MORE_WORK") ? 4 : 1;
  for (auto _ : state)
    for (long i = 0; i < factor * state.range(0); ++i) benchmark::DoNotOptimize(i);
}
void broken(benchmark::State& state) {
  if (std::getenv("MORE_WORK")) state.SkipWithError("no such file");
  for (auto _ : state) benchmark::DoNotOptimize(state.iterations());
}
BENCHMARK(work)->Name("work<int>+(a|b)")->Arg(1000)->Arg(2000);
BENCHMARK(broken);
BENCHMARK_MAIN();
"""


@pytest.fixture(scope="module", name="program")
def program_fixture(tmp_path_factory):
    folder = tmp_path_factory.mktemp("program")
    (folder / "program.cpp").write_text(PROGRAM)
    compiler = shutil.which("c++")
    done = compiler and subprocess.run(
        [compiler, "-O1", "-o", folder / "program", folder / "program.cpp", "-lbenchmark", "-lpthread"],
        capture_output=True, text=True, check=False,
    )
    if not done or done.returncode:
        pytest.skip("no compiler, or no installed Google Benchmark")
    return folder / "program"


def test_its_rows_its_errors_and_its_filter(program, bench):
    quick = "--benchmark_min_time=0.001"
    slow = f"env MORE_WORK=1 {program} {quick}"
    code, report = bench.gate(f"{program} {quick}", slow, "--metric", "cpu_time")
    rows = {row["id"]: row for row in report["rows"]}
    assert code == 6 and rows["broken"]["reason"] == "pair 1: failed in the candidate: no such file"
    for name in ("work<int>+(a|b)/1000", "work<int>+(a|b)/2000"):
        assert rows[name]["verdict"] == "WORSE" and 1 < rows[name]["change"] < 6
    second = json.loads((bench.out / "02-candidate" / "output").read_text())
    names = {row["name"] for row in second["benchmarks"]}
    assert names == set(rows) - {"broken"}, "the row that failed is not run again"


def test_the_time_that_is_added_to_a_command_without_its_own(program, bench, monkeypatch):
    monkeypatch.setattr(readers, "PROCESS_S", 0.1)
    bench.gate(str(program), str(program), "--filter", "^broken$", "--pairs", "5")
    for folder, repetitions in (("reference", 3), ("01-candidate", 36)):
        rows = json.loads((bench.out / folder / "output").read_text())["benchmarks"]
        assert [row["repetition_index"] for row in rows if row["run_type"] == "iteration"] == list(range(repetitions))
