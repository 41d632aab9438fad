"""Own kernels from Python: what cannot be measured is refused with one line, before a folder is made."""

import os
from pathlib import Path

import numpy as np
import pytest
import ridgebench
from build_folder import skip_if_sanitized
from ridgebench.base import native
from ridgebench.kernels import library
from ridgebench.kernels.library import KernelError, decode, encode, find
from ridgebench.kernels.measure import measure
from ridgebench.kernels.operation import kernel, operation

skip_if_sanitized(Path(os.environ["RIDGEBENCH_LIBRARY"]))


def scale(signature="x[n] -> y[n]", name="scale", **more):
    return operation(name, signature, lambda *x: x[0], **{"flops": 1, **more})


def copying(of=None, **more):
    return kernel(of or scale(), **{"name": "copy", **more})(lambda x, y: np.copyto(y, x))


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: scale("x[n]"), "has no arrow; allowed: inputs -> output"),
        (lambda: scale("x[a,a] -> x[a]"), "operand x of scale differs on both sides of the arrow; allowed: the same format"),
        (lambda: scale("x[n+] -> y[n]"), "dimension 'n+' of x in the signature of scale: invalid syntax"),
        (lambda: scale("x[f(n)] -> y[n]"), "'f(n)' is not a number, an operator"),
        (lambda: scale("i:int32[n] -> y[n]"), "operand i of scale is int32 and has no values; allowed: values={'i': ridgebench"),
        (lambda: scale(values={"z": ridgebench.uniform(0, 1)}), "values of 'z', which scale does not read; allowed: x"),
        (lambda: scale(values={"x": 3}), "the values of x are 3; allowed: ridgebench.uniform() or ridgebench.integers_below()"),
        (lambda: scale(attributes={"eps": "small"}), "attribute 'eps' of scale is 'small'; allowed: a name with a number"),
        (lambda: scale("x(n) -> y[n]"), "'x(n)' in the signature of scale is not an operand; allowed: x[m,n]"),
        (lambda: scale(" -> y[n]"), "is not an operand"),
        (lambda: scale(7), "name and signature are texts"),
        (lambda: scale(formats=[]), "formats is []; allowed: a name, or a list of names"),
        (lambda: operation("scale", "x[n] -> y[n]", 3, flops=1), "the reference of scale is 3; allowed: a function"),
        (lambda: kernel(3), "kernel(3): allowed: what ridgebench.operation() returned"),
        (lambda: kernel(scale(), library="jax"), "unknown library 'jax'; allowed: numpy, torch, cupy"),
        (lambda: kernel(scale())(3), "a kernel of scale is 3; allowed: a function of its operands"),
        (lambda: encode(np.ones(3), "fp4"), "unknown format 'fp4'; allowed: fp32"),
        (lambda: decode(np.ones(3), None), "unknown format None; allowed: fp32"),
    ],
)
def test_a_description_that_is_none_is_refused(make, message):
    with pytest.raises(KernelError) as refused:
        make()
    assert message in str(refused.value)
    assert refused.value.code == 2


@pytest.mark.parametrize(
    "kernels, shapes, more, message",
    [
        ([], "n:7", {}, "there is no kernel to measure; allowed: one or more"),
        ([print], "n:7", {}, "is not a kernel; allowed: functions that ridgebench.kernel() wrapped"),
        (copying(), [], {}, "scale has no shape to be measured at"),
        (copying(), "m:7", {}, "'m'"),
        (copying(), "n:0", {}, "n:0"),
        (copying(), "n:1e30", {}, "1e30"),
        (copying(), {"n": -3}, {}, "n:-3"),
        (copying(), 7, {}, "7 is not a shape; allowed: 'm:4096/n:1024' or a dict of sizes"),
        (copying(), ["n:7", "n:7"], {}, "the shape n:7 of scale comes twice"),
        (copying(), "n:7\0", {}, "is not a text; allowed: a str without NUL"),
        (copying(scale("x[n,n] -> y[n,n]")), "n:1e10", {}, "scale has too many elements of x at n:10000000000; allowed: at most 2^50"),
        ([copying(), copying()], "n:7", {}, "operation scale comes twice"),
        ([copying(scale(name="relu"))], "n:7", {}, "ridgebench has an operation relu; allowed: another name"),
        ([copying(scale(name="a/b"))], "n:7", {}, "operation 'a/b' is not a name; allowed: a-z, 0-9 and _"),
        ([copying(name="<x>")], "n:7", {}, "kernel '<x>' is not a name"),
        ([copying(scale("x[a], x[a] -> y[a]"))], "a:7", {}, "operand 'x' comes twice"),
        ([copying(scale("x[n/2] -> y[n]"))], "n:7", {}, "no whole number of elements of x at n:7; allowed: sizes that fit"),
        ([copying(scale("x[n-8] -> y[n]"))], "n:7", {}, "no whole number of elements of x at n:7; allowed: sizes that fit"),
        ([copying(scale(attributes={"n": 1}))], "n:7", {}, "dimension 'n' comes twice"),
        ([copying(scale(attributes={"eps": float("nan")}))], "n:7", {}, "attribute eps of scale is nan; allowed: a finite"),
        ([copying(scale(values={"x": ridgebench.uniform(1, 1)}))], "n:7", {}, "the values of x are from 1 to 1; allowed: a range"),
        ([copying(scale(values={"x": ridgebench.integers_below("k")}))], "n:7", {}, "the values of x have the bound 'k'"),
        ([copying(scale(more_bytes=-1))], "n:7", {}, "-1 more bytes of scale at n:7; allowed: 0 to 2^60"),
        ([copying(scale("x[N] -> y[N]"))], "N:7", {}, "dimension 'N' is not a name"),
        ([copying(scale("x[] -> y[]"))], "n:7", {}, "operation scale has no dimension"),
        ([copying(scale("x:fp32[n] -> y:fp32[n]", formats=["fp32", "bf16"]))], "n:7", {}, "operands all have formats"),
        ([copying(scale(formats="int4"))], "n:7", {}, "unknown format 'int4'; allowed: fp32"),
        ([copying(formats="bf16")], "n:7", {}, "kernel copy serves bf16, which scale does not have; allowed: fp32"),
        ([copying(engine="gpu")], "n:7", {}, "unknown engine 'gpu'; allowed: memory, fma, tensor, sfu"),
        ([copying(error=0.5)], "n:7", {}, "an error of 0.5 of kernel copy; allowed: 0 to less than 0.5, relative"),
        ([copying(error="big")], "n:7", {}, "kernel copy of scale"),
        ([copying(scale(flops=-1))], "n:7", {}, "-1 FLOPs of scale at n:7; allowed: 0 to 1e+30"),
        ([copying(scale(flops=lambda m: m))], "n:7", {}, "flops of scale at {'n': 7}: TypeError"),
        ([copying(scale(terms=0))], "n:7", {}, "0 terms of a sum of scale at n:7; allowed: 1 to 2^50"),
        (copying(), "n:7", {"device": "gpu"}, "gpu"),
        (copying(), "n:7", {"seconds": -1}, "seconds is -1; allowed: a number from 0 to 1e+09"),
        (copying(), "n:7", {"seed": 1e300}, "seed is 1e+300"),
        (copying(), "n:7", {"fill": "ones"}, "unknown fill 'ones'"),
        (copying(), "n:7", {"regimes": "hot"}, "unknown regime 'hot'; allowed: steady, cold, warm"),
        (copying(library="cupy"), "n:7", {}, "kernel copy is for cuda, but the device of this run is cpu"),
    ],
)
def test_a_run_that_makes_no_sense_is_refused(kernels, shapes, more, message, tmp_path):
    out = tmp_path / "results"
    with pytest.raises(KernelError) as refused:
        measure(kernels, shapes, **{"device": "cpu", "out": out, **more})
    assert message in str(refused.value)
    assert str(refused.value).isprintable()
    assert refused.value.code == 2
    assert not out.exists()


def test_a_run_whose_shapes_fit_no_memory_is_an_error(tmp_path):
    with pytest.raises(KernelError, match="nothing was measured; scale/copy/fp32/n:1[0-9]*/steady@cpu: ") as failed:
        measure(copying(), ["n:1e12", "n:1099511627776"], device="cpu", out=tmp_path / "results", seconds=0.5)
    assert failed.value.code == 6 and str(failed.value).isprintable()


def test_a_folder_that_holds_a_run_is_refused(tmp_path):
    (tmp_path / "records.jsonl").write_text("{}\n")
    with pytest.raises(KernelError, match=str(tmp_path)):
        measure(copying(), "n:7", device="cpu", out=tmp_path)


def test_a_library_that_is_not_there_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("RIDGEBENCH_LIBRARY", str(tmp_path / "none.so"))
    with pytest.raises(KernelError, match="none.so is not a file; allowed: the path of libridgebench.so"):
        find()
    monkeypatch.delenv("RIDGEBENCH_LIBRARY")
    monkeypatch.setattr(native, "ROOT", tmp_path)
    with pytest.raises(KernelError, match="neither installed nor built; scripts/build.sh in .* builds it"):
        find()
    (tmp_path / "build" / "release").mkdir(parents=True)
    (tmp_path / "build" / "release" / "libridgebench.so").touch()
    assert find() == tmp_path / "build" / "release" / "libridgebench.so"


@pytest.mark.parametrize("place", ["bin", "lib"])
def test_the_library_of_the_program_that_started_the_process_comes_first(place, tmp_path, monkeypatch):
    """Both speak the same messages."""
    (tmp_path / place).mkdir()
    (tmp_path / place / "libridgebench.so").touch()
    monkeypatch.setattr(native.command_line, "BINARY", str(tmp_path / "bin" / "ridgebench"))
    assert find() == tmp_path / place / "libridgebench.so"


def test_a_file_that_is_no_library_is_named(tmp_path, monkeypatch):
    file = tmp_path / "libridgebench.so"
    file.write_text("text")
    monkeypatch.setenv("RIDGEBENCH_LIBRARY", str(file))
    with pytest.raises(KernelError, match="libridgebench.so cannot be loaded: "):
        library.library.__wrapped__()


@pytest.mark.parametrize("name, numbers, bits", [
    ("fp32", [1.5, -0.0], [1.5, -0.0]),
    ("fp16", [1.5, 1e9], [1.5, np.inf]),
    ("bf16", [1.0, -2.5, np.inf], [0x3F80, 0xC020, 0x7F80]),
    ("fp8_e4m3", [1.0, 1e9], [0x38, 0x7E]),  # saturates
    ("fp8_e5m2", [1.0, -1e9], [0x3C, 0xFB]),
])
def test_numbers_and_bits(name, numbers, bits):
    found = encode(np.array([numbers]), name)
    assert found.tolist() == [bits]
    largest = {"fp16": np.inf, "fp8_e4m3": 448, "fp8_e5m2": -57344}.get(name)
    exact = [largest if abs(x) == 1e9 else x for x in numbers]
    assert decode(found, name).tolist() == [exact]
    assert decode(found, name).dtype == np.float32


def test_the_package_offers_what_the_module_has():
    assert ridgebench.measure is measure
    assert ridgebench.KernelError is KernelError
    with pytest.raises(AttributeError, match="has no attribute 'mesure'"):
        ridgebench.mesure
