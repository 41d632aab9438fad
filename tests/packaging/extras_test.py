"""The base of the package needs no other package, and a command that lacks one names the extra that brings it."""

import ast
import subprocess
import sys

import pytest
from golden import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PACKAGE = ROOT / "roofline" / "ridgebench"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
OF_EXTRAS = {one.partition(";")[0].strip() for extra in PROJECT["optional-dependencies"].values() for one in extra}
IMPORTED_AS = {"pptx": "python-pptx", "fontTools": "matplotlib", "PIL": "matplotlib"}  # Matplotlib needs the last two
OF_USERS = {"pandas", "polars", "pyarrow", "torch", "cupy", "ncu_report"}  # where a user has them already
BARE = "import sys; sys.dont_write_bytecode = True; sys.path.insert(0, {path!r}); from ridgebench.__main__ import main; sys.exit(main({words!r}))"


def bare(*words) -> subprocess.CompletedProcess:
    """A command in a Python without any other package."""
    code = BARE.format(path=str(PACKAGE.parent), words=[*words])
    return subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=False)


def test_the_base_has_no_dependency():
    assert PROJECT["dependencies"] == []
    assert {"plot", "gate", "torch"} <= set(PROJECT["optional-dependencies"])


def test_every_package_that_is_imported_belongs_to_an_extra():
    found = set()
    for path in PACKAGE.rglob("*.py"):
        nodes = [*ast.walk(ast.parse(path.read_text("utf-8")))]
        found |= {one.name.partition(".")[0] for node in nodes if isinstance(node, ast.Import) for one in node.names}
        found |= {(node.module or "").partition(".")[0] for node in nodes if isinstance(node, ast.ImportFrom) and not node.level}
    foreign = {IMPORTED_AS.get(name, name) for name in found - set(sys.stdlib_module_names) - {"ridgebench"}}
    assert foreign - OF_USERS <= OF_EXTRAS
    assert {"numpy", "scipy", "matplotlib", "fastjsonschema", "ruptures"} <= foreign


@pytest.mark.parametrize("command, package, extra", [
    ("plot", "matplotlib", "plot"), ("slides", "matplotlib", "plot"), ("gate", "numpy", "gate"), ("compare", "numpy", "gate"),
    ("baseline", "numpy", "gate"),
])  # fmt: skip
def test_a_command_without_its_packages_names_the_extra(command, package, extra):
    done = bare(command, "folder")
    assert done.returncode == 2 and done.stdout == ""
    advice = f"`pip install 'ridgebench[{extra}]'` or, in a checkout, scripts/setup.sh installs it"
    assert done.stderr == f"{command}: {sys.executable} lacks {package}; {advice}\n"


def test_a_command_without_need_of_a_package_runs():
    done = bare("schema", "predict")
    assert (done.returncode, done.stderr) == (0, "") and '"urn:ridgebench:predict:1"' in done.stdout
