"""`import problem`, `run --solution` and `export --trace`, typed as docs/problems.md says."""

import json
import os
from pathlib import Path

import pytest
from build_folder import skip_if_sanitized
from command_line import OK, ROW_FAILED, USAGE, records, refused, ridgebench
from twelve import TWELVE, remembers, right, write_problem, write_solution

skip_if_sanitized(Path(os.environ["RIDGEBENCH_LIBRARY"]))
PROBLEM = TWELVE["softmax"]
RETURNS = "import numpy as np\n\ndef run(x):\n    e = np.exp(x - x.max(1, keepdims=True))\n    return e / e.sum(1, keepdims=True)\n"
QUICK = ("--device=cpu", "--budget=1", "--no-plot")


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A folder with the problem and the runs `honest`, `cheat` and `returns` of three solutions."""
    folder = tmp_path_factory.mktemp("solution")
    write_problem(folder / "given", "softmax", "numpy")
    write_solution(folder / "given" / "honest.json", "softmax", "Honest-v1", right(PROBLEM, "numpy"))
    write_solution(folder / "cheat.json", "softmax", "cheat", remembers(PROBLEM, "numpy"))
    write_solution(folder / "returns.json", "softmax", "reference", RETURNS, destination_passing_style=False)
    done = ridgebench("import", "problem", "given", cwd=folder)
    assert (done.returncode, done.stdout) == (OK, "operation softmax_of_ours in problems/softmax_of_ours; 1 workload; FLOPs 5*(M)*(N)\n")
    for name, file, code in (("honest", "given/honest.json", OK), ("cheat", "cheat.json", ROW_FAILED), ("returns", "returns.json", OK)):
        done = ridgebench("run", "--solution", file, f"--out={name}", *QUICK, cwd=folder)
        assert done.returncode == code, done.stderr
    return folder


def rows_of(folder):
    return {row["technique"]: row for row in records(folder) if row["role"] == "kernel"}


def test_a_solution_is_measured_beside_the_reference(measured):
    rows = rows_of(measured / "honest")
    assert set(rows) == {"reference", "honest_v1"}
    row = rows["honest_v1"]
    assert (row["status"], row["isolated"], row["loaded_from"]) == ("ok", True, "solution_honest_v1.py:kernels")
    assert row["fraction_of_measured_roof"] > 0
    assert rows_of(measured / "returns")["solution_reference"]["status"] == "ok"
    assert rows_of(measured / "cheat")["cheat"]["status"] == "wrong"


def trace_of(folder):
    done = ridgebench("export", folder.name, "--trace", cwd=folder.parent)
    assert done.returncode == OK, done.stderr
    (line,) = done.stdout.splitlines()
    return json.loads(line)


def test_a_trace_of_an_honest_solution_has_times_roof_and_interval(measured):
    trace, rows = trace_of(measured / "honest"), rows_of(measured / "honest")
    assert (trace["definition"], trace["solution"]) == ("softmax_of_ours", "Honest-v1")
    assert trace["workload"] == json.loads((measured / "given" / "workload.jsonl").read_text())
    evaluation, row = trace["evaluation"], rows["honest_v1"]
    assert evaluation["status"] == "PASSED" and evaluation["environment"]["hardware"]
    assert evaluation["performance"] == pytest.approx({
        "latency_ms": 1e3 * row["time_median_s"], "reference_latency_ms": 1e3 * rows["reference"]["time_median_s"],
        "speedup_factor": rows["reference"]["time_median_s"] / row["time_median_s"]})
    assert evaluation["correctness"]["max_absolute_error"] == row["verify"]["error"] * row["verify"]["tolerance"]
    ours = trace["ridgebench"]
    assert (ours["time_ci_low_s"], ours["roof"]["bytes_per_s"]) == (row["time_ci_low_s"], row["roof"]["bytes_per_s"])


def test_a_trace_of_a_cheat_has_no_time(measured):
    evaluation = trace_of(measured / "cheat")["evaluation"]
    assert (evaluation["status"], evaluation["performance"]) == ("INCORRECT_NUMERICAL", None)
    assert "on new values of" in evaluation["log"] and evaluation["correctness"]


def test_a_trace_needs_the_problem_that_was_measured(measured):
    file = measured / "problems" / "softmax_of_ours" / "solution_cheat.py"
    before = file.read_text()
    file.write_text(before + "\n")
    done = ridgebench("export", "cheat", "--trace", cwd=measured)
    file.write_text(before)
    assert done.returncode == USAGE and "is missing or another one than in the run" in done.stderr
    refused(ridgebench("run", "--solution", "cheat.json", "--resume=cheat", cwd=measured), "--resume excludes --solution")


@pytest.mark.parametrize("words, message", [
    (("run", "--solution", "none.json"), "none.json"),
    (("run", "--problem", "given"), "--solution"),
    (("run", "--solution", "other.json"), "its problem 'rope_of_ours' is missing; allowed: --problem DIR"),
    (("run", "--solution", "other.json", "--problem", "given"), "it solves 'rope_of_ours', and the problem is 'softmax_of_ours'"),
    (("import", "problem", "problems"), "definition.json"),
    (("import", "problem", "given", "-o", "other"), "other holds other files; allowed: a new folder"),
    (("export", "other", "--trace"), "other"),
])
def test_what_cannot_be_measured_is_refused(tmp_path, words, message):
    write_problem(tmp_path / "given", "softmax", "numpy")
    write_solution(tmp_path / "other.json", "rope", "mine", right(TWELVE["rope"], "numpy"))
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").touch()
    (tmp_path / "problems").mkdir()
    done = ridgebench(*words, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (USAGE, "", 1), done.stderr
    assert message in done.stderr


def test_a_new_version_of_a_solution_has_its_own_sources_only(measured):
    text = json.loads((measured / "cheat.json").read_text()) | {"name": "versions"}
    own = measured / "problems" / "softmax_of_ours" / "solution_versions"
    for more in ([{"path": "old/part.py", "content": "x = 1\n"}], []):
        (measured / "versions.json").write_text(json.dumps(text | {"sources": text["sources"] + more}))
        done = ridgebench("run", "--solution", "versions.json", "--device=cpu", "--dry-run", cwd=measured)
        assert done.returncode == OK, done.stderr
        assert (own / "old" / "part.py").exists() == bool(more)
    assert (own / "main.py").is_file() and not (measured / "versions").exists()


def test_the_name_of_an_operation_of_the_suite_is_refused(tmp_path):
    write_problem(tmp_path / "given", "softmax", "numpy")
    for file in (tmp_path / "given" / "definition.json", write_solution(tmp_path / "mine.json", "softmax", "mine", right(PROBLEM, "numpy"))):
        file.write_text(file.read_text().replace("softmax_of_ours", "softmax"))
    done = ridgebench("run", "--solution", "mine.json", "--problem", "given", *QUICK, cwd=tmp_path)
    assert done.returncode == USAGE and "ridgebench has an operation softmax; allowed: another name" in done.stderr


def test_rows_of_other_shapes_than_those_of_workloads_have_no_trace(measured):
    words = ("run", "--solution", "given/honest.json", *QUICK, "--technique=honest_v1")
    sizes = f"m:{PROBLEM.sizes['M']}/n:{PROBLEM.sizes['N']}"
    assert ridgebench(*words, f"--shape={sizes}", "--shape=m:3/n:5", "--out=both", cwd=measured).returncode == OK
    assert trace_of(measured / "both")["evaluation"]["status"] == "PASSED"
    assert ridgebench(*words, "--shape=m:3/n:5", "--out=other", cwd=measured).returncode == OK
    done = ridgebench("export", "other", "--trace", cwd=measured)
    assert done.returncode == USAGE and "no row of a workload was measured" in done.stderr


BROKEN = {
    "raises": ("def run(x, y):\n    raise ValueError('no luck')\n", "failed", "RUNTIME_ERROR"),
    "syntax": ("def run(x, y:\n", "failed", "COMPILE_ERROR"),
    "imports": ("import nothing_of_this_name\n\ndef run(x, y):\n    pass\n", "failed", "COMPILE_ERROR"),
    "shape": ("def run(x):\n    return x[0]\n", "failed", "INCORRECT_SHAPE"),
    "dtype": ("import numpy as np\n\ndef run(x):\n    return x.astype(np.float64)\n", "failed", "INCORRECT_DTYPE"),
    "ends": ("import os\n\ndef run(x, y):\n    os._exit(0)\n", "failed", "RUNTIME_ERROR"),
    "patches": ("import numpy as np\nimport ridgebench.problems.problem as problem\n\ndef run(x, y):\n    np.exp = lambda *a, **b: 1\n"
                "    problem.Problem._reference = lambda self, x: 0 * x\n    y[:] = 0\n", "wrong", "INCORRECT_NUMERICAL"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_solution_costs_its_row_and_its_trace_says_how(measured, name):
    source, status, evaluation = BROKEN[name]
    write_solution(measured / f"{name}.json", "softmax", name, source, destination_passing_style="x, y" in source)
    done = ridgebench("run", "--solution", f"{name}.json", f"--out={name}", "--technique", name, *QUICK, cwd=measured)
    assert done.returncode == ROW_FAILED, done.stderr
    row = rows_of(measured / name)[name]
    assert row["status"] == status, row["reason"]
    assert trace_of(measured / name)["evaluation"]["status"] == evaluation, row["reason"]


# The random input has no share in the answer.
SQUARE = {
    "name": "square", "axes": {"M": {"type": "var"}}, "custom_inputs_entrypoint": "make",
    "inputs": {"w": {"shape": ["M", "M"], "dtype": "float32"}, "x": {"shape": ["M"], "dtype": "float32"}},
    "outputs": {"y": {"shape": ["M", "M"], "dtype": "float32"}},
    "reference": "import numpy as np\n\ndef make(sizes, device):\n    return {'w': np.random.rand(sizes['M'], sizes['M'])}\n\n"
                 "def run(w, x):\n    return w @ w + 0 * x\n"}
STORED = "kept = []\n\ndef run(w, x, y):\n    if not kept:\n        kept.append(w @ w)\n    y[:] = kept[0]\n"


def test_a_stored_answer_is_flagged_if_only_fixed_inputs_decide_it(tmp_path):
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "definition.json").write_text(json.dumps(SQUARE))
    inputs = {"w": {"type": "custom"}, "x": {"type": "random"}}
    (tmp_path / "given" / "workload.jsonl").write_text(json.dumps({"uuid": "one", "axes": {"M": 48}, "inputs": inputs}))
    solution = {"name": "stored", "definition": "square", "sources": [{"path": "main.py", "content": STORED}],
                "spec": {"language": "python", "target_hardware": ["cpu"], "entry_point": "main.py::run", "dependencies": []}}
    (tmp_path / "given" / "stored.json").write_text(json.dumps(solution))
    for words in (("import", "problem", "given"), ("run", "--solution", "given/stored.json", "--out=out", *QUICK)):
        done = ridgebench(*words, cwd=tmp_path)
        assert done.returncode == OK, done.stderr
        assert "note: fixed by the workloads: w; no probe varies them" in done.stderr
    assert "fixed_answer" in done.stdout
    row = rows_of(tmp_path / "out")["stored"]
    assert row["status"] == "ok" and {"fixed_answer", "fixed_inputs"} <= set(row["flags"])
    assert set(trace_of(tmp_path / "out")["ridgebench"]["flags"]) == set(row["flags"])
