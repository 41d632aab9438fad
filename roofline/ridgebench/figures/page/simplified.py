"""Simplified Chinese characters for Matplotlib, which reads only the first face of a font file: that of Noto Sans CJK has Japanese forms."""

import io
from pathlib import Path
from typing import Optional

import matplotlib
from matplotlib import font_manager

from ridgebench.base.errors import CommandError
from ridgebench.base.files import write_at_once

FAMILY, _FIRST = "Noto Sans CJK SC", "Noto Sans CJK JP"


def _face(path: Path) -> Optional[bytes]:
    """The face of the family as a font file; None without it."""
    from fontTools.ttLib import TTCollection, TTFont

    with TTCollection(path, lazy=True) as faces:
        number = next((number for number, face in enumerate(faces) if face["name"].getDebugName(1) == FAMILY), None)
    if number is None:
        return None
    file = io.BytesIO()
    with TTFont(path, fontNumber=number, lazy=True, recalcBBoxes=False, recalcTimestamp=False) as face:
        face.save(file, reorderTables=None)
    return file.getvalue()


def _copy(path: Path) -> Optional[Path]:
    """The face in a file of its own, kept in Matplotlib's folder of caches; None without it or without room for the file."""
    try:
        known = path.stat()
        copy = Path(matplotlib.get_cachedir()) / f"{path.stem}-simplified-{known.st_size}-{known.st_mtime_ns}.otf"
        if not copy.exists():
            face = _face(path)
            if face is None:
                return None
            write_at_once(copy, face)
    except (OSError, CommandError):
        return None
    return copy


def add() -> None:
    """Adds the family to those that Matplotlib finds, from the files whose first face it has found."""
    fonts = font_manager.fontManager
    if any(font.name == FAMILY for font in fonts.ttflist):
        return
    files = sorted({font.fname for font in fonts.ttflist if font.name == _FIRST and font.fname.endswith(".ttc")})
    for copy in filter(None, (_copy(Path(name)) for name in files)):
        fonts.addfont(copy)
