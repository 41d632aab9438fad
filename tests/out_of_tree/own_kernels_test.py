"""docs/own_kernels.md works as typed, on a host: the project builds against an installed tree, and its kernels are rows like all others."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from build_folder import BUILD, run
from golden import ROOT, read_environment, read_records
from project import FILES, PAGE, write_project

FILTER = "^(row_softmax|embed)/"


@pytest.fixture(scope="module", name="mine")
def mine_fixture(prefix, tmp_path_factory) -> Path:
    """The folder with what the project builds."""
    project = write_project(tmp_path_factory.mktemp("empty") / "mine")
    fast = ("-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_FLAGS=-O1")  # to compile
    run("cmake", "-S", project, "-B", project / "build", f"-DCMAKE_PREFIX_PATH={prefix}", *fast)
    run("cmake", "--build", project / "build", "-j2")
    return project / "build"


@pytest.fixture(scope="module", name="results")
def results_fixture(mine, prefix, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("run") / "results"
    done = measure(prefix / "bin" / "ridgebench", "--load", mine / "libmine.so", "--filter", FILTER, "--out", out)
    assert "row_softmax" in done.stdout and "embed" in done.stdout
    return out


def measure(program: Path, *arguments, code: int = 0):
    return run(program, "run", "--device", "cpu", "--budget", "1", *arguments, code=code)


def rows_of(results: Path, *operations: str) -> dict[tuple, dict]:
    rows = [row for row in read_records(results) if row["op"] in operations]
    return {(row["op"], row["technique"], row["format"]): row for row in rows}


def test_the_project_has_ten_lines_at_most():
    assert len(FILES["CMakeLists.txt"].splitlines()) <= 10
    assert set(FILES) == {"CMakeLists.txt", "row_softmax.hpp", "row_softmax.cpp", "row_softmax.cu", "wrong.cpp", "embed.cpp",
                          "existing.cu"}


def text_of(path: Path) -> bytes:
    """A file's bytes; of a program or library, what the loader reads: messages and line tables may name sources."""
    content = path.read_bytes()
    if content.startswith(b"!<arch>"):
        return b""
    if content.startswith(b"\x7fELF"):
        return subprocess.run(["readelf", "-d", path], capture_output=True, check=True).stdout
    return content


def test_installed_files_name_no_folder_of_this_machine(prefix):
    files = [path for path in prefix.rglob("*") if path.is_file()]
    assert len(files) > 50
    folders = [os.fsencode(folder) for folder in (ROOT, BUILD, prefix.parent)]
    found = {str(path.relative_to(prefix)) for path in files for folder in folders if folder + b"/" in text_of(path)}
    assert found == set()


def test_kernels_of_others_are_listed_measured_and_verified(mine, prefix, results):
    load = ("--load", mine / "libmine.so")
    listed = run(prefix / "bin" / "ridgebench", "list", "--device", "cpu", *load, "--filter", FILTER, "--json")
    supported = {(row["op"], row["technique"], row["format"]) for row in json.loads(listed.stdout)["cases"] if row["supported"]}
    rows = rows_of(results, "row_softmax", "embed")
    assert supported == set(rows) == {
        ("row_softmax", "three_pass", "fp32"), ("row_softmax", "three_pass", "bf16"), ("embed", "rows_8", "fp32"), ("embed", "rows_64", "fp32")
    }  # fmt: skip
    for row in rows.values():
        assert row["status"] == "ok", row["reason"]
        assert row["loaded_from"] == "libmine.so"
        assert row["roof"]["bytes_per_s"] > 0


def test_every_output_is_verified_and_an_operand_in_place_counts_twice(results):
    m, n = 1000, 256
    row = rows_of(results, "embed")["embed", "rows_8", "fp32"]
    assert row["bytes"] == 4 * (3 * m * n + 2 * m)
    assert row["written_fraction"] == pytest.approx((m * n + m) / (3 * m * n + 2 * m))
    assert row["verify"]["elements"] >= m * n + m  # all of both outputs of the first set, a sample of the others


def test_an_attribute_is_part_of_the_row_and_changes_its_result(mine, prefix, tmp_path):
    program, load = prefix / "bin" / "ridgebench", ("--load", mine / "libmine.so")
    chosen = ("--op", "embed", "--technique", "rows_8", "--shape", "m:8/n:16/eps:0.5,1000")
    measure(program, *load, *chosen, "--out", tmp_path / "results")
    rows = [row for row in read_records(tmp_path / "results") if row["op"] == "embed"]
    assert sorted((row["id"].split("/steady")[0], row["shape"]["eps"], row["status"]) for row in rows) == [
        ("embed/rows_8/fp32/m:8/n:16/eps:0.5", 0.5, "ok"), ("embed/rows_8/fp32/m:8/n:16/eps:1000", 1000.0, "ok")
    ]  # fmt: skip
    run(program, "verify", tmp_path / "results")
    said = run(program, "list", *load, "--op", "embed", "--shape", "m:8/n:16/epsilon:1", code=2).stderr
    assert "unknown dimension 'epsilon'; this operation has m, n, eps" in said


def test_the_environment_has_the_checksum_of_the_file_and_verify_accepts_the_rows(mine, prefix, results):
    (loaded,) = read_environment(results)["loaded"]
    checksum = run("sha256sum", mine / "libmine.so").stdout.split()[0]
    assert loaded == {"file": "libmine.so", "sha256": checksum}
    run(prefix / "bin" / "ridgebench", "verify", results)


def test_the_roofline_shows_the_points(prefix, results):
    package = prefix / "share" / "ridgebench" / "roofline"
    environment = os.environ | {"PYTHONPATH": str(package)}
    run(os.environ.get("PYTHON", sys.executable), "-m", "ridgebench", "plot", results, env=environment, cwd=results)
    drawing = (results / "figures" / "roofline.svg").read_text("utf-8")
    assert "row_softmax" in drawing and "embed" in drawing


def test_a_wrong_kernel_is_wrong(mine, prefix, tmp_path):
    out = tmp_path / "results"
    measure(prefix / "bin" / "ridgebench", "--load", mine / "libwrong.so", "--filter", "row_softmax/undivided/fp32", "--out", out, code=6)
    row = rows_of(out, "row_softmax")["row_softmax", "undivided", "fp32"]
    assert (row["status"], row["time_median_s"], row["loaded_from"]) == ("wrong", None, "libwrong.so")


def test_a_program_of_its_own_has_the_kernels_and_ours(mine):
    names = run(mine / "mine", "list", "--device", "cpu").stdout
    assert "row_softmax/three_pass/bf16/" in names and "relu/naive/fp32/" in names
    done = run(mine / "mine", "duel", "rows_8", "rows_64", "--op", "embed", "--format", "fp32", "--shape", "m:64/n:16", "--dry-run")
    assert "embed/rows_8:rows_64/fp32/m:64/n:16" in done.stdout


def test_another_file_does_not_continue_the_run(mine, prefix, results):
    program = prefix / "bin" / "ridgebench"
    for load in ((), ("--load", mine / "libwrong.so")):
        said = run(program, "run", "--resume", results, *load, code=2).stderr
        assert "the run loaded" in said and "libmine.so" in said and said.count("\n") == 1
    run(program, "run", "--resume", results, "--load", mine / "libmine.so")


def test_the_page_names_what_exists():
    for name in ("--load", "STANDALONE", "loaded_from", "integers_below(bound)", "uniform(low, high)"):
        assert name in PAGE
