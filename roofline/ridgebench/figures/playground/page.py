"""The HTML page of the playground: one file with the model, the data sheets inside it, and the rows of runs."""

import base64
import gzip
import json
import os
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from ridgebench.base.command_line import ROOT
from ridgebench.base.files import ResultsError, read
from ridgebench.base.html_page import POLICY, digest, filled, script_json
from ridgebench.base.text import clean
from ridgebench.figures.page.style import THEMES, Theme
from ridgebench.figures.scene.roofline import MOVING, SCRIPT

_ASSETS = Path(__file__).parent / "assets"
_FILES = ("environment.json", "records.jsonl")  # what `--on DIR` reads


@dataclass(frozen=True)
class _Run:
    """A results directory: its path on a command line, its device, and its files."""

    path: str
    title: str
    host: bool
    files: dict[str, bytes]


def _rows(text: bytes) -> bytes:
    """The verified rows of records.jsonl, each with its first sample and without telemetry: no question reads the rest."""
    rows = (row for row in map(json.loads, text.splitlines()) if row["status"] == "ok")
    short = (row | {"samples_s": row["samples_s"][:1], "telemetry": {}} for row in rows)
    return "".join(json.dumps(row) + "\n" for row in short).encode()


def read_run(folder: Path) -> _Run:
    """Reads a results directory for the page. Raises ResultsError."""
    inside = folder.resolve().is_relative_to(ROOT.resolve())
    path = folder.resolve().relative_to(ROOT.resolve()).as_posix() if inside else os.path.normpath(folder)
    files = {name: read(folder / name).encode() for name in _FILES}
    try:
        devices = json.loads(files["environment.json"])["devices"]
        files["records.jsonl"] = _rows(files["records.jsonl"])
        models = [str(device.get("model") or device["name"]) for device in devices]
        host = all(device["backend"] == "cpu" for device in devices)
    except (ValueError, LookupError, TypeError) as error:
        raise ResultsError(f"{clean(str(folder))}/environment.json or records.jsonl is not a file of a run: {error}") from None
    return _Run(path, ", ".join(models), host, files)


@cache
def _asset(name: str) -> str:
    return (_ASSETS / name).read_text("utf-8")


def _packed(data: bytes) -> str:
    """Compressed as the browser's DecompressionStream reads it; equal data make an equal text."""
    return base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()


def _colours(theme: Theme) -> str:
    named = {"background": theme.background, "ink": theme.ink, "muted": theme.muted, "faint": theme.faint}
    for number, name in enumerate(("bf16", "fp16", "fp32", "fp8_e4m3")):  # of devices and of bands, not of formats
        named |= {f"hue{number}": theme.hue(name), f"text{number}": theme.text(name)}
    return "".join(f"--{name}:{value};" for name, value in named.items())


def _style() -> str:
    light, dark = (f"color-scheme:{name};{_colours(THEMES[name])}" for name in ("light", "dark"))
    return f":root{{{light}}}\n@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n{_asset('playground.css')}"


def document(script: str, code: bytes, runs: list[_Run]) -> str:
    """The whole page, from the model's script and WebAssembly."""
    data = {"wasm": _packed(code), "margins": asdict(MOVING),
            "runs": [{"path": run.path, "title": run.title, "host": run.host,
                      "files": {name: _packed(text) for name, text in run.files.items()}} for run in runs]}
    css, scripts = _style(), [script, "\n".join([SCRIPT.read_text("utf-8"), _asset("plane.js"), _asset("playground.js")])]
    allowed = " ".join([*map(digest, scripts), "'wasm-unsafe-eval'"])
    parts = {"policy": POLICY.format(scripts=allowed, style=digest(css)), "title": "ridgebench playground", "style": css,
             "data": script_json(data), "library": scripts[0], "script": scripts[1]}
    return filled(_asset("playground.html"), parts)
