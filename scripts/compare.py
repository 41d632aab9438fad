#!/usr/bin/env python3
"""Compares two binaries (verdicts) or two stored runs (a description); --help tells how."""

import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from roofline.plot.interpreter import require_packages  # noqa: E402

require_packages("numpy", "scipy", "matplotlib", "jsonschema")

from compare.cli import main  # noqa: E402  (the package beside this file)

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
