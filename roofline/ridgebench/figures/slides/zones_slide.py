"""The slide with the three zones of two bandwidths: that of the device's memory, and that of a link."""

from typing import Optional

from ridgebench.base.units import digits, rate
from ridgebench.data.program import ask
from ridgebench.figures.scene.roofline import Roof

from . import build_up, drawing
from .deck import Deck, Slide, Stage

_LINKS = ("nvlink4", "pcie5x16", "ethernet-100g")  # the first that is slow enough is shown
_APART = 3.0  # how many times as fast the memory is at least
_ALONG = {"memory": 0.75, "link": 0.4}  # share of a slope, from its lower end within the axes, at which its name is
_SPARE = 0.15  # decades right of the ridge of the link


def link_of(deck: Deck) -> Optional[tuple[str, Roof]]:
    """A link much slower than the memory, an example of any device's, with its roof; None if its ridge lies beyond the axes."""
    for name in _LINKS:
        speed = ask("plan", "transfer", "--bytes", "1G", "--link", name)["terms"][0]["value"]
        if speed * _APART <= deck.roof.bytes_per_s:
            roof = Roof(speed, deck.roof.flops_per_s)
            return (name, roof) if roof.ridge < 10 ** (deck.limits[0][1] - _SPARE) else None
    return None


def slides(deck: Deck) -> list[Slide]:
    """The slide, or none if no link fits."""
    found = link_of(deck)
    if found is None:
        return []
    name, link = found
    near, far = digits(deck.roof.ridge), digits(link.ridge)
    words = (f"Own memory delivers {rate(deck.roof.bytes_per_s, 'B/s')}, {name}, an example of a link, "
             f"{rate(link.bytes_per_s, 'B/s')}. Under one peak each has a ridge of its own.")
    zones = [f"Up to {near} FLOP per byte both are too slow.", f"From {near} to {far} only the link is.", "Beyond, arithmetic is the limit."]

    def draw(stage: Stage) -> None:
        drawing.zones(stage.plane, deck.roof, link, ("both", "link only", "arithmetic"))
        drawing.roof(stage.plane, deck.roof, stage.hue)
        drawing.roof(stage.plane, link, stage.theme.ink, 0.7, (0, (4, 1.5)))
        drawing.ridge(stage.plane, deck.roof, stage.hue, f"ridge {near}")
        drawing.ridge(stage.plane, link, stage.theme.ink, far)
        for text, roof, share in (("own memory", deck.roof, _ALONG["memory"]), (name, link, _ALONG["link"])):
            start = max(stage.plane.ends()[0], stage.plane.lowest / roof.bytes_per_s)
            along = start ** (1 - share) * roof.ridge**share
            stage.plane.wish(text, along, roof.at(along), stage.theme.ink)
        build_up.say(stage, words, *zones)

    title = f"From {near} to {far} FLOP per byte only the link is too slow"
    lines = [f"memory: {rate(deck.roof.bytes_per_s, 'B/s')}, ridge {near}", f"{name}: {rate(link.bytes_per_s, 'B/s')}, ridge {far}"]
    return [Slide("zones", title, f"{words} {' '.join(zones)}", lines, f"ridgebench plan transfer --bytes 1G --link {name}", 3, draw,
                  measured=deck.measured_roof)]
