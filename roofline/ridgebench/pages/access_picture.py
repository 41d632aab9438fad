"""Draws which elements of A, B and C the first steps of the ladder of matmul access, from the kernels' own constants."""

import re
from fractions import Fraction
from html import escape
from typing import NamedTuple

from ridgebench.base.command_line import ROOT
from ridgebench.base.files import ResultsError

_PART = 128  # rows and columns of C that a panel shows
_DEPTH = 64  # of k
_PX = 0.9  # an element
_PANEL, _GAP, _MARGIN, _TOP = 226, 14, 12, 82
_WARP = 32
_STYLE = """
    text { font: 13px system-ui, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1f2328; }
    .title { font-size: 19px; font-weight: 600; }
    .name { font-size: 15px; font-weight: 600; }
    .note { fill: #59636e; }
    .page { fill: #ffffff; stroke: #d1d9e0; }
    .matrix { fill: none; stroke: #8c959f; }
    .block { fill: #cfe3f1; }
    .warp { fill: #6baed6; }
    .thread { fill: #08519c; }
    .load { fill: #d95f02; }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3; }
      .note { fill: #9198a1; }
      .page { fill: #0d1117; stroke: #3d444d; }
      .block { fill: #16324a; }
      .warp { fill: #2f6f9f; }
      .thread { fill: #a5d4ff; }
      .load { fill: #f0883e; }
    }
"""


class _Area(NamedTuple):
    """A rectangle of a matrix: first row and column, rows and columns."""

    row: int
    column: int
    rows: int
    columns: int


class _Step(NamedTuple):
    """A technique: what a block, a warp and a thread compute, what is loaded at once, and how often."""

    name: str
    block: _Area
    warp: _Area
    thread: list[_Area]
    a: _Area
    b: _Area
    from_memory: Fraction  # elements for a multiply-add
    from_shared: Fraction
    notes: tuple[str, str]


def _constant(file: str, pattern: str) -> list[int]:
    """The numbers that a pattern finds in a kernel's file. Raises ResultsError if it finds none."""
    path = ROOT / "kernels" / "matmul" / file
    found = re.search(pattern, path.read_text("utf-8"))
    if not found:
        raise ResultsError(f"{path} has no {pattern}")
    return [_WARP if number == "kWarp" else int(number) for number in found.groups()]


def _one_element_a_thread(file: str, name: str, notes: tuple[str, str]) -> _Step:
    [rows], [columns] = (_constant(file, rf"constexpr int {tile} = (\d+|kWarp);") for tile in ("kTileM", "kTileN"))
    down = rows == _WARP  # the threads of a warp lie in a column of C
    warp = _Area(0, 0, *((_WARP, 1) if down else (1, _WARP)))
    a, b = _Area(0, 24, warp.rows, 1), _Area(24, 0, 1, warp.columns)
    return _Step(name, _Area(0, 0, rows, columns), warp, [_Area(0, 0, 1, 1)], a, b, Fraction(2), Fraction(0), notes)


def _steps() -> list[_Step]:
    [tile] = _constant("shared_tile.cu", r"constexpr int kTile = (\d+);")
    [side] = _constant("tile/k_tile.cuh", r"constexpr int kTileRows = (\d+);")
    [depth] = _constant("tile/k_tile.cuh", r"constexpr int kTileK = (\d+);")
    rows, columns = _constant("register_tile.cu", r"float accumulators\[(\d+)\]\[(\d+)\]")
    down, across = _constant("register_tile.cu", r"load_groups<(\d+)>\(x[^;]*;\s*load_groups<(\d+)>\(y")
    groups = [_Area(i * down, j * across, 4, 4) for i in range(rows // 4) for j in range(columns // 4)]
    warp = side // 2
    return [
        _one_element_a_thread("naive.cu", "naive", ("A warp's load of A touches", f"{_WARP} rows of memory.")),
        _one_element_a_thread("coalesced.cu", "coalesced", (f"Its load of B is {_WARP} neighbours,", "and A is one element for all.")),
        _Step("shared_tile", _Area(0, 0, tile, tile), _Area(0, 0, 1, _WARP), [_Area(0, 0, 1, 1)], _Area(0, 16, tile, tile),
              _Area(16, 0, tile, tile), Fraction(2, tile), Fraction(2), ("The block copies both tiles", f"once for {tile} products each.")),
        _Step("register_tile", _Area(0, 0, side, side), _Area(0, 0, warp, warp), groups, _Area(0, 24, side, depth),
              _Area(24, 0, depth, side), Fraction(2, side), Fraction(rows + columns, rows * columns),
              (f"A thread's {rows} + {columns} loads serve", f"{rows * columns} multiply-adds.")),
    ]  # fmt: skip


def _rectangle(area: _Area, x: float, y: float, kind: str) -> str:
    """An area of a matrix whose corner is at x, y. A single row or column is drawn two pixels wide."""
    width, height = max(2.0, area.columns * _PX), max(2.0, area.rows * _PX)
    left, top = x + area.column * _PX, y + area.row * _PX
    return f'  <rect class="{kind}" x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}"/>'


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "") -> str:
    styled = f' class="{kind}"' * bool(kind) + f' text-anchor="{anchor}"' * bool(anchor)
    return f'  <text{styled} x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'


def _panel(step: _Step, x: float) -> list[str]:
    size, depth = _PART * _PX, _DEPTH * _PX
    left, top = x + depth + 10, _TOP + depth + 10  # of C; A is at its left, B above it
    whole = _Area(0, 0, _PART, _PART)
    lines = [_rectangle(part, left, top, kind) for part, kind in ((step.block, "block"), (step.warp, "warp"))]
    lines += [_rectangle(part, left, top, "thread") for part in step.thread]
    lines += [_rectangle(step.a, x, top, "load"), _rectangle(step.b, left, _TOP, "load")]
    lines += [_rectangle(whole, left, top, "matrix"), _rectangle(_Area(0, 0, _PART, _DEPTH), x, top, "matrix")]
    lines += [_rectangle(_Area(0, 0, _DEPTH, _PART), left, _TOP, "matrix"), _text(x + 4, top + size - 6, "A", "note")]
    lines += [_text(left + size - 14, _TOP + 16, "B", "note"), _text(left + size - 14, top + size - 6, "C", "note")]
    below = top + size + 26
    shared = f", shared {float(step.from_shared):.2g}" if step.from_shared else ""
    texts = [(step.name, "name"), (f"global {step.from_memory}{shared}", ""), *((note, "note") for note in step.notes)]
    return lines + [_text(x, below + 19 * index, text, kind) for index, (text, kind) in enumerate(texts)]


def svg() -> str:
    """The picture. Raises ResultsError if a kernel has lost a constant."""
    steps = _steps()
    width, height = 2 * _MARGIN + 4 * _PANEL + 3 * _GAP, 384
    rates = ", ".join(str(step.from_memory) for step in steps)
    title = f"Tiles cut what a multiply-add loads from global memory: {rates} elements"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img"'
        ' aria-labelledby="title desc">',
        f'  <title id="title">{title}</title>',
        f'  <desc id="desc">Elements of A, B and C for {", ".join(step.name for step in steps)}.</desc>',
        f"  <style>{_STYLE}  </style>",
        f'  <rect class="page" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8"/>',
        _text(_MARGIN, 34, title, "title"),
        _text(_MARGIN, 58, f"{_PART} x {_PART} elements of C = A B, layout nn. Orange: loaded at once. Blue: computed by a block, a warp "
              "and a thread.", "note"),
    ]  # fmt: skip
    for index, step in enumerate(steps):
        lines += _panel(step, _MARGIN + index * (_PANEL + _GAP))
    return "\n".join([*lines, "</svg>", ""])
