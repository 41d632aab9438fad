"""scene.js places what a page draws as axes.py and roofline.py do: the same numbers for random devices and points."""

import json
import random
from dataclasses import asdict
from math import isclose, log10
from typing import Any

import chromium
import pytest

from ridgebench.base.units import tick
from ridgebench.figures.scene.axes import decade_in, decades, filled
from ridgebench.figures.scene.roofline import LECTURE, MOVING, REFERENCE, SCRIPT, Line, Roof, limits

pytestmark = pytest.mark.skipif(chromium.PROGRAM is None, reason="no chromium; scripts/setup.sh --dev installs it")
_ANSWER = """(({points, roofs, margins, scale, width, height, most, step}) => {
    const {decades, decadeIn, filled, lines, within, limits, tick} = ridgebench_scene;
    const made = roofs.map(([bandwidth, peak]) => lines(bandwidth, peak)), held = limits(points, made, margins, scale);
    const decade = decadeIn(held, width, height), x = filled(held[0], width, decade), y = filled(held[1], height, decade, 0.5);
    const rates = y.map((one) => one + Math.log10(scale));
    return {held, decade, x, y, ends: made.flat().map((line) => within(line, x, rates)), ridges: made.flat().map((line) => line.ridge),
            ticks: [x, y].map((one) => decades(one, most, step)), texts: decades(y).map(tick)}; })"""


def _question(rng: random.Random) -> dict[str, Any]:
    """Up to three roofs, one of them without a peak, and up to eight points."""
    roofs = [(10 ** rng.uniform(9, 13), 10 ** rng.uniform(9, 16) if rng.random() < 0.9 else None) for _ in range(rng.randint(0, 3))]
    points = [(10 ** rng.uniform(-3, 6), 10 ** rng.uniform(2, 16)) for _ in range(rng.randint(0 if roofs else 1, 8))]
    return {"points": points, "roofs": roofs, "margins": asdict(rng.choice((LECTURE, MOVING, REFERENCE))), "scale": rng.choice((1e9, 1e12)),
            "width": rng.uniform(200, 800), "height": rng.uniform(200, 600), "most": rng.randint(2, 12), "step": rng.randint(1, 3)}


def _lines(bandwidth: float, peak: Any) -> list[Line]:
    if peak is None:
        return [Line(log10(bandwidth), True)]
    return list(Roof(bandwidth, peak).lines)


def _expected(asked: dict[str, Any]) -> dict[str, Any]:
    margins = next(one for one in (LECTURE, MOVING, REFERENCE) if asdict(one) == asked["margins"])
    made = [_lines(*roof) for roof in asked["roofs"]]
    held = limits(asked["points"], made, margins, asked["scale"])
    decade = decade_in(held, asked["width"], asked["height"])
    x, y = filled(held[0], asked["width"], decade), filled(held[1], asked["height"], decade, 0.5)
    rates = (y[0] + log10(asked["scale"]), y[1] + log10(asked["scale"]))
    flat = [line for lines in made for line in lines]
    return {"held": held, "decade": decade, "x": x, "y": y, "ends": [line.within(x, rates) for line in flat],
            "ridges": [line.ridge for line in flat], "ticks": [decades(one, asked["most"], asked["step"]) for one in (x, y)],
            "texts": [tick(10.0**power) for power in decades(y)]}


def _same(found: Any, expected: Any) -> bool:
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(_same(found[key], expected[key]) for key in expected)
    if isinstance(expected, (list, tuple)):
        return len(found) == len(expected) and all(map(_same, found, expected))
    if isinstance(expected, float):
        return isclose(found, expected, rel_tol=1e-9, abs_tol=1e-9)
    return found == expected


def test_a_page_places_200_random_rooflines_as_the_figures_do(browser):
    rng = random.Random(61)
    asked = [_question(rng) for _ in range(200)]
    browser.run(SCRIPT.read_text("utf-8").replace("const ridgebench_scene", "globalThis.ridgebench_scene", 1))
    answers = browser.run(f"{json.dumps(asked)}.map({_ANSWER})")
    for one, found in zip(asked, answers):
        assert _same(found, _expected(one)), (one, found, _expected(one))
