"""Colours, sizes and marker shapes of every figure."""

from dataclasses import dataclass
from functools import cache
from typing import Optional, Union

from matplotlib import colors

from ridgebench.data.records import Row

SIZE = (12.8, 7.2)  # inches, 16:9
TEXT_CONTRAST = 4.5  # WCAG 2.1 AA for text
SMALL, NORMAL = 9.0, 10.0  # points
TITLES = (16.0, 14.5, 13.0)  # the largest one at which the whole title fits
DIRECT = "direct-label"  # group id of a text that names a line or a point

# From the Okabe-Ito palette; its orange, sky blue and yellow have less than 3:1 contrast on white.
BLUE, VERMILLION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
_HUES = {"fp32": GREEN, "fp16": VERMILLION, "bf16": BLUE, "fp8": PURPLE}
# CIE L* of each hue in print, at least 10 apart, so that greyscale keeps them apart. 61 is 3:1 on white.
_LIGHTNESS = {"tf32": 0.0, "bf16": 20.0, "tf32x3": 30.0, "fp32": 40.0, "fp16": 50.0, "fp8": 60.0}
# A second sign beside the hue, for print: the dash of a format's flat roof, in line widths, and a letter.
_FORMAT_DASHES = {"fp32": (6, 2), "tf32": (4, 2), "tf32x3": (2, 1, 2, 4), "fp16": (1, 1), "bf16": (6, 2, 1, 2)}
_FP8_DASHES = (3, 1, 1, 1, 1, 1)
_LETTERS = {"fp32": "S", "tf32": "T", "tf32x3": "X", "fp16": "H", "bf16": "B", "fp4": "4"}

_SHAPES = {"relu": "^", "gelu": "v", "dot": "o", "matvec": "s", "matmul": "D", "matmul_gelu": "p"}
_Dashes = Union[str, tuple[int, tuple[int, ...]]]
_SPARE_SHAPES = ("<", ">", "h", "8", "P", "X")


def family(name: str) -> str:
    """fp8 for all formats of 8 bits and their pairs, whose arithmetic is the same; other names stay."""
    return "fp8" if name.startswith("fp8") else name


@dataclass(frozen=True)
class Theme:
    background: str
    ink: str
    muted: str
    faint: str
    band_alpha: float
    letters: bool = False  # whether dashes and letters say again what hues say, for greyscale

    @property
    def patch(self) -> dict:
        """A box behind text that crosses a line."""
        return {"facecolor": self.background, "edgecolor": "none", "pad": 0.8}

    def hue(self, name: Optional[str]) -> str:
        """The colour of a format's lines and markers, with 3:1 contrast or more on every background."""
        if name is None:
            return self.muted
        own = family(name)
        colour = self.ink if name == "tf32" else _HUES.get(own, self.muted)
        return toned(colour, _LIGHTNESS[own]) if self.letters and own in _LIGHTNESS else colour

    def dash(self, name: str) -> _Dashes:
        """The line style of a format: in print its own, else solid."""
        return _format_dash(name) if self.letters else "solid"

    def letter(self, name: str) -> str:
        """The letter in the markers of a format: in print its own, else none."""
        return _format_letter(name) if self.letters else ""

    def titled(self, name: str) -> str:
        """The name of a format, in print with its letter: 'bf16 [B]'."""
        return f"{name} [{self.letter(name)}]" if self.letters else name

    def text(self, name: Optional[str]) -> str:
        """The same hue, mixed with ink until it has the contrast of text."""
        return readable(self.hue(name), self.ink, self.background)


@dataclass(frozen=True)
class OneHue(Theme):
    """A theme in which everything has the colour of a run, and in print its line style and letter."""

    colour: str = ""
    line: _Dashes = "solid"
    mark: str = ""

    def hue(self, name: Optional[str]) -> str:
        return self.colour

    def dash(self, name: str) -> _Dashes:
        return self.line if self.letters else "solid"

    def letter(self, name: str) -> str:
        return self.mark if self.letters else ""


THEMES = {
    "light": Theme("#ffffff", "#000000", "#555555", "#e3e3e3", 0.16),
    "dark": Theme("#111111", "#ffffff", "#b4b4b4", "#333333", 0.28),
    "print": Theme("#ffffff", "#000000", "#333333", "#cccccc", 0.0, letters=True),
}


def _format_dash(name: str) -> _Dashes:
    """The line style of a format, which identifies it without its hue."""
    dashes = _FP8_DASHES if name.startswith("fp8") else _FORMAT_DASHES.get(name)
    return (0, dashes) if dashes else "solid"


def _format_letter(name: str) -> str:
    """The letter of a format, which identifies it without its hue: as BLAS names fp32 (S) and fp16 (H), 8 for fp8."""
    return "8" if name.startswith("fp8") else _LETTERS.get(name, name[:1].upper())


def luminance(colour: str) -> float:
    """Relative luminance, WCAG 2.1."""
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in colors.to_rgb(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def lightness(colour: str) -> float:
    """CIE L*, 0 to 100: what greyscale keeps of a colour, in equal steps for the eye."""
    y = luminance(colour)
    return 116 * y ** (1 / 3) - 16 if y > 0.008856 else 903.3 * y


def contrast(one: str, other: str) -> float:
    """Contrast ratio, WCAG 2.1: 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@cache
def blend(colour: str, other: str, share: float) -> str:
    pairs = zip(colors.to_rgb(colour), colors.to_rgb(other))
    return colors.to_hex([a + (b - a) * share for a, b in pairs])


@cache
def toned(colour: str, target: float) -> str:
    """The colour, mixed with black or white until its CIE L* is near the target."""
    other = "#ffffff" if lightness(colour) < target else "#000000"
    return min((blend(colour, other, step / 200) for step in range(201)), key=lambda c: abs(lightness(c) - target))


@cache
def readable(colour: str, ink: str, background: str) -> str:
    steps = (blend(colour, ink, step / 20) for step in range(21))
    return next(c for c in steps if contrast(c, background) >= TEXT_CONTRAST)


def shape(op: str, operations: list[str]) -> str:
    """The marker of an operation; one that _SHAPES lacks gets a spare shape."""
    unknown = [name for name in operations if name not in _SHAPES]
    if op in _SHAPES:
        return _SHAPES[op]
    return _SPARE_SHAPES[unknown.index(op) % len(_SPARE_SHAPES)] if op in unknown else "X"


def is_pair(name: str) -> bool:
    """True if a format is a mixed pair, such as fp8_e4m3xfp8_e5m2."""
    return "xfp" in name


def edge_dashes(name: str) -> _Dashes:
    """The edge of a marker: both fp8 formats and their pairs share a hue, so their edges differ."""
    if is_pair(name):
        return (0, (3, 1, 1, 1))
    return (0, (1, 1)) if name == "fp8_e5m2" else "solid"


def fill(row: Row, theme: Theme) -> str:
    """The fill of a marker: solid for a hand-written row, paler for a naive one, hollow for a library's."""
    if row.origin == "library":
        return theme.background
    dashed = edge_dashes(row.format) != "solid"  # a dashed edge is invisible on a solid face
    pale = 0.7 if row.naive else 0.35 if dashed else 0.0
    return blend(theme.hue(row.format), theme.background, pale)
