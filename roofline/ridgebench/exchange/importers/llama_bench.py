"""llama-bench of llama.cpp: `-o json` and `-o jsonl`. github.com/ggml-org/llama.cpp, tools/llama-bench/README.md.

A row is a test: a prompt of n_prompt tokens (pp512), n_gen tokens one after the other (tg128), or both. FLOPs are 2 for
each parameter and token; bytes are the weights, once for each pass: of n_ubatch tokens of the prompt, or of one new
token. Attention and the cache of keys and values are left out. A mixture of experts has neither, because the file does
not say how many parameters a token meets.
"""

import re
from pathlib import Path
from statistics import median
from typing import Any, Optional

from ridgebench.base.files import ResultsError, read
from ridgebench.base.text import quoted

from .known_work import hold
from .point import Imported, Point, bad, document, named, number, shape_of, size, time, work

_BACKENDS = {"CPU": "cpu", "BLAS": "cpu", "CUDA": "cuda"}
_BATCH, _UBATCH = 2048, 512  # tokens, where a row does not say it: llama-bench's defaults
# Architectures without experts, as src/llama-arch.cpp names them: the first word of model_type. Llama's may have some.
_DENSE = frozenset((
    "llama", "deci", "falcon", "gpt2", "gptj", "gptneox", "mpt", "baichuan", "starcoder", "starcoder2", "refact", "bloom", "stablelm",
    "qwen", "qwen2", "qwen2vl", "qwen3", "qwen3vl", "phi2", "phi3", "codeshell", "orion", "internlm2", "gemma", "gemma2", "gemma3",
    "xverse", "command-r", "cohere2", "olmo", "olmo2", "chatglm", "glm4", "jais", "nemotron", "exaone", "exaone4", "ernie4_5",
    "hunyuan-dense", "smollm3", "seed_oss", "apertus", "arcee", "mistral3", "bitnet"))  # fmt: skip
_EXPERTS = re.compile(r"moe|\b\d+x\d|\bA\d+(\.\d+)?B\b", re.IGNORECASE)  # qwen3moe 30B.A3B, llama 8x7B
_SIZE = re.compile(r"\s(\d+(?:\.\d+)?)([BM])\b")  # llama 8B Q4_0; a name counts the parameters that a token meets
_MOST_OF_SIZE = 1.5  # phi3 3B has 3.8 billion parameters
_MEASURED = ("test_time", "avg_ns", "stddev_ns", "avg_ts", "stddev_ts", "samples_ns", "samples_ts")  # the other keys are settings
_NOTE = ("FLOPs are 2 for each parameter and token, bytes are the weights once for each pass; attention and the cache are left out")


def _rows(text: str, path: Path) -> list[Any]:
    """The tests of a file: a list, or a line for each."""
    if text.lstrip().startswith("["):
        return document(f'{{"tests": {text}}}', str(path))["tests"]
    return [document(line, f"{path}:{index}") for index, line in enumerate(text.splitlines(), 1) if line.strip()]


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


def _is_dense(row: dict, parameters: float) -> bool:
    """True if a token meets all parameters, as far as the names of the model say it."""
    kind = str(row["model_type"])
    if kind.partition(" ")[0] not in _DENSE or _EXPERTS.search(f"{kind} {row.get('model_filename')}"):
        return False
    size_ = _SIZE.search(kind)
    return size_ is None or parameters <= _MOST_OF_SIZE * float(size_[1]) * (1e9 if size_[2] == "B" else 1e6)


def _passes(row: dict, prompt: int, origin: str) -> int:
    """The times that a prompt reads the weights: it is cut into batches, and each of them into micro-batches."""
    batch, part = (max(_count(row, key, origin, default), 1) for key, default in (("n_batch", _BATCH), ("n_ubatch", _UBATCH)))
    return prompt // batch * -(-batch // part) + -(-(prompt % batch) // part)


def _check_rate(row: dict, tokens: int, times: list[float], origin: str) -> None:
    """Raises ResultsError if the file's tokens per second contradict its times."""
    right = tokens / median(times)
    hold(origin, "avg_ts is", number(row.get("avg_ts", right), origin, "avg_ts"), f"{tokens} tokens and the time give", right)


def _work(row: dict, prompt: int, generated: int, origin: str) -> tuple[Optional[float], Optional[float]]:
    """FLOPs and bytes of a test; None where the file does not say enough."""
    parameters, weights = (number(row.get(key, 0), origin, key) for key in ("model_n_params", "model_size"))
    passes = _passes(row, prompt, origin) + generated
    if not _is_dense(row, parameters):
        return None, None
    flops, moved = 2.0 * parameters * (prompt + generated), weights * passes
    return (work(flops, origin, "FLOPs") or None), (work(moved, origin, "bytes") or None)


def _point(row: dict, origin: str) -> Point:
    prompt, generated, depth = (_count(row, key, origin) for key in ("n_prompt", "n_gen", "n_depth"))
    if prompt + generated == 0:
        raise bad(origin, "n_prompt and n_gen are 0; allowed: a test with tokens")
    test = "+".join(filter(None, (f"pp{prompt}" * (prompt > 0), f"tg{generated}" * (generated > 0))))
    name = f"{named(row, 'model_type', origin)} {test}"
    times, is_mean = _times(row, prompt + generated, origin)
    _check_rate(row, prompt + generated, times, origin)
    flops, moved = _work(row, prompt, generated, origin)
    sizes = {"prompt": prompt, "gen": generated, "depth": depth, "ubatch": row.get("n_ubatch", 0), "threads": row.get("n_threads", 0)}
    return Point(origin, name, times, is_mean=is_mean, flops=flops, bytes=moved, shape=shape_of(sizes),
                 details={key: value for key, value in row.items() if key not in _MEASURED})


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
                imported.name_device(0, model, origin)
            imported.points.append(point)
    return imported
