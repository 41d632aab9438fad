"""predict(), plan() and roofline() answer as the program does with --json, by the library and not by a second model."""

import os
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
import ridgebench
from build_folder import skip_if_sanitized
from command_line import answer, one_line
from command_line import ridgebench as run

skip_if_sanitized(Path(os.environ["RIDGEBENCH_LIBRARY"]))

ROOT = Path(__file__).resolve().parents[4]
RESULTS = ROOT / "results" / "intel-r-xeon-r-processor-2-threads" / "2026-11-26-ac38e7c"
SHEET = ROOT / "roofline" / "devices" / "l4.json"
ANSWERS = [
    (lambda: ridgebench.predict("matmul", m=4096, n=4096, k=4096, format="bf16", on="h100"),
     ("predict", "matmul", "m:4096/n:4096/k:4096", "--format", "bf16", "--on", "h100")),
    (lambda: ridgebench.predict("matmul", m=64, n="1k", k=128, layout="nn", format="fp8", on="NVIDIA H200"),
     ("predict", "matmul", "m:64/n:1k/k:128/layout:nn", "--format", "fp8", "--on", "h200")),
    (lambda: ridgebench.predict("gelu", "n:1M", format="fp32", on=RESULTS), ("predict", "gelu", "n:1M", "--format", "fp32", "--on", RESULTS)),
    (lambda: ridgebench.predict("dot", n=1 << 20, format="fp16", on=SHEET), ("predict", "dot", "n:1048576", "--format", "fp16", "--on", SHEET)),
    (lambda: ridgebench.predict("matmul", solve="n", format="bf16", on="h100"),
     ("predict", "matmul", "--solve", "n", "--format", "bf16", "--on", "h100")),
    (lambda: ridgebench.predict("table", format="bf16", m=16, on="a100"), ("predict", "table", "--format", "bf16", "--m", "16", "--on", "a100")),
    (lambda: ridgebench.predict("model", "llama-3-8b", batch=[1, 64], context=4096, on="h100"),
     ("predict", "model", "llama-3-8b", "--batch", "1,64", "--context", "4096", "--on", "h100")),
    (lambda: ridgebench.predict("model", "gpt-2", training=True, csv=False, on="b200"), ("predict", "model", "gpt-2", "--training", "--on", "b200")),
    (lambda: ridgebench.plan("train", params=7e9, tokens="1e12", gpus=8, mfu=0.4, on="h100"),
     ("plan", "train", "--params", "7e9", "--tokens", "1e12", "--gpus", "8", "--mfu", "0.4", "--on", "h100")),
    (lambda: ridgebench.plan("mfu", flops=5.4e14, time=1, on=SimpleNamespace(name="NVIDIA H100 80GB HBM3")),
     ("plan", "mfu", "--flops", "5.4e14", "--time", "1", "--on", "h100")),
    (lambda: ridgebench.plan("train", params="7e9", tokens="1e12", gpus=8, mfu=0.4, step_tokens="1M", on="h100"),
     ("plan", "train", "--params", "7e9", "--tokens", "1e12", "--gpus", "8", "--mfu", "0.4", "--step-tokens", "1M", "--on", "h100")),
    (lambda: ridgebench.plan("einsum", "bd,dk->bk", size=["b=1k", "d=256", "k=64"]), ("plan", "einsum", "bd,dk->bk", "--size", "b=1k,d=256,k=64")),
    (lambda: ridgebench.plan("zero", params="7e9", stage=3, ranks=8), ("plan", "zero", "--params", "7e9", "--stage", "3", "--ranks", "8")),
    (lambda: ridgebench.roofline("H100"), ("info", "--on", "h100")),
    (lambda: ridgebench.roofline(RESULTS), ("info", "--on", RESULTS)),
    (lambda: ridgebench.roofline(ridgebench.devices()[0]), ("info", "--on", "a10")),
]


@pytest.mark.parametrize("call, words", ANSWERS, ids=[" ".join(map(str, words[:3])) for _, words in ANSWERS])
def test_an_answer_equals_that_of_the_program(call, words, capfd):
    assert call() == answer(*words)
    assert capfd.readouterr() == ("", "")


REFUSALS = [
    (lambda: ridgebench.predict("matmul", m=4096, format="bf16", on="h100"), ("predict", "matmul", "m:4096", "--format", "bf16", "--on", "h100")),
    (lambda: ridgebench.predict("matmul", "n:64", format="bf15", on="h100"), ("predict", "matmul", "n:64", "--format", "bf15", "--on", "h100")),
    (lambda: ridgebench.predict("matmul", "n:64", format="bf16", on="h2000"), ("predict", "matmul", "n:64", "--format", "bf16", "--on", "h2000")),
    (lambda: ridgebench.plan("train", wrong=1), ("plan", "train", "--wrong=1")),
    (lambda: ridgebench.plan("trains"), ("plan", "trains")),
    (lambda: ridgebench.roofline(""), ("info", "--on=")),
]


@pytest.mark.parametrize("call, words", REFUSALS, ids=[" ".join(words[:4]) for _, words in REFUSALS])
def test_a_refusal_is_the_line_of_the_program(call, words, capfd):
    with pytest.raises(ridgebench.RequestError) as refused:
        call()
    assert f"ridgebench: {refused.value}\n" == one_line(run(*words, "--json"), refused.value.code)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("call, message", [
    (lambda: ridgebench.predict("matmul", "n:64", m=3, on="h100"), "matmul has the shape n:64 and the dimensions m:3; allowed: one of them"),
    (lambda: ridgebench.predict("matmul", n={}, on="h100"), "n has the type dict; allowed: a text, a number, a path or a list of them"),
    (lambda: ridgebench.plan("train", on=SimpleNamespace(name="NVIDIA A100")), "'NVIDIA A100' may be one of several devices: "),
    (lambda: ridgebench.plan("train", params="7\0"), "a word contains a zero byte; allowed: texts without one"),
    (lambda: ridgebench.plan("train", "--help"), "the words have no answer in JSON; allowed: words without --help"),
])  # fmt: skip
def test_a_question_that_is_no_command_line_is_one_line(call, message, capfd):
    with pytest.raises(ridgebench.RequestError) as refused:
        call()
    assert str(refused.value).startswith(message) and "\n" not in str(refused.value)
    assert capfd.readouterr() == ("", "")


def test_threads_get_their_own_answers():
    sizes, found = [64 << at for at in range(8)], {}

    def ask(size: int) -> None:
        found[size] = ridgebench.predict("matmul", m=size, n=size, k=size, format="bf16", on="h100")["shape"]["m"]

    threads = [threading.Thread(target=ask, args=[size]) for size in sizes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {size: size for size in sizes}


def test_a_library_that_is_not_there_is_one_line(tmp_path, monkeypatch):
    from ridgebench.base import native

    monkeypatch.setenv("RIDGEBENCH_LIBRARY", str(tmp_path / "none.so"))
    with pytest.raises(ridgebench.RequestError, match="none.so is not a file; allowed: the path of libridgebench.so"):
        native.load(native.SIGNATURES)
