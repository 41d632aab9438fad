"""Definitions, workloads and solutions that cannot be read are refused in one line that names the file and what is allowed."""

import json
import struct

import numpy as np
import pytest
from ridgebench.__main__ import main
from ridgebench.base.files import ResultsError
from ridgebench.problems import open_problem
from ridgebench.problems.definition import read_definition
from ridgebench.problems.importing import import_problem
from ridgebench.problems.safetensors import read_tensor
from ridgebench.problems.solution import read_solution
from ridgebench.problems.work import flops_of
from ridgebench.problems.workload import read_workloads

DEFINITION = {
    "name": "Scale-Rows", "op_type": "scaling", "axes": {"M": {"type": "var"}, "N": {"type": "const", "value": 8}},
    "inputs": {"x": {"shape": ["M", "N"], "dtype": "float32"}, "factor": {"shape": None, "dtype": "float32"}},
    "outputs": {"y": {"shape": ["M", "N"], "dtype": "float32"}}, "reference": "def run(x, factor):\n    return x * factor\n"}
WORKLOAD = {"uuid": "one", "axes": {"M": 5}, "inputs": {"x": {"type": "random"}, "factor": {"type": "scalar", "value": 0.5}}}
SOLUTION = {"name": "mine", "definition": "Scale-Rows", "author": "tests", "sources": [{"path": "a/main.py", "content": "def run(): pass"}],
            "spec": {"language": "python", "target_hardware": ["cpu"], "entry_point": "a/main.py::run"}}


def changed(whole, path, value):
    """A copy with another value at a path of keys, or without it where the value is ...."""
    copy = json.loads(json.dumps(whole))
    *parents, last = path.split(".")
    at = copy
    for key in parents:
        at = at[int(key) if key.isdigit() else key]
    if value is ...:
        del at[last]
    else:
        at[last] = value
    return copy


def written(folder, definition=DEFINITION, workloads=(WORKLOAD,)):
    folder.mkdir(exist_ok=True)
    (folder / "definition.json").write_text(json.dumps(definition))
    (folder / "workload.jsonl").write_text("".join(json.dumps(one) + "\n" for one in workloads))
    return folder


def test_a_problem_is_an_operation(tmp_path):
    problem = open_problem(written(tmp_path / "p"))
    assert (problem.operation.name, problem.operation.dimensions, dict(problem.operation.attributes)) == ("scale_rows", ("m",), {"factor": 0.5})
    assert problem.shape(problem.workloads[0]) == "m:5/factor:0.5"
    assert flops_of(problem.definition) is None and problem.operation.engine == "memory"


@pytest.mark.parametrize("path, value, message", [
    ("name", ..., "name is 'None'; allowed: a text"),
    ("axes", {}, "axes is '{}'; allowed: an object with an entry or more"),
    ("axes.M", {"type": "free"}, "axes.M: type is 'free'; allowed: const, var, expr"),
    ("axes.N.value", 0, "axes.N: value is '0'; allowed: a whole number of at least 1"),
    ("axes.N", {"type": "expr", "expression": "K * 2"}, "axes.N: unknown axis 'K'; allowed: M, N"),
    ("axes.N", {"type": "expr", "expression": "N * 2"}, "axis 'N' of Scale-Rows depends on itself"),
    ("axes.N", {"type": "expr", "expression": "open('x')"}, "is not a number, an operator"),
    ("axes.m", {"type": "var"}, "axes and scalar inputs have the name 'm' twice, in lower case"),
    ("inputs.x.shape", ["M", "K"], "inputs.x: shape: unknown axis 'K'; allowed: M, N"),
    ("inputs.x.shape", "M", "inputs.x: shape is 'M'; allowed: a list of axes, or null for one number"),
    ("outputs.x", {"shape": ["M"], "dtype": "float32"}, "inputs and outputs have the name 'x' twice"),
    ("reference", "def run(:", "reference is not Python"),
    ("reference", "run = 3", "reference has no function run; allowed: a top-level function of that name"),
    ("custom_inputs_entrypoint", "make", "reference has no function make"),
    ("flops", "2 * K", "flops: unknown axis 'K'; allowed: M, N"),
])
def test_a_definition_that_is_none(tmp_path, path, value, message):
    folder = written(tmp_path / "p", changed(DEFINITION, path, value))
    with pytest.raises(ResultsError) as refused:
        read_definition(folder / "definition.json")
    assert message in str(refused.value)
    assert "definition.json" in str(refused.value) or "Scale-Rows" in str(refused.value)


@pytest.mark.parametrize("path, value, message", [
    ("uuid", ..., "uuid is"),
    ("axes.M", 0, "axes.M is '0'; allowed: a whole number from 1 to 2^40"),
    ("axes.M", True, "axes.M is 'True'; allowed"),
    ("axes", {}, "axes.M is"),
    ("axes.N", 16, "axes.N is '16'; allowed: 8, as the definition says"),
    ("axes.K", 8, "unknown axis 'K'; allowed: M, N"),
    ("inputs.z", {"type": "random"}, "inputs are 'x', 'factor', 'z'; allowed: x, factor"),
    ("inputs.x", {"type": "noise"}, "inputs.x.type is 'noise'; allowed: random, scalar, safetensors, custom"),
    ("inputs.x", {"type": "custom"}, "inputs.x is custom; allowed: a definition with custom_inputs_entrypoint"),
    ("inputs.x", {"type": "scalar", "value": 1}, "inputs.x is scalar; allowed: scalar for an input whose shape is null, and only there"),
    ("inputs.x", {"type": "safetensors", "path": "a"}, "inputs.x lacks path or tensor_key; allowed: both, as texts"),
    ("inputs.factor", {"type": "random"}, "inputs.factor is random; allowed: scalar for"),
    ("inputs.factor.value", "big", "inputs.factor.value is 'big'; allowed: a number"),
])
def test_a_workload_that_is_none(tmp_path, path, value, message):
    folder = written(tmp_path / "p", workloads=[WORKLOAD, changed(WORKLOAD, path, value)])
    with pytest.raises(ResultsError) as refused:
        read_workloads(folder / "workload.jsonl", read_definition(folder / "definition.json"))
    assert message in str(refused.value) and "workload.jsonl:2" in str(refused.value)


@pytest.mark.parametrize("expression, message", [
    ("M / 2", "axes.N of Scale-Rows, M / 2, is 2.5; allowed: a whole number of at least 1"),
    ("M - 5", "is 0; allowed: a whole number of at least 1"),
    ("M // (M - 5)", "axes.N of Scale-Rows: integer division or modulo by zero"),
])
def test_an_axis_whose_expression_has_no_size(tmp_path, expression, message):
    folder = written(tmp_path / "p", changed(DEFINITION, "axes.N", {"type": "expr", "expression": expression}))
    with pytest.raises(ResultsError) as refused:
        open_problem(folder)
    assert message in str(refused.value) and "workload.jsonl:1" in str(refused.value)


def test_an_axis_may_be_arithmetic_on_numbers(tmp_path):
    definition = changed(DEFINITION, "axes", {"M": {"type": "const", "value": 4}, "N": {"type": "expr", "expression": "2 * 3"}})
    problem = open_problem(written(tmp_path / "p", definition, [changed(WORKLOAD, "axes", {})]))
    assert problem.shape(problem.workloads[0]) == "m:4/n:6/factor:0.5"


def of_type(kind, inputs, flops=None):
    """A problem whose inputs are as large as its output."""
    tensor = {"shape": ["M", "N"], "dtype": "float32"}
    definition = {**DEFINITION, "op_type": kind, "inputs": dict.fromkeys(inputs, tensor),
                  "reference": f"def run({', '.join(inputs)}):\n    return a\n", **({"flops": flops} if flops else {})}
    return definition, {**WORKLOAD, "inputs": dict.fromkeys(inputs, {"type": "random"})}


@pytest.mark.parametrize("kind, inputs, flops", [
    ("add", "ab", "1*(M)*(N)"), ("add", "abc", None), ("add", "a", None), ("relu", "a", "1*(M)*(N)"), ("relu", "ab", None),
    ("swiglu", "a", None), ("swiglu", "ab", "5*(M)*(N)"), ("gelu", "ab", None),
])
def test_flops_are_known_for_the_operands_of_the_operation_only(tmp_path, kind, inputs, flops):
    definition, workload = of_type(kind, inputs)
    assert flops_of(open_problem(written(tmp_path / "p", definition, [workload])).definition) == flops


@pytest.mark.parametrize("flops, note", [
    ("M * N", ""), ("M * N / 2", "note: flops of Scale-Rows are 20 at its first workload, and the suite counts 40 for add"),
])
def test_stated_flops_that_differ_from_those_of_the_suite_are_said(tmp_path, capsys, flops, note):
    definition, workload = of_type("add", "ab", flops)
    assert main(["import", "problem", str(written(tmp_path / "p", definition, [workload])), "-o", str(tmp_path / "out")]) == 0
    said = capsys.readouterr()
    assert note in said.err and bool(said.err) == bool(note) and f"FLOPs {flops}" in said.out


@pytest.mark.parametrize("flops, message", [("0 * M", "are 0; allowed"), ("-M", "are -5; allowed"), ("M / (M - 5)", "division by zero")])
def test_stated_flops_that_are_no_amount(tmp_path, flops, message):
    definition, workload = of_type("add", "ab", flops)
    with pytest.raises(ResultsError, match="flops of Scale-Rows") as refused:
        open_problem(written(tmp_path / "p", definition, [workload]))
    assert message in str(refused.value)


def test_a_workload_comes_once(tmp_path):
    folder = written(tmp_path / "p", workloads=[WORKLOAD, WORKLOAD])
    with pytest.raises(ResultsError, match="the workload 'one' comes twice"):
        read_workloads(folder / "workload.jsonl", read_definition(folder / "definition.json"))


@pytest.mark.parametrize("path, value, message", [
    ("spec", ..., "no solution; allowed: an object with name, definition, spec and sources"),
    ("spec.language", "triton", "the language 'triton'; allowed: python, pytorch, because a solution runs isolated on a host"),
    ("spec.languages", ["pytorch", "cuda_cpp"], "the language 'cuda_cpp'; allowed: python, pytorch"),
    ("spec.entry_point", "main.py::run", "entry_point is 'main.py::run'; allowed: FILE.py::FUNCTION, a file of the sources"),
    ("spec.entry_point", "a/main.py", "entry_point is 'a/main.py'"),
    ("spec.destination_passing_style", "yes", "destination_passing_style is 'yes'; allowed: true or false"),
    ("sources.0.path", "../main.py", "the path '../main.py' of a source; allowed: a relative path without .."),
    ("sources.0.path", "/main.py", "the path '/main.py' of a source"),
    ("sources.0.content", 3, "a source is"),
    ("definition", "", "definition is ''; allowed: a text"),
])
def test_a_solution_that_is_none(tmp_path, path, value, message):
    file = tmp_path / "solution.json"
    file.write_text(json.dumps(changed(SOLUTION, path, value)))
    with pytest.raises(ResultsError) as refused:
        read_solution(file)
    assert message in str(refused.value) and "solution.json" in str(refused.value)


@pytest.mark.parametrize("path, value, message", [
    ("inputs.x.dtype", "int64", "x is int64; allowed: float64, float32"),
    ("outputs.y.dtype", "float4_e2m1", "y is float4_e2m1; allowed: float64"),
])
def test_a_type_that_no_operand_has(tmp_path, path, value, message):
    with pytest.raises(ResultsError, match=message):
        open_problem(written(tmp_path / "p", changed(DEFINITION, path, value)))


def test_a_problem_whose_inputs_are_all_fixed_is_refused(tmp_path):
    definition = changed(DEFINITION, "reference", "def make(sizes, device):\n    return {}\n\ndef run(x, factor):\n    return x\n")
    definition["custom_inputs_entrypoint"] = "make"
    with pytest.raises(ResultsError, match="every input is fixed, so that a solution could keep its answers"):
        open_problem(written(tmp_path / "p", definition, [changed(WORKLOAD, "inputs.x", {"type": "custom"})]))


def test_an_input_that_only_some_workloads_fix_is_refused(tmp_path):
    definition = changed(DEFINITION, "inputs.z", {"shape": ["M"], "dtype": "float32"})
    definition["reference"] = "def run(x, factor, z):\n    return x\n"
    random = changed(WORKLOAD, "inputs.z", {"type": "random"})
    fixed = changed(changed(random, "uuid", "two"), "inputs.z", {"type": "safetensors", "path": "a.safetensors", "tensor_key": "z"})
    with pytest.raises(ResultsError, match="z is random in the workload 'one' and fixed in another; allowed: one of both"):
        open_problem(written(tmp_path / "p", definition, [random, fixed]))
    assert "z" in open_problem(written(tmp_path / "q", definition, [fixed])).fixed_note
    assert open_problem(written(tmp_path / "r", definition, [random])).fixed_note == ""


def tensors(file, **arrays):
    """A safetensors file."""
    header, data = {}, b""
    names = {np.dtype("float32"): "F32", np.dtype("int64"): "I64"}
    for name, array in arrays.items():
        header[name] = {"dtype": names[array.dtype], "shape": array.shape, "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(struct.pack("<Q", len(text)) + text + data)


def test_the_layout_of_flashinfer_trace_with_tensors_of_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    definition = changed(DEFINITION, "inputs.rows", {"shape": ["M"], "dtype": "int64"})
    definition["reference"] = "def run(x, factor, rows):\n    return x[rows] * factor\n"
    entry = {"type": "safetensors", "path": "blob/a.safetensors", "tensor_key": "rows"}
    workload = changed(WORKLOAD, "inputs.rows", entry)
    for folder, name, text in (("definitions", "scale.json", json.dumps(definition)),
                               ("workloads", "scale.jsonl", json.dumps({"definition": "Scale-Rows", "workload": workload}))):
        (tmp_path / "data" / folder / "scaling").mkdir(parents=True)
        (tmp_path / "data" / folder / "scaling" / name).write_text(text)
    rows = np.array([4, 3, 2, 1, 0])
    tensors(tmp_path / "data" / "blob" / "a.safetensors", other=np.ones(3, np.float32), rows=rows)
    folder, _, workloads = import_problem(tmp_path / "data" / "definitions" / "scaling" / "scale.json")
    assert folder.as_posix() == "problems/scale_rows" and len(workloads) == 1
    problem = open_problem(folder)
    assert (problem.inputs.fixed(0)["rows"] == rows).all() and problem.inputs.fixed_bytes(0) == 40
    assert problem.shape(problem.workloads[0]) == "m:5/factor:0.5/workload:0"
    x = np.arange(40.0).reshape(5, 8)
    assert (problem.operation.reference(x, factor=0.5, workload=0) == x[rows] / 2).all()


def test_a_tensor_that_a_file_does_not_have(tmp_path):
    file = tmp_path / "a.safetensors"
    tensors(file, rows=np.arange(3))
    with pytest.raises(ResultsError, match="no tensor 'x' of a known type"):
        read_tensor(file, "x")
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(ResultsError, match="no tensor 'rows' of a known type"):
        read_tensor(file, "rows")
    file.write_bytes(b"\xff" * 9)
    with pytest.raises(ResultsError, match="no tensor"):
        read_tensor(file, "rows")


@pytest.mark.parametrize("name, entry", [("outside", "../a.safetensors"), ("missing", "b.safetensors")])
def test_a_file_that_is_not_below_the_folder_is_refused(tmp_path, monkeypatch, name, entry):
    monkeypatch.chdir(tmp_path)
    tensors(tmp_path / "a.safetensors", x=np.ones((5, 8), np.float32))
    definition = changed(DEFINITION, "inputs.z", {"shape": ["M"], "dtype": "float32"})
    definition["reference"] = "def run(x, factor, z):\n    return x\n"
    workload = changed(WORKLOAD, "inputs.z", {"type": "safetensors", "path": entry, "tensor_key": "x"})
    given = written(tmp_path / "p", definition, [workload])
    with pytest.raises(ResultsError, match="of a workload; allowed: a file below that folder"):
        import_problem(given)
    assert list((tmp_path / "problems").iterdir()) == [], "a refused problem leaves nothing"
    if name == "missing":
        tensors(tmp_path / "elsewhere" / entry, x=np.ones(5, np.float32))
        folder, *_ = import_problem(given, root=tmp_path / "elsewhere")
        assert open_problem(folder).inputs.fixed(0)["z"].shape == (5,)
