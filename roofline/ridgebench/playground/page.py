"""The HTML page of the playground: one file with the model, the data sheets inside it, and the rows of runs."""

import base64
import gzip
import json
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ridgebench.command_line import ROOT
from ridgebench.files import ResultsError
from ridgebench.plot.style import THEMES, Theme
from ridgebench.report.page import digest, script_json
from ridgebench.text import clean

_ASSETS = Path(__file__).parent / "assets"
_FILES = ("environment.json", "records.jsonl")  # what `--on DIR` reads
# The page's own scripts and style, by their hashes, and the compiled model; nothing that a browser would have to request.
_POLICY = "default-src 'none'; script-src {scripts} 'wasm-unsafe-eval'; style-src {style}; base-uri 'none'; form-action 'none'"


@dataclass(frozen=True)
class _Run:
    """A results directory: its path on a command line, its device, and its files."""

    path: str
    title: str
    files: dict[str, bytes]


def _rows(text: bytes) -> bytes:
    """The verified rows of records.jsonl without what no question reads: samples but the first, and telemetry."""
    rows = (row for row in map(json.loads, text.splitlines()) if row["status"] == "ok")
    short = (row | {"samples_s": row["samples_s"][:1], "telemetry": {}} for row in rows)
    return "".join(json.dumps(row) + "\n" for row in short).encode()


def read_run(folder: Path) -> _Run:
    """What the page needs of a results directory. Raises ResultsError."""
    inside = folder.resolve().is_relative_to(ROOT.resolve())
    path = folder.resolve().relative_to(ROOT.resolve()).as_posix() if inside else os.path.normpath(folder)
    files = {name: (folder / name).read_bytes() for name in _FILES}
    try:
        devices = json.loads(files["environment.json"])["devices"]
        files["records.jsonl"] = _rows(files["records.jsonl"])
        models = [str(device.get("model") or device["name"]) for device in devices]
    except (ValueError, LookupError, TypeError) as error:
        raise ResultsError(f"{clean(str(folder))}/environment.json or records.jsonl is no file of a run: {error}") from None
    return _Run(path, ", ".join(models), files)


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
    data = {"wasm": _packed(code),
            "runs": [{"path": run.path, "title": run.title, "files": {name: _packed(text) for name, text in run.files.items()}}
                     for run in runs]}
    css, scripts = _style(), [script, _asset("playground.js")]
    parts = {"policy": _POLICY.format(scripts=" ".join(map(digest, scripts)), style=digest(css)),
             "style": css, "data": script_json(data), "library": scripts[0], "script": scripts[1]}
    pieces = _asset("playground.html").split("@@")  # one pass: a text that looks like a placeholder stays a text
    return "".join(parts[piece] if number % 2 else piece for number, piece in enumerate(pieces))
