"""The source list of the playground has the source of every header that it reads, so that its link misses nothing."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from golden import ROOT

CMAKE = shutil.which("cmake")
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
# The playground reads only the declarations of these headers: it opens no folder of results for writing.
UNUSED = {"harness/results/files/whole_file.cpp", "harness/results/results_directory.cpp"}


def included(path: Path) -> list[Path]:
    """The project's files that a file includes: by their path from the root, or whole in a file that joins sources."""
    return [found for name in INCLUDE.findall(path.read_text("utf-8")) if (found := ROOT / name).is_file()]


def missing(sources: set[Path]) -> set[str]:
    """The sources of headers that these sources read, and that are not among them."""
    seen, waiting = set[Path](), list(sources)
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen.add(path)
            waiting += included(path)
    needed = {path.with_suffix(".cpp") for path in seen if path.suffix == ".hpp"}
    return {str(path.relative_to(ROOT)) for path in needed - sources if path.is_file()}


@pytest.fixture(name="sources", scope="module")
def sources_fixture(tmp_path_factory) -> set[Path]:
    """The list as CMake has it, by any compiler."""
    if CMAKE is None:
        pytest.skip("no cmake")
    folder = tmp_path_factory.mktemp("playground")
    done = subprocess.run([CMAKE, "-S", ROOT / "harness" / "web", "-B", folder], capture_output=True, text=True, check=False)
    if "which is not installed" in done.stderr:
        pytest.skip("the headers of a library lie elsewhere")
    assert done.returncode == 0, done.stderr
    joined = [path for path in folder.rglob("unity_*_cxx.cxx") if path.parent.name == "Unity"]
    return {folder / "operations.cpp", *(found for path in joined for found in included(path) if found.is_relative_to(ROOT))}


def test_no_source_of_a_header_is_missing(sources):
    assert len(sources) > 80 and missing(sources) == UNUSED


def test_a_source_that_is_taken_out_is_found(sources):
    for name in ("harness/results/doubts.cpp", "kernels/common/sweep.cpp", "roofline/units.cpp"):
        assert missing(sources - {ROOT / name}) == UNUSED | {name}
