"""Slide 11: what keeps a device from the peak of its data sheet."""

from typing import Any

from ridgebench.units import digits, percent, rate

from . import build_up, devices, drawing, measured
from .deck import Deck, Slide, Stage
from .model import Mark
from .panel import Bar, Sample

_CAPS = {"power": "its power limit", "thermal": "its heat", "slowdown": "a slowdown of the board"}


def _peak_of(deck: Deck) -> dict[str, Any]:
    """The data sheet's peak in the format of the deck: clock and FLOPs per clock and SM, where it has them."""
    sheet = devices.facts(deck.device.on)
    peaks = [one for one in sheet["peaks"] if one["format"] == deck.scene.format and one["accumulator"] == "fp32"]
    best = max(peaks, key=lambda one: one["flops_per_s"], default={})
    return {**best, "sms": sheet.get("sms"), "tdp_w": sheet.get("tdp_w")}


def _assumed(deck: Deck) -> list[str]:
    """'132 SMs × 4,096 FLOP per clock × 1.83 GHz', and the power that the board may draw."""
    peak, found = _peak_of(deck), []
    if peak.get("sms") and peak.get("flops_per_clock_per_sm") and peak.get("clock_hz"):
        found.append(f"The peak assumes {peak['sms']} SMs × {peak['flops_per_clock_per_sm']:,} FLOP per clock × "
                     f"{peak['clock_hz'] / 1e9:.3g} GHz.")
    if peak.get("tdp_w"):
        found.append(f"The board may draw {digits(peak['tdp_w'])} W. Where a product needs more, the clock falls, and "
                     "the peak with it.")
    return found


def _capped(reasons: list[str]) -> str:
    """What the driver says held the clock back; empty where it named nothing of the kind."""
    named = [text for word, text in _CAPS.items() if any(word in reason for reason in reasons)]
    return f"The driver named {named[0]} as the reason." if named else ""


def _earlier(stage: Stage, measured_path: list[Mark]) -> None:
    """What the slides before this one drew."""
    build_up.ground(stage)
    build_up.points(stage, ("relu", "gelu", "dot", "matvec"), new=False)
    build_up.paths(stage, stage.deck.shown.path, measured_path, new=False)


def _from_sheet(deck: Deck) -> Slide:
    words = _assumed(deck) or ["The data sheet does not say which clock its peak assumes."]

    def draw(stage: Stage) -> None:
        _earlier(stage, [])
        drawing.flat(stage.plane, deck.roof, stage.hue, 0.6, "dashed")
        build_up.say(stage, *words)

    return Slide("limits", "The peak is a promise at one clock", " ".join(words), words, build_up.info(deck), 4, draw)


def _from_run(deck: Deck) -> Slide:
    sheet, roof = deck.device.sheet_roof, deck.device.measured_roof
    row = measured.best(deck.view, deck.scene.format, "matmul")
    row = row if row and deck.view.may_head(row) else None
    clock, power, reasons = measured.held(row) if row else (None, None, [])
    compute, memory = roof.flops_per_s / sheet.flops_per_s, roof.bytes_per_s / sheet.bytes_per_s
    words = (f"The measured peak is {deck.scene.rate(roof.flops_per_s)}, {percent(compute)} % of the data sheet. "
             f"Memory reaches {percent(memory)} %. The ridge is at {digits(roof.ridge)} instead of {digits(sheet.ridge)}.")
    clocks = [("assumed", _peak_of(deck).get("clock_hz"), False), ("held", clock, True)]
    bars = [(name, hertz, filled) for name, hertz, filled in clocks if hertz]
    said = list(filter(None, [f"The board drew {digits(power)} W." if power else "", _capped(reasons)]))

    def draw(stage: Stage) -> None:
        _earlier(stage, deck.shown.measured_path)
        drawing.roof(stage.plane, sheet, stage.hue, 0.5, "dashed")
        drawing.roof(stage.plane, roof, stage.hue)
        build_up.say(stage, words)
        stage.panel.gap(0.5)
        stage.panel.key([Sample("data sheet", stage.hue, "dashed", width=0.5), Sample("measured", stage.hue)])
        if len(bars) == 2:
            stage.panel.gap(0.5)
            stage.panel.text("Clock in matmul", weight="bold")
            top = max(hertz for _, hertz, _ in bars)
            stage.panel.bars([Bar(name, hertz / top, f"{hertz / 1e9:.3g} GHz", stage.hue, filled)
                              for name, hertz, filled in bars])
        for one in said:
            stage.panel.gap(0.2)
            stage.panel.text(one, most=3)

    numbers = [words, *(f"clock {name}: {hertz / 1e9:.3g} GHz" for name, hertz, _ in bars), *said]
    title = "Why the data sheet's peak stays out of reach"
    if not deck.scene.doubt:
        title = f"The device gives {percent(compute)} % of the data sheet's peak"
    return Slide("limits", title, words, numbers, build_up.info(deck), 5, draw)


def _of_host(deck: Deck) -> Slide:
    """A device without a data sheet."""
    roof = deck.roof
    words = (f"No data sheet names a peak of this device. Its roofs are the best that anything verified reached: "
             f"{deck.scene.rate(roof.flops_per_s)} and {rate(roof.bytes_per_s, 'B/s')}.")

    def draw(stage: Stage) -> None:
        _earlier(stage, deck.shown.measured_path)
        drawing.roof(stage.plane, roof, stage.hue)
        build_up.say(stage, words)

    return Slide("limits", "The roofs of this device were measured", words, [words], build_up.info(deck), 3, draw)


def limits(deck: Deck) -> Slide:
    device = deck.device
    if device.measured_roof and device.sheet_roof:
        return _from_run(deck)
    return _from_sheet(deck) if device.on else _of_host(deck)
