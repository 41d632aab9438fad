"""Slide 11: what keeps a device from the peak of its data sheet."""

from typing import Any, Optional

from ridgebench.base.units import digits, percent, rate

from . import build_up, devices, drawing, measured
from .counting import wide
from .deck import Deck, Slide, Stage
from .model import Mark
from .panel import Bar

_CLOCKS = (1.0, 0.8, 0.6)  # shares of the clock that the peak assumes
_FAR = 1.1  # share of its roof above which a row shows that the roof is no limit: 1 + kSuspectMargin of harness/results/suspect.hpp
_APART = 1.25  # lines of text from one bar to the next
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
    """The driver's reason for a lower clock; empty if it named none."""
    named = [text for word, text in _CAPS.items() if any(word in reason for reason in reasons)]
    return f"The driver named {named[0]} as the reason." if named else ""


def _earlier(stage: Stage, measured_path: list[Mark]) -> None:
    """The drawing of the slides before this one."""
    build_up.ground(stage)
    build_up.points(stage, ("relu", "gelu", "dot", "matvec"), new=False)
    build_up.paths(stage, stage.deck.shown.path, measured_path, new=False)


def _promise(deck: Deck) -> str:
    """'990 TFLOP/s are promised at 1.83 GHz', where the data sheet says so."""
    hertz, peak = _peak_of(deck).get("clock_hz"), deck.scene.rate(deck.roof.flops_per_s)
    return f"{peak} are promised at {hertz / 1e9:.3g} GHz" if hertz else f"{peak} are a promise without a clock"


def _from_sheet(deck: Deck) -> Slide:
    words = _assumed(deck) or ["The data sheet does not say which clock its peak assumes."]

    def draw(stage: Stage) -> None:
        panel = wide(stage, 26.0)
        for one in words:
            panel.text(one, most=4)
            panel.gap(0.7)
        hertz = _peak_of(deck).get("clock_hz")
        if hertz:  # the peak is proportional to the clock
            panel.bars([Bar(f"peak at {share * hertz / 1e9:.3g} GHz", share, deck.scene.rate(share * deck.roof.flops_per_s), stage.hue,
                            False) for share in _CLOCKS])

    return Slide("limits", _promise(deck), " ".join(words), words, build_up.info(deck), 4, draw, axes=False)


def _kept(deck: Deck, clock: Optional[float]) -> list[tuple[str, list[tuple[str, float, str]]]]:
    """The data sheet's promises beside the run's results: name of each pair, then name, value and text of both."""
    sheet, roof = deck.device.sheet_roof, deck.device.measured_roof
    pairs = [("arithmetic", sheet.flops_per_s, roof.flops_per_s, deck.scene.rate),
             ("memory", sheet.bytes_per_s, roof.bytes_per_s, lambda value: rate(value, "B/s"))]
    hertz = _peak_of(deck).get("clock_hz")
    if hertz and clock:
        pairs.append(("clock in matmul", hertz, clock, lambda value: f"{value / 1e9:.3g} GHz"))
    return [(name, [("data sheet", promised, text(promised)), ("measured", held, f"{text(held)}, {percent(held / promised)} %")])
            for name, promised, held, text in pairs]


def _run_title(deck: Deck, share: float) -> str:
    """The share of the peak that the device gives: about, where the roof drifted; an unfinished run claims none."""
    if deck.view and deck.view.why_unfinished:
        return _promise(deck)
    return f"The device gives {'about ' * bool(deck.scene.doubt)}{percent(share)} % of the data sheet's peak"


def _from_run(deck: Deck) -> Slide:
    sheet, roof = deck.device.sheet_roof, deck.device.measured_roof
    row = measured.best(deck.view, deck.scene.format, "matmul")
    row = row if row and deck.view.may_head(row) else None
    clock, power, reasons = measured.held(row) if row else (None, None, [])
    pairs = _kept(deck, clock)
    words = f"The ridge is at {digits(roof.ridge)} FLOP per byte instead of {digits(sheet.ridge)}."
    said = list(filter(None, [f"The board drew {digits(power)} W." if power else "", _capped(reasons)]))

    def draw(stage: Stage) -> None:
        panel = wide(stage)
        for name, both in pairs:
            panel.text(name[:1].upper() + name[1:], weight="bold")
            top = max(value for _, value, _ in both)
            panel.bars([Bar(who, value / top, text, stage.hue, who == "measured") for who, value, text in both], _APART)
            panel.gap(0.3)
        panel.text(" ".join([words, *said]), most=3)

    numbers = [f"{name}, {who}: {text}" for name, both in pairs for who, _, text in both] + [words, *said]
    return Slide("limits", _run_title(deck, roof.flops_per_s / sheet.flops_per_s), words, numbers, build_up.info(deck), 5, draw,
                 axes=False, measured=True)


def _exceeded(deck: Deck) -> bool:
    """True if a verified row lies far above its roof, which it may not raise: the roofs are then no limit.

    A cache may serve a row faster than the memory that is its roof.
    """
    rows = deck.view.only(deck.scene.format).points if deck.view else []
    judged = [row for row in rows if row.bound == "compute" or not row.served_by_cache]
    return any((row.fraction_of_measured_roof or 0.0) > _FAR for row in judged)


def _of_host(deck: Deck) -> Slide:
    """A device without a data sheet."""
    roof, exceeded = deck.roof, _exceeded(deck)
    speeds = f"{deck.scene.rate(roof.flops_per_s)} and {rate(roof.bytes_per_s, 'B/s')}"
    words = ("No data sheet names a peak of this device. Its roofs are the best of the run's ceilings and of rows that may raise them: "
             f"{speeds}.")
    if exceeded:
        words += " A verified row is more than 10 % faster than its roof, so the roofs are no limit."

    def draw(stage: Stage) -> None:
        _earlier(stage, deck.shown.measured_path)
        drawing.roof(stage.plane, roof, stage.hue)
        build_up.say(stage, words)

    claimed = f"No data sheet, but roofs: {speeds} were reached"
    title = "No data sheet, and roofs that a verified row exceeds" if exceeded else claimed
    return Slide("limits", title, words, [words], build_up.info(deck), 3, draw, measured=True)


def limits(deck: Deck) -> Slide:
    device = deck.device
    if device.measured_roof and device.sheet_roof:
        return _from_run(deck)
    return _from_sheet(deck) if device.on else _of_host(deck)
