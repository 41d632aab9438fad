"""Damages the files of other tools for `ridgebench import`, the same ones each time; readers.py searches for others.

A damaged file is either refused with one line and exit code 2, or becomes a results directory that the reader accepts. A
file that breaks this is kept in build/fuzzed/import-FORMAT-*.
"""

import contextlib
import io
import random
import signal
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Callable, Iterator

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "roofline"))
from ridgebench.base.files import ResultsError  # noqa: E402
from ridgebench.data import program as asked  # noqa: E402
from ridgebench.data.records import load_run  # noqa: E402

FILES = ROOT / "tests" / "data" / "imports"
# Format: the files that changes start from, and options.
SEEDS = {
    "gbench": (["gbench_repetitions.json", "gbench_aggregates.json", "gbench_once.json"], "points_gbench.toml"),
    "nvbench": (["nvbench.json", "nvbench.csv"], None),
    "ncu": (["ncu.csv"], "points_ncu.toml"),
    "cutlass": (["cutlass.csv"], None),
    "triton": (["triton.csv", "triton_old.csv"], "points_triton.toml"),
    "llama-bench": (["llama_bench.json"], None),
    "torch-profiler": (["torch_trace.json"], None),
    "nccl-tests": (["nccl_all_reduce.txt"], None),
    "nvbandwidth": (["nvbandwidth.json"], None),
    "csv": (["plain.csv"], None),
    "map": (["points_gbench.toml", "points_ncu.toml", "points_triton.toml"], None),
}
TOKENS = [b"nan", b"inf", b"-1", b"0", b"1e999", b"1e-999", b"9" * 400, b"null", b"true", b"[]", b"{}", b"[" * 200, b'"', b",",
          b"\n", b"\r", b"\x00", b"\x1b[2J", b"\xff", "µs\u202e".encode(), b"==", b"(", b")", b"ms", b"GiB/s", b"2^40",
          b"\\", b"'", b"{m}", b"**", b"layout", b"fp8_e4m3xfp8_e5m2", b"name", b"cuda:0"]
LONGEST_S = 5  # of processor time, for one file


def changed(data: bytes, source: random.Random) -> bytes:
    """The file with one to eight places cut, repeated, replaced or filled with a token."""
    out = bytearray(data)
    for _ in range(source.randint(1, 8)):
        at, length = source.randrange(len(out) + 1), source.choice((1, 1, 2, 4, 16, 200))
        kind = source.randrange(6)
        if kind == 0:
            del out[at : at + length]
        elif kind == 1:
            out[at:at] = out[at : at + length] * source.randint(1, 3)
        elif kind == 2:
            out[at : at + length] = source.randbytes(min(length, 4))
        elif kind == 3:  # a word or a number in place of another one
            end = at
            while end < len(out) and chr(out[end]).isalnum():
                end += 1
            out[at:end] = source.choice(TOKENS)
        elif kind == 4:
            out[at:at] = source.choice(TOKENS)
        else:  # lines change places
            lines = bytes(out).split(b"\n")
            first, second = (source.randrange(len(lines)) for _ in range(2))
            lines[first], lines[second] = lines[second], lines[first]
            out = bytearray(b"\n".join(lines))
    return bytes(out)


def command(kind: str, path: Path, out: Path, source: random.Random) -> list[str]:
    if kind == "map":
        return ["import", "gbench", str(FILES / "gbench_once.json"), "--map", str(path), "--format", "fp32", "-o", str(out)]
    words = ["import", kind, str(path), "-o", str(out)]
    points = SEEDS[kind][1]
    words += ["--map", str(FILES / points)] if points and source.random() < 0.8 else []
    words += ["--format", "fp32"] if source.random() < 0.7 else []
    words += ["--buffer-size", "512"] if kind == "nvbandwidth" else []
    if kind != "triton":
        return words
    unnamed = b"(" not in path.read_bytes().partition(b"\n")[0]  # a file whose columns name their units is refused with --unit
    return words + (["--unit", "GB/s"] if unnamed != (source.random() < 0.1) else [])


def work(operation: str, shape: str, name: str, device: str) -> dict:
    """Stands for the binary, whose answers are tested elsewhere: a process per file would be the slowest part.

    A product has its own FLOPs and bytes, to which `import` holds those of the file.
    """
    try:
        sizes = dict(part.split(":") for part in shape.split("/"))
        m, n, k = (float(sizes[dimension]) for dimension in "mnk")
    except (KeyError, ValueError):
        return {"flops": 2.0, "bytes": 4.0, "shape": {"n": 1}}
    return {"flops": 2 * m * n * k, "bytes": (4 if name == "fp32" else 2) * (m * k + k * n + m * n), "shape": {"n": 1}}


def share(collective: str, ranks: int) -> float:
    """Stands for the binary likewise."""
    return 2 * (ranks - 1) / ranks


def no_program(*_: str, **__: float) -> dict:
    """Stands for the binary that cannot be started."""
    raise ResultsError("the program is not installed")


STAND_INS = {"predict": work, "asked": no_program, "sent_by_a_rank": share}  # for functions of ridgebench.data.program


def replace_program(replace: Callable[[object, str, object], None] = setattr) -> None:
    """Puts the stand-ins in place of the binary."""
    for name, function in STAND_INS.items():
        replace(asked, name, function)


def outcome(words: list[str], out: Path) -> str:
    """What is wrong with how a command ended; empty if nothing is."""
    shown, errors = io.StringIO(), io.StringIO()
    try:
        with limit_of_time(), contextlib.redirect_stdout(shown), contextlib.redirect_stderr(errors):
            code = run(words)
            if code == 0:
                load_run(out)
    except BaseException as error:  # also the timer's, and what the reader says of the folder
        return f"{type(error).__name__}: {error}"
    lines = errors.getvalue().splitlines()
    if code not in (0, 2):
        return f"exit code {code}: {errors.getvalue()}"
    if any(not line.startswith("import: ") or not line.isprintable() for line in lines) or len(lines) > 20:
        return f"no lines of its own: {errors.getvalue()!r}"
    noted = ("import: left out: ", "import: note: ")
    refusals = [line for line in lines if not any(part in line for part in noted)] if code == 0 else lines
    return "" if len(refusals) == (code == 2) else f"exit code {code} with {len(refusals)} lines of refusal: {lines}"


def run(words: list[str]) -> int:
    from ridgebench import __main__ as program

    return program.run("import", words[1:])


def timeout(*_) -> None:
    raise TimeoutError(f"more than {LONGEST_S} s of processor time")


@contextlib.contextmanager
def limit_of_time() -> Iterator[None]:
    """Ends what takes longer. Processor time: a machine may have other work."""
    signal.signal(signal.SIGPROF, timeout)
    signal.setitimer(signal.ITIMER_PROF, LONGEST_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def fuzz(kind: str, seed: int, inputs: int) -> tuple[int, int, list[str]]:
    """Tries `inputs` files; returns how many were tried and accepted, and the faults."""
    source, tried, accepted, faults = random.Random(seed), 0, 0, []
    files = [(FILES / name).read_bytes() for name in SEEDS[kind][0]]
    warnings.simplefilter("ignore")  # as ridgebench.base.streams does for every command
    replace_program()
    with tempfile.TemporaryDirectory(prefix="ridgebench-fuzz-") as folder:
        path = Path(folder) / "file"
        while tried < inputs:
            out = Path(folder) / f"out{tried}"
            data = changed(source.choice(files), source)
            path.write_bytes(data)
            words = command(kind, path, out, source)
            wrong = outcome(words, out)
            tried += 1
            if wrong:
                kept = ROOT / "build" / "fuzzed" / f"import-{kind}-{seed}-{tried}"
                kept.parent.mkdir(parents=True, exist_ok=True)
                kept.write_bytes(data)
                faults.append(f"{' '.join(words)} with {kept}: {wrong}")
            if out.exists():
                accepted += 1
                for one in out.iterdir():
                    one.unlink()
                out.rmdir()
    return tried, accepted, faults
