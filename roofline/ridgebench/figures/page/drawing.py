"""Writes figures into files, with Matplotlib's settings of this project."""

import io
import re
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import Callable, Iterator

import matplotlib.style
from matplotlib.figure import Figure

from ridgebench.base.files import write_at_once
from ridgebench.base.workers import in_parallel

from .language import LATIN, families, named_families
from .style import NORMAL, Theme

_DOTS_PER_INCH = {"svg": 200, "pdf": 200, "png": 150}  # a PNG has 1920 x 1080; SVG and PDF: images within
# A date or a library version would change the bytes of an unchanged figure.
METADATA = {
    "svg": {"Creator": "ridgebench", "Date": None},
    "pdf": {"Creator": "ridgebench", "Producer": None, "CreationDate": None},
    "png": {"Software": None},
}
_QUICKLY = {"png": {"pil_kwargs": {"compress_level": 3}}}  # as small as the default of 6, in half the time
# Kinds of fonts in a PDF. Matplotlib's TrueType is broken for files of several fonts in CFF, as those of Noto Sans CJK:
# https://github.com/matplotlib/matplotlib/issues/20870
_TRUETYPE, _OUTLINES = 42, 3
_LONGEST_NAME = 80  # characters of a format's name in a file name


def settings(theme: Theme) -> dict:
    """Matplotlib's settings: names are printed as they are ($ is not TeX), identifiers in SVG do not vary."""
    return {
        "svg.fonttype": "none",
        "svg.hashsalt": "ridgebench",
        "pdf.fonttype": _TRUETYPE if families() == [LATIN] else _OUTLINES,
        "text.parse_math": False,
        "font.family": [*families(), "sans-serif"],
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
    return re.sub(r"[^A-Za-z0-9_.-]", "_", text[:_LONGEST_NAME])


@contextmanager
def drawing(theme: Theme) -> Iterator[None]:
    """The settings for a figure. A reader's own Matplotlib settings are not used."""
    with matplotlib.style.context(["default", settings(theme)]), warnings.catch_warnings():
        # PNG shows boxes for characters that the font lacks; that is not an error.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        yield


def drawn(figure: Figure, kind: str) -> bytes:
    """The file of a figure. A full disk then ends the writing of bytes and no writer of Matplotlib's in the middle."""
    how = {"dpi": _DOTS_PER_INCH[kind], "metadata": METADATA[kind], **_QUICKLY.get(kind, {})}
    file = io.BytesIO()
    figure.savefig(file, format=kind, **how)
    return _naming_fonts(file.getvalue()) if kind == "svg" else file.getvalue()


def _naming_fonts(svg: bytes) -> bytes:
    """The SVG with the fonts of other machines beside that of this one."""
    here, all_ = (", ".join(f"'{name}'" for name in names).encode() for names in (families(), named_families()))
    return svg.replace(here, all_)


def write(figure: Figure, path: Path, kind: str) -> None:
    write_at_once(path, drawn(figure, kind))


def _save(name: str, draw: Callable, theme: Theme, out: Path, formats: tuple[str, ...]) -> None:
    """Draws a figure into files of these formats."""
    with drawing(theme):
        figure = draw(theme)
        for kind in formats:
            write(figure, out / f"{name}.{kind}", kind)


def save_all(drawn: dict[str, Callable], theme: Theme, out: Path, formats: tuple[str, ...]) -> int:
    """Draws all figures, each processor one at a time, the slowest first; returns the number of files."""
    in_parallel(lambda one: _save(*one, theme, out, formats), list(drawn.items()))
    return len(drawn) * len(formats)
