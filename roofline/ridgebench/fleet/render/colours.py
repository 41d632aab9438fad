"""Colours of the map: percent of the median in seven steps, from vermillion over grey to blue (Okabe and Ito's hues).

Numbers in the cells, signs and outlines say the same without colour.
"""

from typing import NamedTuple

from ridgebench.figures.page.style import THEMES, contrast
from ridgebench.fleet import peers
from ridgebench.fleet.gpu import DUPLICATE, FAILED, MISSING, STALE, STARTED
from ridgebench.fleet.states import INCOMPLETE, NOT_COMPARABLE, UNHEALTHY, WRONG

# Upper ends of the steps, as ratios to the median; the two limits of the rule are among them.
STEPS = (1 - peers.FAIL, 1 - peers.FLOOR, 0.98, 1.02, 1 + peers.FLOOR, 1 + peers.FAIL)
NAMES = ("below 94 %", "94 to 97 %", "97 to 98 %", "98 to 102 %", "102 to 103 %", "103 to 106 %", "above 106 %")
_FILLS = {
    "light": ("#b84a00", "#ee9a5e", "#f9dcc4", "#ececec", "#cfe4f2", "#79b4dc", "#00609a"),
    "dark": ("#ff8a3d", "#a85412", "#553019", "#2e2e2e", "#1d3b50", "#2a6c9c", "#6cbcf2"),
}
# The sign of a state that a cell shows in place of a number; MISSING has none and is hatched.
SIGNS = {WRONG: "✗", FAILED: "!", STARTED: "…", UNHEALTHY: "✚", MISSING: "", INCOMPLETE: "◐", DUPLICATE: "=", STALE: "~",
         NOT_COMPARABLE: "≠"}  # fmt: skip


class _Step(NamedTuple):
    fill: str
    ink: str


def step_of(ratio: float) -> int:
    return sum(ratio >= end for end in STEPS)


def steps(theme: str) -> list[_Step]:
    """The steps with the text colour that has more contrast on each."""
    return [_Step(fill, max(("#000000", "#ffffff"), key=lambda ink: contrast(ink, fill))) for fill in _FILLS[theme]]


def variables(theme: str) -> str:
    """The colours of a theme as CSS variables."""
    base = THEMES[theme]
    named = {"background": base.background, "ink": base.ink, "muted": base.muted, "faint": base.faint}
    for number, step in enumerate(steps(theme)):
        named |= {f"fill{number}": step.fill, f"ink{number}": step.ink}
    named["slow"] = "#b84a00" if theme == "light" else "#ff8a3d"
    named["fast"] = "#00609a" if theme == "light" else "#6cbcf2"
    return "".join(f"--{name}:{value};" for name, value in named.items())
