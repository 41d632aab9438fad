"""The recipes of packaging/ name the version of the project; their commands are those that scripts/try/recipes.sh runs."""

import ast
import fnmatch
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"
VERSION = re.search(r"project\(ridgebench VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]


def test_all_name_the_version():
    assert f"\nversion: {VERSION}\n" in (ROOT / "CITATION.cff").read_text()
    assert f'version("{VERSION}", ' in (PACKAGING / "spack" / "package.py").read_text()
    assert f"ridgebench-{VERSION}.tar.gz" in (PACKAGING / "ridgebench.def").read_text()
    (easyconfig,) = PACKAGING.glob("*.eb")
    assert f"\nversion = '{VERSION}'\n" in easyconfig.read_text()


def test_the_easyconfig_has_the_name_that_easybuild_looks_for():
    (path,) = PACKAGING.glob("*.eb")
    values = {}
    for line in ast.parse(path.read_text()).body:
        try:
            values[line.targets[0].id] = ast.literal_eval(line.value)
        except ValueError:  # a constant of EasyBuild
            pass
    chain = values["toolchain"]
    cuda = re.search(r"\('CUDA', '([0-9.]+)'", path.read_text())[1]
    assert path.name == f"ridgebench-{VERSION}-{chain['name']}-{chain['version']}-CUDA-{cuda}.eb"
    assert values["versionsuffix"] == "-CUDA-%(cudaver)s"


def test_the_spack_recipe_is_python():
    tree = ast.parse((PACKAGING / "spack" / "package.py").read_text())
    assert [one.name for one in tree.body if isinstance(one, ast.ClassDef)] == ["Ridgebench"]


def test_the_containerfile_takes_the_source_archive_of_a_release_only():
    pattern = re.search(r"^ADD (\S+) ", (PACKAGING / "Containerfile").read_text(), re.MULTILINE)[1]
    release = [f"ridgebench-{VERSION}{end}" for end in (".tar.gz", "-site.tar.gz", "-linux-x86_64-cpu.tar.gz", "-linux-x86_64-cu13.tar.gz")]
    assert fnmatch.filter(release, pattern) == release[:1]


def test_both_images_install_the_same():
    container = (PACKAGING / "Containerfile").read_text()
    definition = (PACKAGING / "ridgebench.def").read_text()
    for pattern in (r"nvidia/cuda:[0-9.]+-devel-\w+\.\w+", r"nvidia/cuda:[0-9.]+-runtime-\w+\.\w+", r"python3-\S+|lib\S+-openmp|fonts-\S+",
                    r"-DRIDGEBENCH_\w+=\w+", r"cmake --install .*"):
        found = [re.findall(pattern, text) for text in (container, definition)]
        assert found[0] and found[0] == found[1]


def test_a_definition_becomes_a_containerfile_with_its_commands():
    command = [sys.executable, ROOT / "scripts/try/containerfile_of.py", PACKAGING / "ridgebench.def"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert [line for line in lines if line.startswith("FROM")] == ["FROM $BUILD AS build", "FROM $RUNTIME AS final"]
    runs = [json.loads(line.removeprefix("RUN "))[-1] for line in lines if line.startswith("RUN")]
    assert "scripts/build.sh" in runs[0] and "apt-get install" in runs[1] and "ridgebench info" in runs[2]
