"""llama-bench of llama.cpp: `-o json` and `-o jsonl`. github.com/ggml-org/llama.cpp, tools/llama-bench/README.md.

A row is a test: a prompt of n_prompt tokens (pp512), n_gen tokens one after the other (tg128), or both. FLOPs are 2 for
each parameter and token; bytes are the weights, once for each pass: of n_ubatch tokens of the prompt, or of one new
token. Attention and the cache of keys and values are left out. A mixture of experts has neither, because the file does
not say how many parameters a token meets.
"""

import re
from pathlib import Path
from typing import Any, Optional

from ridgebench.base.files import ResultsError, parse_lenient, read
from ridgebench.base.text import quoted

from .point import Imported, Point, bad, named, number, shape_of, size, time, work

_BACKENDS = {"CPU": "cpu", "BLAS": "cpu", "CUDA": "cuda"}
_UBATCH = 512  # tokens, where a row does not say it: llama-bench's default
_EXPERTS = re.compile(r"moe|\b\d+x\d|\bA\d+(\.\d+)?B\b", re.IGNORECASE)  # qwen3moe 30B.A3B, llama 8x7B
_NOTE = ("FLOPs are 2 for each parameter and token, bytes are the weights once for each pass; attention and the cache are left out")


def _rows(text: str, path: Path) -> list[Any]:
    """The tests of a file: a list, or a line for each."""
    if text.lstrip().startswith("["):
        return parse_lenient(f'{{"tests": {text}}}', str(path))["tests"]
    return [parse_lenient(line, f"{path}:{index}") for index, line in enumerate(text.splitlines(), 1) if line.strip()]


def _count(row: dict, key: str, origin: str, default: int = 0) -> int:
    """A number of tokens. Raises ResultsError."""
    value = row.get(key, default)
    found = 0 if value == 0 else size(value)
    if found is None or isinstance(value, bool):
        raise bad(origin, f"{key} is {quoted(value)}; allowed: a whole number from 0 to 2^40")
    return found


def _times(row: dict, tokens: int, origin: str) -> tuple[list[float], bool]:
    """Seconds of the repetitions, or their mean and True."""
    samples = row.get("samples_ns")
    if isinstance(samples, list) and samples:
        return [time(number(one, origin, "samples_ns") / 1e9, origin, "samples_ns") for one in samples], False
    if row.get("avg_ns") is not None:
        return [time(number(row["avg_ns"], origin, "avg_ns") / 1e9, origin, "avg_ns")], True
    rate = number(row.get("avg_ts"), origin, "avg_ts")
    if rate <= 0:
        raise bad(origin, f"avg_ts is {rate:g}; allowed: more than 0 tokens a second")
    return [time(tokens / rate, origin, "avg_ts")], True


def _work(row: dict, prompt: int, generated: int, origin: str) -> tuple[Optional[float], Optional[float]]:
    """FLOPs and bytes of a test; None where the file does not say enough."""
    names = f"{row.get('model_type')} {row.get('model_filename')}"
    if _EXPERTS.search(names):
        return None, None
    parameters, weights = (number(row.get(key, 0), origin, key) for key in ("model_n_params", "model_size"))
    passes = -(-prompt // max(_count(row, "n_ubatch", origin, _UBATCH), 1)) + generated
    flops, moved = 2.0 * parameters * (prompt + generated), weights * passes
    return (work(flops, origin, "FLOPs") or None), (work(moved, origin, "bytes") or None)


def _point(row: dict, origin: str) -> Point:
    prompt, generated, depth = (_count(row, key, origin) for key in ("n_prompt", "n_gen", "n_depth"))
    if prompt + generated == 0:
        raise bad(origin, "n_prompt and n_gen are 0; allowed: a test with tokens")
    test = "+".join(filter(None, (f"pp{prompt}" * (prompt > 0), f"tg{generated}" * (generated > 0))))
    name = f"{named(row, 'model_type', origin)} {test}"
    times, is_mean = _times(row, prompt + generated, origin)
    flops, moved = _work(row, prompt, generated, origin)
    sizes = {"prompt": prompt, "gen": generated, "depth": depth, "ubatch": row.get("n_ubatch", 0), "threads": row.get("n_threads", 0)}
    return Point(origin, name, times, is_mean=is_mean, flops=flops, bytes=moved, shape=shape_of(sizes))


def _backend(row: dict, origin: str) -> str:
    """The backend that measured a row, the first of several. Raises ResultsError."""
    names = str(row.get("backends", "CPU")).split(",")
    if names[0] not in _BACKENDS:
        raise ResultsError(f"{origin}: backends is {quoted(row.get('backends'))}; ridgebench has {', '.join(_BACKENDS)}")
    if _BACKENDS[names[0]] == "cuda" and row.get("n_gpu_layers") == 0:
        raise ResultsError(f"{origin}: n_gpu_layers is 0: the processor computed the layers, and the GPU at most parts of them")
    return _BACKENDS[names[0]]


def load(path: Path) -> Imported:
    rows = _rows(read(path, "llama-bench's JSON"), path)
    imported = Imported([], notes=[_NOTE])
    for index, row in enumerate(rows):
        origin = f"{path}: test {index + 1}"
        with imported.row():
            if not isinstance(row, dict) or "model_type" not in row:
                raise bad(origin, "no test of a model; is this the output of llama-bench -o json?")
            backend = _backend(row, origin)
            if imported.backend not in (None, backend):
                raise bad(origin, f"measured by {backend}, and the tests before by {imported.backend}; allowed: one of them in a file")
            point = _point(row, origin)
            imported.backend = backend
            model = row.get("cpu_info" if backend == "cpu" else "gpu_info")
            if isinstance(model, str) and model:
                imported.models.setdefault(0, model)
            imported.points.append(point)
    return imported
