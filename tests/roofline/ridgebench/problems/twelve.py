"""Twelve problems with a right and a wrong solution each, in code that NumPy and torch both run (`xp`)."""

import json
from pathlib import Path
from typing import Any, NamedTuple

VAR = {"type": "var"}


class Written(NamedTuple):
    """A problem. The bodies of its functions get the inputs by name; `right` and `wrong` write the outputs."""

    op_type: str
    axes: dict[str, Any]  # an int is a constant, a text an expression, VAR a variable
    inputs: dict[str, str]  # "float32[M,N]", or "float32" for one number
    outputs: dict[str, str]
    sizes: dict[str, int]
    values: dict[str, Any]  # of inputs that are not random
    reference: str  # assigns the outputs' values to names: the outputs with _ behind
    wrong: tuple[str, str]  # a text of the reference, and what the wrong solution has in its place
    flops: Any = None  # as expected of the operation, at `sizes`; None: unknown
    custom: str = ""


SOFTMAX = "e = xp.exp({0} - xp.amax({0}, axis=-1, keepdims=True))\np = e / xp.sum(e, axis=-1, keepdims=True)\n"

TWELVE = {
    "gemm": Written("gemm", {"M": VAR, "N": 24, "K": 40}, {"A": "float32[M,K]", "B": "float32[N,K]"}, {"C": "float32[M,N]"},
                    {"M": 16}, {}, "C_ = xp.matmul(A, xp.swapaxes(B, 0, 1))", ("(A, ", "(A * (1 + 1e-3), "), 2 * 16 * 24 * 40),
    "linear_gelu": Written(
        "linear", {"M": VAR, "N": 8, "K": 32}, {"x": "float32[M,K]", "w": "float32[N,K]", "b": "float32[N]"}, {"y": "float32[M,N]"},
        {"M": 32}, {}, "h = xp.einsum('mk,nk->mn', x, w) + b\ny_ = h / 2 * (1 + xp.tanh(0.7978845608028654 * (h + 0.044715 * h * h * h)))",
        ("0.044715", "0.044"), None),
    "attention": Written(
        "gqa_ragged", {"B": VAR, "S": VAR, "H": 2, "D": 16}, {name: "float32[B,S,H,D]" for name in "qkv"} | {"scale": "float32"},
        {"out": "float32[B,S,H,D]", "lse": "float32[B,S,H]"}, {"B": 2, "S": 12}, {"scale": 0.25},
        "s = xp.einsum('bihd,bjhd->bhij', q, k) * scale\ni = xp.arange(s.shape[-1])\n"
        "s = xp.where((i[None, :] > i[:, None])[None, None], -1e30, s)\n" + SOFTMAX.format("s")
        + "out_ = xp.einsum('bhij,bjhd->bihd', p, v)\n"
        "lse_ = xp.swapaxes(xp.log(xp.sum(e, axis=-1)) + xp.amax(s, axis=-1), 1, 2)", (" > i[:, None]", " > i[:, None] + 1")),
    "attention_decode": Written(
        "attention_decode", {"B": VAR, "H": 3, "T": VAR, "D": 8}, {"q": "float32[B,H,D]", "k": "float32[B,T,H,D]", "v": "float32[B,T,H,D]"},
        {"out": "float32[B,H,D]"}, {"B": 4, "T": 20}, {},
        "s = xp.einsum('bhd,bthd->bht', q, k)\n" + SOFTMAX.format("s") + "out_ = xp.einsum('bht,bthd->bhd', p, v)",
        ("'bht,bthd->bhd', p", "'bht,bthd->bhd', e"), (4 * 8 + 5) * 4 * 3 * 20),
    "rmsnorm": Written(
        "rmsnorm", {"batch_size": VAR, "hidden_size": 48}, {"x": "float32[batch_size,hidden_size]", "weight": "float32[hidden_size]",
                                                            "eps": "float32"}, {"y": "float32[batch_size,hidden_size]"},
        {"batch_size": 24}, {"eps": 0.125}, "y_ = x / xp.sqrt(xp.mean(x * x, axis=-1, keepdims=True) + eps) * weight",
        ("+ eps", "+ eps / 2"), 4 * 24 * 48 + 3 * 24),
    "add_layernorm": Written(
        "layernorm", {"R": VAR, "C": 32}, {"x": "float32[R,C]", "residual": "float32[R,C]"}, {"y": "float32[R,C]", "sum": "float32[R,C]"},
        {"R": 20}, {}, "sum_ = x + residual\nc = sum_ - xp.mean(sum_, axis=-1, keepdims=True)\n"
        "y_ = c / xp.sqrt(xp.mean(c * c, axis=-1, keepdims=True) + 1e-5)", ("y_ = c", "y_ = sum_")),
    "softmax": Written("softmax", {"M": VAR, "N": VAR}, {"x": "float32[M,N]"}, {"y": "float32[M,N]"}, {"M": 10, "N": 70}, {},
                       SOFTMAX.format("x") + "y_ = p", ("p = e / xp.sum(e, axis=-1", "p = e / xp.sum(e, axis=0"), 5 * 10 * 70),
    "rope": Written(
        "rope", {"T": VAR, "H": 4, "D": 16, "half": "D // 2"}, {"x": "float32[T,H,D]", "cos": "float32[T,half]", "sin": "float32[T,half]"},
        {"y": "float32[T,H,D]"}, {"T": 12}, {},
        "n = x.shape[-1] // 2\na, b, c, s = x[..., :n], x[..., n:], cos[:, None], sin[:, None]\n"
        "y_ = xp.reshape(xp.swapaxes(xp.stack([a * c - b * s, a * s + b * c]), 0, 2), x.shape)\n"
        "y_ = xp.stack([a * c - b * s, a * s + b * c], -2)\ny_ = xp.reshape(y_, x.shape)", ("a * s + b * c], -2", "b * c - a * s], -2"),
        3 * 12 * 4 * 16),
    "moe_gate": Written(
        "moe", {"T": VAR, "E": 8}, {"logits": "float32[T,E]"}, {"expert": "int32[T]", "weight": "float32[T]"}, {"T": 60}, {},
        SOFTMAX.format("logits") + "expert_ = xp.argmax(p, axis=-1)\nweight_ = xp.amax(p, axis=-1)", ("argmax(p", "argmax(-p")),
    "swiglu": Written("swiglu", {"n": VAR, "d": 64}, {"gate": "float32[n,d]", "up": "float32[n,d]"}, {"h": "float32[n,d]"}, {"n": 9}, {},
                      "h_ = gate / (1 + xp.exp(-gate)) * up", ("exp(-gate)", "exp(-1.001 * gate)"), 5 * 9 * 64),
    "embedding": Written(
        "embedding", {"T": VAR, "V": 50, "D": 16}, {"table": "float32[V,D]", "ids": "int64[T]"}, {"y": "float32[T,D]"}, {"T": 30},
        {"ids": "custom"}, "y_ = table[ids]", ("[ids]", "[ids // 2]"),
        custom="def make(sizes, device):\n    return {'ids': xp.arange(sizes['T']) * 7 % sizes['V']}\n"),
    "masked_mean": Written(
        "pooling", {"B": VAR, "S": 24}, {"x": "float32[B,S]", "keep": "bool[B,S]"}, {"y": "float32[B]"}, {"B": 12}, {},
        "y_ = xp.sum(xp.where(keep, x, 0 * x), axis=-1) / (1 + xp.sum(keep, axis=-1))", ("1 + xp.sum", "xp.sum"), flops=3 * 12 * 24),
}
STATED = {"masked_mean": "3 * B * S"}  # the key `flops` of definitions


def _tensor(text: str) -> dict[str, Any]:
    dtype, bracket, axes = text.partition("[")
    return {"dtype": dtype, "shape": axes.rstrip("]").split(",") if bracket else None}


def _axis(given: Any) -> dict[str, Any]:
    if isinstance(given, dict):
        return given
    return {"type": "expr", "expression": given} if isinstance(given, str) else {"type": "const", "value": given}


def _indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


def _prelude(library: str) -> str:
    return f"import {library} as xp\n\n"


def _writes(problem: Written) -> str:
    return "".join(f"{name}[...] = {name}_\n" for name in problem.outputs)


def source_of(problem: Written, body: str, library: str) -> str:
    """A solution that gets its outputs."""
    arguments = ", ".join((*problem.inputs, *problem.outputs))
    return f"{_prelude(library)}def run({arguments}):\n{_indented(body + chr(10) + _writes(problem))}"


def right(problem: Written, library: str) -> str:
    return source_of(problem, problem.reference, library)


def wrong(problem: Written, library: str) -> str:
    before, after = problem.wrong
    assert problem.reference.count(before) >= 1
    return source_of(problem, problem.reference.replace(before, after), library)


def remembers(problem: Written, library: str) -> str:
    """A cheat: the first answer for the memory of an output is kept and copied."""
    first = next(iter(problem.outputs))
    address = f"{first}.data_ptr()" if library == "torch" else f"{first}.ctypes.data"
    kept = "".join(f"{name}[...] = kept[address][{i}]\n" for i, name in enumerate(problem.outputs))
    values = ", ".join(f"{name}_" for name in problem.outputs)
    body = f"address = {address}\nif address not in kept:\n{_indented(problem.reference)}    kept[address] = [{values}]\n{kept}"
    arguments = ", ".join((*problem.inputs, *problem.outputs))
    return f"{_prelude(library)}kept = {{}}\n\ndef run({arguments}):\n{_indented(body)}"


def write_problem(folder: Path, name: str, library: str) -> Path:
    """definition.json and workload.jsonl."""
    problem = TWELVE[name]
    values = ", ".join(f"{one}_" for one in problem.outputs)
    reference = (f"{_prelude(library)}{problem.custom}\ndef run({', '.join(problem.inputs)}):\n{_indented(problem.reference)}"
                 f"    return {values}\n")
    definition = {"name": f"{name}_of_ours", "op_type": problem.op_type, "axes": {one: _axis(axis) for one, axis in problem.axes.items()},
                  "inputs": {one: _tensor(text) for one, text in problem.inputs.items()},
                  "outputs": {one: _tensor(text) for one, text in problem.outputs.items()}, "reference": reference}
    if problem.custom:
        definition["custom_inputs_entrypoint"] = "make"
    if name in STATED:
        definition["flops"] = STATED[name]
    inputs: dict[str, Any] = {}
    for one in problem.inputs:
        value = problem.values.get(one)
        inputs[one] = {"type": "custom" if value == "custom" else "random"} if not isinstance(value, float) else {"type": "scalar",
                                                                                                                  "value": value}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "definition.json").write_text(json.dumps(definition))
    (folder / "workload.jsonl").write_text(json.dumps({"uuid": f"{name}-1", "axes": problem.sizes, "inputs": inputs}) + "\n")
    return folder


def write_solution(file: Path, name: str, label: str, source: str, **spec: Any) -> Path:
    file.write_text(json.dumps({
        "name": label, "definition": f"{name}_of_ours", "author": "tests",
        "spec": {"language": "python", "target_hardware": ["cpu"], "entry_point": "main.py::run", "dependencies": [], **spec},
        "sources": [{"path": "main.py", "content": source}]}))
    return file
