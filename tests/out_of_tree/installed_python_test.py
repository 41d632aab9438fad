"""The Python package of an installed tree finds the library that was installed with it."""

import os
import sys

from build_folder import run, skip_if_sanitized

SCRIPT = """
from ridgebench.kernels import library
print(library.find())
print(library.encode([1.0], "bf16"))
"""


def test_the_installed_package_loads_the_installed_library(prefix):
    (found,) = prefix.rglob("libridgebench.so")
    skip_if_sanitized(found)
    variables = {name: value for name, value in os.environ.items() if name != "RIDGEBENCH_LIBRARY"}
    variables |= {"PYTHONPATH": str(prefix / "share" / "ridgebench" / "roofline"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = run(sys.executable, "-c", SCRIPT, env=variables, cwd=prefix)
    assert done.stdout.splitlines() == [str(found), "[16256]"]
    assert (prefix / "include" / "ridgebench" / "ridgebench.h").is_file()
