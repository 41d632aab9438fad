"""The devices of a lecture: their roofs in one format, from a data sheet or measured."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

from ridgebench.base.files import ResultsError, read
from ridgebench.base.text import clean, cut
from ridgebench.data.data_sheets import FOLDER, Sheet, find_sheet
from ridgebench.data.view import ORDER, View, ordered
from ridgebench.figures.page.roofs import measured_roofs
from ridgebench.figures.page.style import is_pair
from ridgebench.figures.scene.roofline import Roof

_LONGEST_NAME = 21  # characters of a device's name
_PREFERRED = ("bf16", "fp16", "tf32", "fp8_e4m3", "fp32")  # of a device with tensor cores


@dataclass(frozen=True)
class Device:
    """A device of the figure. `on` is the name of its data sheet in the binary."""

    name: str
    sheet_roof: Optional[Roof] = None
    measured_roof: Optional[Roof] = None
    on: Optional[str] = None
    view: Optional[View] = None

    @property
    def roof(self) -> Roof:
        """The roof that judges the points: the measured one, else the data sheet's."""
        return self.measured_roof or self.sheet_roof  # type: ignore[return-value]

    @property
    def host(self) -> bool:
        return self.view is not None and self.view.device["backend"] == "cpu"


def short(name: str) -> str:
    """A device's name for a slide: "H100 SXM" of h100-sxm; others are cut."""
    text = clean(name)
    if re.fullmatch(r"[a-z0-9-]+", text):
        text = text.replace("-", " ").upper()
    for word in ("NVIDIA ", "(R)", "(TM)"):
        text = text.replace(word, "")
    return cut(text, _LONGEST_NAME)


def known_as(name: str, sheet: Sheet) -> str:
    """The one name of a data sheet: its own, or the path of a user's file."""
    stored = (FOLDER / f"{sheet.name}.json").exists() and find_sheet(sheet.name) == sheet
    return sheet.name if stored else name


def sheet_roof(sheet: Sheet, format_: str) -> Optional[Roof]:
    peak = sheet.peaks.get(format_)
    return Roof(sheet.bytes_per_s, peak[1]) if peak else None


def of_sheet(name: str, format_: str) -> Device:
    """The device of a data sheet. Raises ResultsError where the sheet is unknown or has no peak in the format."""
    sheet = find_sheet(name)
    roof = sheet_roof(sheet, format_)
    if roof is None:
        allowed = ", ".join(ordered(set(sheet.peaks), ORDER))
        raise ResultsError(f"{sheet.name} has no peak for {format_}; allowed: {allowed}")
    return Device(short(sheet.name), roof, on=known_as(name, sheet))


def measured_roof(view: View) -> Optional[Roof]:
    """The roof of the format's matrix products; None if no ceiling reaches the engine that they use."""
    products = measured_roofs(view).products
    return Roof(products["bytes_per_s"], products["flops_per_s"], products["traffic"] or "") if products else None


def of_run(view: View, format_: str) -> Optional[Device]:
    """The device of a run with its own data sheet, if it has one; None where neither gives a roof."""
    name = view.device["data_sheet"]
    sheet = find_sheet(name) if name else None
    own = sheet_roof(sheet, format_) if sheet else None
    measured = measured_roof(view.only(format_))
    if own is None and measured is None:
        return None
    shown = short(name) if name else short(view.device["model"] or view.device["name"])
    return Device(shown, own, measured, name if own else None, view)


def formats_of(view: View) -> list[str]:
    """The formats of a run that a lecture figure can show."""
    named = {row.format for row in view.points if row.format in ORDER and not is_pair(row.format)}
    return [name for name in ordered(named, ORDER) if of_run(view, name)]


def default_format(view: Optional[View], sheets: list[str]) -> str:
    """bf16 where the device has it, the best tensor format that the run served; on a host fp32."""
    if view is None:
        peaks = [find_sheet(name).peaks for name in sheets]
        return next((name for name in _PREFERRED if all(name in one for one in peaks)), "bf16")
    served = formats_of(view)
    host = view.device["backend"] == "cpu"
    tensor = {row.format for row in view.points if row.engine == "tensor"}
    wanted = ("fp32",) if host else tuple(name for name in _PREFERRED if name in tensor)
    found = next((name for name in wanted if name in served), None) or next(iter(served), None)
    if found is None:
        raise ResultsError("the run has no verified row and no roof that a lecture figure could show")
    return found


def facts(name: str) -> dict[str, Any]:
    """A data sheet, by the name of known_as(), as it is in its file: clock, units, power. `find_sheet` has checked it."""
    stored = FOLDER / f"{name}.json"
    return clean(json.loads(read(stored if stored.exists() else Path(name), "a data sheet")))
