"""Figure files: real text in SVG and PDF, and the same bytes for the same records."""

import re
import warnings
from pathlib import Path
from typing import Callable

import matplotlib.style
from matplotlib.figure import Figure

from .style import NORMAL, Theme

DOTS_PER_INCH = {"svg": 200, "pdf": 200, "png": 150}  # PNG: 1920 x 1080; others: images within
# No date and no library version: they would change the bytes of an unchanged figure.
METADATA = {
    "svg": {"Creator": "ridgebench", "Date": None},
    "pdf": {"Creator": "ridgebench", "Producer": None, "CreationDate": None},
    "png": {"Software": None},
}
FORMATS = tuple(METADATA)
QUICKLY = {"png": {"pil_kwargs": {"compress_level": 3}}}  # as small as the usual 6 in half the time


def settings(theme: Theme) -> dict:
    """Names are printed as they are ($ is no TeX); identifiers in SVG do not vary."""
    return {
        "svg.fonttype": "none",
        "svg.hashsalt": "ridgebench",
        "pdf.fonttype": 42,
        "text.parse_math": False,
        "font.family": ["DejaVu Sans", "sans-serif"],  # shipped with Matplotlib: one layout
        "font.size": NORMAL,
        "text.color": theme.ink,
        "axes.edgecolor": theme.muted,
        "axes.labelcolor": theme.ink,
        "axes.facecolor": theme.background,
        "xtick.color": theme.muted,
        "ytick.color": theme.muted,
        "savefig.facecolor": theme.background,
    }


def file_name(text: str) -> str:
    """A format's name as part of a file name."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", text)


def save(draw: Callable[[Theme], Figure], theme: Theme, path: Path, formats: list[str]) -> None:
    """Writes path.svg, .png, .pdf. A reader's own Matplotlib settings are not used."""
    with matplotlib.style.context(["default", settings(theme)]), warnings.catch_warnings():
        # A name in a script that the font lacks is drawn as boxes in PNG; that is no error.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        figure = draw(theme)
        for kind in formats:
            figure.savefig(
                path.with_name(f"{path.name}.{kind}"),
                format=kind,
                dpi=DOTS_PER_INCH[kind],
                metadata=METADATA[kind],
                **QUICKLY.get(kind, {}),
            )
