"""`import ridgebench` costs little: it and the table of peaks load few modules, counted and not timed, and none of another package."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[4] / "roofline"
# -I and -S: only the standard library and this package can be imported.
LOADED = """
import sys
sys.path.insert(0, {package!r})
sys.dont_write_bytecode = True
before = set(sys.modules)
{code}
found = sorted(set(sys.modules) - before)
import json
print(json.dumps(found))
"""


def loaded(code: str) -> set[str]:
    """The modules that code loads in a Python of its own."""
    script = LOADED.format(package=str(PACKAGE), code=code)
    done = subprocess.run([sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


def test_the_package_alone_loads_no_other_module_of_it():
    found = loaded("import ridgebench")
    assert {name for name in found if name.startswith("ridgebench")} == {"ridgebench"}
    assert len(found) < 40  # typing and importlib, and what they need


@pytest.mark.parametrize("call", ['peak("h100", "bf16")', 'bandwidth("NVIDIA L4")', 'mfu(1e15, 1, "nothing known")', "devices()"])
def test_the_table_of_peaks_loads_only_its_own_modules(call):
    found = loaded(f"import ridgebench; ridgebench.{call}")
    own = {name for name in found if name.startswith("ridgebench")}
    assert own <= {"ridgebench", "ridgebench.base", "ridgebench.base.errors", "ridgebench.base.installation", "ridgebench.base.text",
                   *(f"ridgebench.peaks{name}" for name in ("", ".matching", ".rates", ".sheets"))}  # fmt: skip
    assert {name.partition(".")[0] for name in found - own} <= set(sys.stdlib_module_names)
    assert not found & {"argparse", "asyncio", "ctypes", "email", "http", "socket", "subprocess", "tempfile", "unittest"}
    assert len(found) < 110  # json, re, dataclasses and pathlib, and what they need


def test_every_public_name_is_found_and_listed():
    import ridgebench

    for name in ("peak", "bandwidth", "mfu", "devices", "predict", "plan", "roofline", "load", "measure", "Peak", "RequestError"):
        assert name in dir(ridgebench) and getattr(ridgebench, name).__name__ == name
    with pytest.raises(AttributeError, match="module 'ridgebench' has no attribute 'peek'"):
        ridgebench.peek
