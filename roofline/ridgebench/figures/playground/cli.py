"""Makes one HTML page that answers what-if questions in a browser: roofline, language model, training. It needs no network."""

import argparse
from pathlib import Path
from typing import Optional

from ridgebench.base.command_line import OK, ROOT, Parser
from ridgebench.base.files import ResultsError, write_named
from ridgebench.base.text import clean
from ridgebench.base.units import counted
from ridgebench.data.program import binary

_MODEL = ("playground.js", "playground.wasm")  # what the target `playground` of CMake builds


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = Parser(prog="playground", description=__doc__)
    parser.add_argument("results", type=Path, nargs="*", metavar="RESULTS_DIR",
                        help="runs whose measured roofs the page offers beside the data sheets; default: the published ones")
    parser.add_argument("-o", "--out", type=Path, metavar="FILE", default=Path("playground.html"), help="default: playground.html")
    parser.add_argument("--wasm", type=Path, metavar="DIR", help="folder with playground.wasm; default: beside the program")
    options = parser.parse_args(arguments)
    if options.out.exists() and options.out.is_dir():
        parser.error(f"-o {clean(str(options.out))} is a folder; allowed: a new file or one to replace")
    return options


def _folders(given: Optional[Path]) -> list[Path]:
    if given is not None:
        return [given]
    program = Path(binary()).resolve().parent
    return [program / "playground", program.parent / "playground", ROOT / "playground"]  # of a build, of its tests, installed


def _model(given: Optional[Path]) -> tuple[str, bytes]:
    """The script and the code of the model. Raises ResultsError if nobody built them."""
    for folder in _folders(given):
        if all((folder / name).is_file() for name in _MODEL):
            script, code = (folder / name for name in _MODEL)
            return script.read_text("utf-8"), code.read_bytes()
    place = str(given) if given else "beside the program"
    raise ResultsError(f"no playground.wasm {'in ' if given else ''}{clean(place)}; scripts/setup.sh --web installs Emscripten, and "
                       "scripts/build.sh --target playground builds it")


def _published() -> list[Path]:
    """The newest published run of each device."""
    devices = sorted(path for path in (ROOT / "results").glob("*") if path.name != "schema")
    runs = [sorted(path.parent for path in device.glob("20*/records.jsonl")) for device in devices]
    return [found[-1] for found in runs if found]


def main(arguments: list[str]) -> int:
    options = _parse(arguments)
    script, code = _model(options.wasm)
    from . import page  # Matplotlib, which has the colours, takes a second to load; --help does without

    runs = [page.read_run(folder) for folder in options.results or _published()]
    text = page.document(script, code, runs)
    write_named(options.out, text)
    print(f"{clean(str(options.out))}: {counted(len(runs), 'run')}, {len(text.encode()) / 1e6:.2g} MB")
    return OK
