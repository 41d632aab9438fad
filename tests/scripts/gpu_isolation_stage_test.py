"""The stage `isolation` of the check of a GPU, on a model of a GPU whose memory a stand-in of the driver shares."""

import os
import subprocess
from pathlib import Path

import pytest
from build_folder import run
from command_line import BINARY, ROOT, environment

# The kernels of tests/device/own_kernels.cu, on the host: all cheats are one.
SOURCE = r"""
#include "kernels/common/interface/kernel.hpp"
using namespace ridgebench;
namespace {
Operation own() {
  Operation op = elementwise({.name = "own_twice", .flops_per_element = 1, .value = [](double x) { return 2 * x; }});
  op.formats = {Format::fp32};
  op.shapes = [](Profile, Pace, const Machine&) -> std::vector<Shape> { return {Shape({{"n", 100000}})}; };
  return op;
}
const RegisterOperation added{own()};
auto times(float factor) {
  return [factor](Queue&, const Shape& s, const float* x, float* y) -> Launch {
    return [=, n = s["n"]] { for (std::int64_t i = 0; i < n; ++i) y[i] = factor * x[i]; };
  };
}
Technique named(const char* name) { return {.operation = "own_twice", .name = name, .engine = Engine::memory}; }
const Registration honest(named("honest"), times(HONEST));
const Registration a(named("returns_if_written"), times(CHEAT)), b(named("remembers"), times(CHEAT));
const Registration c(named("other_stream"), times(CHEAT)), d(named("writes_input"), times(CHEAT));
}  // namespace
"""


@pytest.fixture(name="stage")
def stage_fixture(tmp_path):
    """Runs the stage on kernels that multiply by these factors; returns its output."""

    def stage(honest: int, cheat: int, **variables: str) -> subprocess.CompletedProcess:
        prebuilt = tmp_path / "prebuilt"
        prebuilt.mkdir()
        (prebuilt / "ridgebench").symlink_to(BINARY)
        for name in ("nvidia-smi", "ridgebench_device_tests"):
            (prebuilt / name).write_text("#!/bin/sh\n")
            (prebuilt / name).chmod(0o755)
        (tmp_path / "own.cpp").write_text(SOURCE)
        run(os.environ.get("CXX", "g++"), "-std=c++20", "-shared", "-fPIC", "-O1", f"-I{ROOT}", "-DRIDGEBENCH_EMULATED_CUDA",
            f"-DHONEST={honest}", f"-DCHEAT={cheat}", "own.cpp", "-o", prebuilt / "ridgebench_own_kernels.so", cwd=tmp_path)  # fmt: skip
        driver = Path(os.environ["RIDGEBENCH_BUILD"]) / "tests" / "fake_driver"
        told = {"PREBUILT": prebuilt, "WORK": tmp_path / "work", "OUT": tmp_path / "out", "DEVICE": "model",
                "LD_LIBRARY_PATH": driver, "PATH": f"{prebuilt}:{environment()['PATH']}"}  # fmt: skip
        env = environment(**{key: str(value) for key, value in told.items()}, **variables)
        command = [ROOT / "scripts" / "gpu_check.sh", "right", "--stages", "isolation"]
        return subprocess.run(command, env=env, capture_output=True, text=True, check=False)

    return stage


def test_honest_kernels_and_refused_cheats_pass(stage):
    done = stage(2, 3)
    assert done.returncode == 0 and "FAILED" not in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("honest", "cheat", "variables", "said"),
    [
        (3, 3, {}, "the honest kernel is not isolated and ok"),
        (2, 2, {}, "the cheat writes_input is not refused"),
        (2, 3, {"FAKE_CUDA_REFUSES": "cuMemCreate"}, "the cheat writes_input is not refused in a process of its own"),
    ],
)
def test_a_surprise_fails_the_stage(honest, cheat, variables, said, stage):
    done = stage(honest, cheat, **variables)
    assert done.returncode == 6 and said in done.stdout, done.stdout + done.stderr
