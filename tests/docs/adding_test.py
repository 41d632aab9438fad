"""The pages that add things work as typed: every file and patch is applied, built with the build's own commands, and run."""

import json
import os
import re
import shlex
import shutil
import sys
from pathlib import Path

import layers_test
import pytest
from build_folder import BUILD, NVCC, compiled, emulated, linked, needs_build, needs_emulator, run, skip_if_sanitized
from golden import ROOT, read_records

PAGES = ("adding.md", "adding_operation.md", "adding_key.md", "python_kernels.md")
PAGE = "".join((ROOT / "docs" / name).read_text("utf-8") for name in PAGES)
FILE = re.compile(r"^`([^`\n]+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PATCH = re.compile(r"^```diff\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

FILES = dict(FILE.findall(PAGE))
PATCHES = PATCH.findall(PAGE)


@pytest.fixture(scope="module")
def overlay(tmp_path_factory) -> Path:
    """The page's files, in a folder that the compiler searches before the project."""
    folder = tmp_path_factory.mktemp("overlay")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder


def operations(overlay: Path) -> Path:
    """What the build generates: a file that includes every specification, here the new ones."""
    specifications = [name for name in FILES if name.endswith(".hpp")]
    generated = overlay / "operations.cpp"
    generated.write_text("".join(f'#include "{name}"\n' for name in specifications), "utf-8")
    return compiled(generated, "generated/operations.cpp", overlay)


def test_every_block_of_code_is_a_file_a_patch_or_a_command():
    kinds = {"cuda", "cpp", "json", "python", "diff", ""}
    found = FENCE.findall(PAGE)
    assert {language for language, _ in found} <= kinds
    code = [text for language, text in found if language in ("cuda", "cpp", "json", "python")]
    assert sorted(code) == sorted(FILES.values()), "a block of code has no file name"
    assert [name for name in FILES if (ROOT / name).exists()] == [], "the example is part of the project already"


def test_the_examples_keep_the_rules_of_the_tree(overlay):
    assert [rule(overlay) for rule in layers_test.RULES] == [[]] * len(layers_test.RULES)


def test_every_switch_over_all_formats_gets_a_case():
    """The compiler refuses a switch that lacks one; the last enumerator shows which lists them all."""
    ((last, added),) = re.findall(r"^   (\w+),\n\+  (\w+),\n   \w+ = \d+,?$", PAGE, re.MULTILINE)
    (patch,) = [patch for patch in PATCHES if "enum class Format" in patch]
    parts = {part.split("\n")[0].removeprefix("a/"): part for part in re.split(r"^--- ", patch, flags=re.MULTILINE)}
    files = [path for folder in ("kernels", "harness", "roofline") for path in (ROOT / folder).rglob("*.[ch]*") if path.suffix != ".pyc"]
    whole = [path.relative_to(ROOT).as_posix() for path in files if f"case Format::{last}:" in path.read_text("utf-8")]
    assert len(whole) >= 2
    for name in whole:
        assert f"case Format::{added}:" in parts.get(name, ""), f"{name} needs a case"


def test_kernels_are_right_on_the_emulator(overlay):
    needs_emulator()
    objects = [operations(overlay)]
    for name in (name for name in FILES if name.endswith(".cu")):
        output = (overlay / "emulated" / name).with_suffix(".cpp")
        output.parent.mkdir(parents=True, exist_ok=True)
        objects.append(emulated(overlay / name, output, overlay))
    program = linked("ridgebench_emulated_tests", objects, overlay / "emulated_tests")
    text = run(program, "--gtest_filter=relu.unrolled_*:dram_add.plain_*:silu.naive_*").stdout
    # Five formats, one and three.
    assert re.search(r"^\[  PASSED  \] 9 tests\.$", text, re.MULTILINE), text[-2000:]


@pytest.mark.skipif(NVCC is None, reason="no nvcc")
def test_kernels_compile_for_a_gpu(overlay):
    flags = ["-std=c++20", "-arch=sm_80", "--expt-relaxed-constexpr", "--Werror=all-warnings", "-diag-suppress=445", "-cubin"]
    for name in (name for name in FILES if name.endswith(".cu")):
        run(NVCC, *flags, f"-I{overlay}", f"-I{ROOT}", overlay / name, "-o", overlay / "kernel.cubin")
        op, technique = ("dram_add", "plain") if "dram_add" in name else Path(name).parts[1::1][:2]
        symbol = f"{op}_{Path(technique).stem}".encode()
        assert symbol in (overlay / "kernel.cubin").read_bytes(), f"{name} has no kernel {symbol.decode()}"


def test_the_host_lists_and_measures_what_was_added(overlay):
    needs_build()
    names = [name for name in FILES if name.endswith(".cpp")]
    objects = [operations(overlay), *(compiled(overlay / name, "kernels/relu/naive.cpp", overlay) for name in names)]
    program = linked("ridgebench", objects, overlay / "ridgebench")
    rows = json.loads(run(program, "list", "--device", "cpu", "--filter", "^(silu|dram_add)/", "--json").stdout)["cases"]
    supported = {(row["op"], row["technique"], row["format"]) for row in rows if row["supported"]}
    assert supported == {("dram_add", "plain", "fp32"), ("silu", "naive", "fp32"), ("silu", "naive", "bf16")}
    out = overlay / "results"
    run(program, "run", "--device", "cpu", "--filter", "^silu/naive/fp32/", "--budget", "1", "--out", out)
    measured = {row["op"]: row for row in read_records(out) if row["role"] == "kernel" or row["op"] == "dram_add"}
    assert measured["silu"]["status"] == "ok"


def test_the_python_script_measures_its_kernel_and_a_wrong_one_is_wrong(tmp_path):
    library = BUILD / "libridgebench.so"
    if not library.exists():
        pytest.skip(f"{library} is not built")
    skip_if_sanitized(library)
    text = FILES["row_softmax.py"]
    assert len([line for line in text.splitlines() if line.strip()]) <= 15
    broken = text.replace("axis=1, keepdims=True)\n\nif", "axis=0, keepdims=True)\n\nif")
    assert broken != text
    variables = os.environ | {"RIDGEBENCH_LIBRARY": str(library), "PYTHON": sys.executable}
    for folder, script, status in [("right", text, "ok"), ("wrong", broken, "wrong")]:
        place = tmp_path / folder
        place.mkdir()
        (place / "row_softmax.py").write_text(script.replace("seconds=5", "seconds=1"), "utf-8")
        table = run(ROOT / "scripts" / "python.sh", "row_softmax.py", cwd=place, env=variables).stdout
        rows = [record for record in read_records(place / "row_softmax") if record["op"] == "row_softmax"]
        assert [row["status"] for row in rows] == [status, status]
        assert table.count("three_passes") == 2
    run(ROOT / "scripts" / "python.sh", "-m", "ridgebench", "plot", "row_softmax", cwd=tmp_path / "right", env=variables)
    assert "row_softmax" in (tmp_path / "right" / "row_softmax" / "figures" / "roofline.svg").read_text("utf-8")
    (command,) = [line for line in PAGE.splitlines() if "--load row_softmax.py:three_passes" in line and line.startswith("build/")]
    words = [os.environ["RIDGEBENCH"], *shlex.split(command)[1:], "--budget=1", "--out=isolated"]
    run(*words, cwd=tmp_path / "right", env=variables)
    (row,) = [record for record in read_records(tmp_path / "right" / "isolated") if record["op"] == "row_softmax"]
    assert (row["status"], row["isolated"]) == ("ok", True)


def test_the_device_can_be_named(overlay):
    needs_build()
    (command,) = [line for line in PAGE.splitlines() if "--on example.json" in line]
    words = shlex.split(command)
    program = os.environ.get("RIDGEBENCH", str(BUILD / "ridgebench"))
    assert "compute" in run(program, *words[1:], cwd=overlay).stdout


@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: patch.split()[1])
def test_patches_apply_and_compile(patch, tmp_path):
    needs_build()
    touched = re.findall(r"^\+\+\+ b/(\S+)$", patch, re.MULTILINE)
    for name in touched:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    run("git", "apply", "--verbose", "-", cwd=tmp_path, input=patch)
    user = tmp_path / "user_of_headers.cpp"
    user.write_text("".join(f'#include "{name}"\n' for name in touched if name.endswith(".hpp")), "utf-8")
    own = [(ROOT / name).with_suffix(".cpp") for name in touched if name.endswith(".hpp")]
    patched = [tmp_path / name for name in touched if name.endswith(".cpp")]
    for source in [user, *patched, *(file for file in own if file.exists())]:
        compiled(source, "kernels/relu/naive.cpp", tmp_path, "-fsyntax-only")
