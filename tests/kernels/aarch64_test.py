"""The FMA ceiling's code for 64-bit ARM, where Debian's cross compiler is installed: a ceiling that copies operands, or
rounds products, is a roof that is too low."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMPILER = "aarch64-linux-gnu-g++"
FUSED = {"neon": r"\tfml[as]\tv\d+\.4s", "sve": r"\tfml[as]\tz\d+\.s"}

pytestmark = pytest.mark.skipif(shutil.which(COMPILER) is None, reason=f"{COMPILER} is not installed")


def loops(file: str, isa: str, level: int) -> list[list[str]]:
    """The innermost loops of the file's code: the lines between a label and the branch back to it."""
    command = [COMPILER, "-std=c++20", "-O3", "-fopenmp", "-march=armv8-a", f"-I{ROOT}"]
    defined = [f"-DRIDGEBENCH_ISA={isa}", f"-DRIDGEBENCH_ISA_LEVEL={level}"]
    code = subprocess.run([*command, *defined, "-S", str(ROOT / file), "-o", "-"], check=True, capture_output=True, text=True)
    found, label, body = [], None, []
    for line in code.stdout.splitlines():
        if match := re.match(r"(\.L\d+):", line):
            label, body = match[1], []
        elif line.startswith("\tb") and line.endswith(f"\t{label}"):
            found.append(body)
            body = []
        else:
            body.append(line)
    return found


@pytest.mark.parametrize("file, isa, level, kind", [("fma.cpp", "armv8", 0, "neon"), ("fma_sve.cpp", "sve", 1, "sve")])
def test_the_chains_are_multiply_adds_between_registers(file, isa, level, kind):
    chains = [loop for loop in loops(f"kernels/ceilings/{file}", isa, level) if any("fml" in line for line in loop)]
    assert chains, f"no loop of {file} has a multiply-add"
    for loop in chains:
        work = [line for line in loop if re.match(r"\t[a-z]", line)]
        fused = [line for line in work if re.match(FUSED[kind], line)]
        assert len(fused) >= 24, "too few chains to hide the latency of four units"
        assert len(work) - len(fused) <= 3, f"more than a counter and a branch: {work}"
