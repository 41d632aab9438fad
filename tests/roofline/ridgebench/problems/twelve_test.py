"""Of each of twelve problems a wrong and a cheating solution are refused, and an honest one gets its share of the roof."""

import importlib.util
import os
from pathlib import Path

import pytest
from build_folder import skip_if_sanitized
from command_line import ROW_FAILED, records, ridgebench
from twelve import TWELVE, remembers, right, write_problem, write_solution, wrong

skip_if_sanitized(Path(os.environ["RIDGEBENCH_LIBRARY"]))
KINDS = {"honest": right, "wrong": wrong, "remembers": remembers}
FILE = """
from pathlib import Path
from ridgebench.problems import open_problem
from ridgebench.problems.solution import read_solution

kernels = []
for folder in sorted(Path(__file__).parent.glob("*_problem")):
    problem = open_problem(folder)
    kernels.append(problem.reference_kernel)
    for name in ("honest", "wrong", "remembers"):
        kernels.append(problem.solution_kernel(read_solution(folder / f"{name}.json"), folder / name))
"""


@pytest.fixture(scope="module", params=["numpy", "torch"])
def rows(request, tmp_path_factory):
    """The rows of all solutions, by operation and technique."""
    library = request.param
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is missing; docs/problems.md says how to install it")
    folder = tmp_path_factory.mktemp(library)
    shapes = []
    for name, problem in TWELVE.items():
        own = write_problem(folder / f"{name}_problem", name, library)
        for kind, source in KINDS.items():
            (own / kind).mkdir()
            write_solution(own / f"{kind}.json", name, kind, source(problem, library))
    (folder / "twelve.py").write_text(FILE)
    from ridgebench.problems import open_problem

    for name in TWELVE:
        opened = open_problem(folder / f"{name}_problem")
        shapes.append((opened.operation.name, opened.shape(opened.workloads[0])))
    listed = folder / "shapes.txt"
    listed.write_text("".join(f"{operation} {shape}\n" for operation, shape in shapes))
    done = ridgebench("run", f"--load={folder}/twelve.py:kernels", f"--shapes={listed}", "--device=cpu", "--budget=8", "--no-plot",
                      f"--out={folder}/out")
    assert done.returncode == ROW_FAILED, done.stderr
    found = {(row["op"], row["technique"]): row for row in records(folder / "out") if row["role"] == "kernel"}
    assert len(found) == 4 * len(TWELVE)
    return found


@pytest.mark.parametrize("name", TWELVE)
def test_an_honest_solution_gets_its_share_of_the_roof(rows, name):
    row = rows[f"{name}_of_ours", "honest"]
    assert (row["status"], row["isolated"]) == ("ok", True), row["reason"]
    assert row["time_ci_low_s"] <= row["time_median_s"] <= row["time_ci_high_s"]
    assert row["fraction_of_measured_roof"] > 0 and row["bound"]
    assert rows[f"{name}_of_ours", "reference"]["status"] == "ok"
    assert "fixed_answer" not in row["flags"]
    assert ("fixed_inputs" in row["flags"]) == ("custom" in TWELVE[name].values.values())


@pytest.mark.parametrize("name", TWELVE)
@pytest.mark.parametrize("kind", ["wrong", "remembers"])
def test_a_wrong_and_a_cheating_solution_are_refused(rows, name, kind):
    row = rows[f"{name}_of_ours", kind]
    assert row["status"] == "wrong", (row["status"], row["reason"])
    assert row["time_median_s"] is None


@pytest.mark.parametrize("name", TWELVE)
def test_flops_are_those_of_the_suite_or_of_the_definition_or_unknown(rows, name):
    row, problem = rows[f"{name}_of_ours", "honest"], TWELVE[name]
    assert row["flops"] == (problem.flops or 0)
    assert ("no_flops" in row["flags"]) == (problem.flops is None)
    assert (row["flops_per_s"] is None) == (problem.flops is None)


def test_bytes_are_those_of_the_inputs_and_the_outputs(rows):
    assert rows["gemm_of_ours", "honest"]["bytes"] == 4 * (16 * 40 + 24 * 40 + 16 * 24)
    assert rows["masked_mean_of_ours", "honest"]["bytes"] == 4 * 12 * 24 + 12 * 24 + 4 * 12
    # The indices are int64 and fixed by the workload: no operand of the harness.
    assert rows["embedding_of_ours", "honest"]["bytes"] == 4 * 50 * 16 + 8 * 30 + 4 * 30 * 16
    assert rows["embedding_of_ours", "honest"]["shape"] == {"t": 30, "workload": 0}
    assert rows["rmsnorm_of_ours", "honest"]["shape"] == {"batch_size": 24, "eps": 0.125}
