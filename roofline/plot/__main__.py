"""Entry point of `python3 roofline/plot RESULTS_DIR`; see cli.py."""

import gc
import sys
from pathlib import Path

# Run as a folder, Python puts the package's inside on the path; its outside is needed instead.
sys.path[0] = str(Path(__file__).resolve().parents[2])

from roofline.plot.interpreter import require_packages  # noqa: E402

require_packages("numpy", "matplotlib", "jsonschema")

from roofline.plot.cli import main  # noqa: E402

gc.disable()  # too short a life to collect in
sys.exit(main(sys.argv[1:]))
