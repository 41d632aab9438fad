"""The figures of a measured step: its time from the data sheet to the launches, its MFU, and its memory over its launches."""

from dataclasses import dataclass
from functools import partial
from typing import Any, Callable, Optional

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ridgebench.base.units import digits, percent, seconds
from ridgebench.data.steps import KINDS, Part, Step, StepFolder

from . import labels
from .canvas import across, upwards
from .page import MARGIN, WIDTH, add_axes, new_page, provenance, write_head, write_last_line
from .style import BLUE, GREEN, NORMAL, PURPLE, SMALL, VERMILLION, Theme

_GROUPS = ("products", "attention", "optimizer", "the rest")
_UNEXPLAINED = "unexplained by the parts"
COLOURS = {"products": BLUE, "attention": PURPLE, "optimizer": VERMILLION, "the rest": GREEN, _UNEXPLAINED: "#B8860B"}
COLOUR_OF_KIND = {
    "parameters": BLUE,
    "optimizer": VERMILLION,
    "cache": VERMILLION,
    "gradients": GREEN,
    "input": "#8C8C8C",
    "loss": "#5C5C5C",
    "output": "#5C5C5C",
    "activations": PURPLE,
    "activation_gradients": "#B8860B",
}
_PLACES = {
    "forward": "in the forward pass",
    "backward": "in the backward pass",
    "attention": "in the attention of a layer",
    "network": "in the network of a layer",
}
_LARGE = 14.0  # points
_NEAR = 3  # times the peak: a device's memory above it would make the bands too low to read
_MOST_SLOWER = 1.25  # a part by itself reads less from the caches than in the step
_MOST_UNEXPLAINED = 0.1  # of a step's time, before titles speak of it
_MEASURED = "the measured roof"
_UNITS = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))


def _group(part: Part) -> str:
    if part.operation in ("matmul", "matvec"):
        return "products"
    return part.name if part.name in _GROUPS else "the rest"


def _sums(step: Step, time_of: Callable[[Part], Optional[float]]) -> Optional[dict[str, float]]:
    """Seconds of each group that the step has; None if one is unknown."""
    sums = {group: 0.0 for group in _GROUPS if any(_group(part) == group for part in step.parts)}
    for part in step.parts:
        value = time_of(part)
        if value is None:
            return None
        sums[_group(part)] += value
    return sums


def _explained(step: Step) -> float:
    """The share of the step's time that its parts by themselves take, where the rest is too long to pass over; else 1."""
    share = step.record["sum_of_operations_s"] / step.record["time_s"]
    return share if share < 1 - _MOST_UNEXPLAINED else 1.0


def _whole(step: Step) -> dict[str, float]:
    """The time of the step, and what its parts by themselves leave unexplained of it."""
    rest = max(step.record["unexplained_s"], 0.0)
    if rest < 0.01 * step.record["time_s"]:
        return {"the step": step.record["time_s"]}
    return {"the step": step.record["time_s"] - rest, _UNEXPLAINED: rest}


def bars(step: Step) -> list[tuple[str, dict[str, float]]]:
    """Name and parts of each bar, from the least time to the longest."""
    record = step.record
    found = [
        ("data sheet", _sums(step, lambda part: part.sheet_s)),
        ("measured roofs", _sums(step, lambda part: part.roof_s)),
        ("its parts, one by one", _sums(step, lambda part: part.time_s)),
        ("the step", _whole(step)),
    ]
    if record["launch_gap_s"] and record["launch_gap_s"] > 0.01 * record["time_s"]:
        found.append(("the step, launch by launch", _whole(step) | {"launches": record["launch_gap_s"]}))
    return [(name, parts) for name, parts in found if parts]


def _slower_alone(step: Step) -> float:
    """How many times as long as the step its parts took by themselves, where that is more than they can lose; else 0."""
    ratio = step.record["sum_of_operations_s"] / step.record["time_s"]
    return ratio if ratio > _MOST_SLOWER else 0.0


def _above_roof(step: Step) -> float:
    """How many times the measured roof the products of a flagged step reach, by themselves or within it; 0 without the flag."""
    if "above_roof" not in step.record["flags"]:
        return 0.0
    products = [part for part in step.parts if _group(part) == "products"]
    return sum(part.roof_s or 0 for part in products) / min(sum(part.time_s for part in products), step.record["time_s"])


def doubt(step: Step) -> str:
    """The reason for which nothing is claimed of the parts of a step, or of its roofs; empty without one."""
    ratio, above = (_slower_alone(step), _above_roof(step)) if step.ok else (0.0, 0.0)
    if above and not ratio:
        return (f"Its products reach {above:.2g} times the measured roof: caches served them, or another process slowed the ceiling. "
                "No claim rests on it")
    return f"Its parts by themselves took {ratio:.2g} times as long as the step, as beside another process: no claim rests on them" if ratio else ""


def waterfall_title(step: Step) -> str:
    record = step.record
    if _slower_alone(step):
        return f"The step takes {seconds(record['time_s'])}"
    if (explained := _explained(step)) < 1:
        return f"The step takes {seconds(record['time_s'])}, of which its parts explain {percent(explained)} %"
    parts = _sums(step, lambda part: part.time_s) or {}
    shown, are = ("attention", "is") if record["step"] == "decode" else ("products", "are")
    of_parts = f"{shown} {are} {percent(parts[shown] / sum(parts.values()))} % of its parts"
    if record["sum_of_roofs_s"] is None or _above_roof(step):
        return f"The step takes {seconds(record['time_s'])}; {of_parts}"
    share = f"{percent(record['sum_of_roofs_s'] / record['time_s'])} %"
    return f"The step takes {seconds(record['time_s'])}, of which the roofs need {share}; {of_parts}"


def subtitle(step: Step) -> str:
    record = step.record
    if record["step"] == "decode":
        return (
            f"{record['layers']} of {record['model_layers']} layers of {record['model']}, {record['format']} · "
            f"{record['batch']} sequences, {record['context']} tokens of each in the cache"
        )
    master = ", with a master copy" if record["master"] else ""
    return (
        f"{record['layers']} layers of {record['width']}, batch {record['batch']}, {record['format']}, {record['activation']}, "
        f"{record['optimizer']}{master} · checkpoint {record['checkpoint']}, micro-batches {record['micro_batches']}"
    )


def _device(found: StepFolder, step: Step) -> dict[str, Any]:
    """The device of the step in the environment."""
    return next((one for one in found.environment["devices"] if one["name"] == step.record["device"]), {})


def _page(found: StepFolder, step: Step, title: str, last: str, theme: Theme) -> tuple[Figure, Axes, float]:
    """A page with its head, whose last line is `last`, and the height that is left below."""
    figure, page = new_page(theme)
    known = [part for part in provenance(found.environment) if not part.startswith(("fill ", "profile "))]  # a step has none
    write_last_line(page, " · ".join(known), "", theme)
    device = f"{_device(found, step).get('model') or 'unknown model'} ({step.record['device']})"
    about = [device, subtitle(step), *filter(None, [last])]
    return figure, page, write_head(page, title, about, theme)


def _legend(page: Axes, names: list[tuple[str, str]], top: float, theme: Theme) -> float:
    left = MARGIN
    for name, colour in names:
        page.plot([left, left + 0.18], [top - 0.07] * 2, color=colour, lw=7, solid_capstyle="butt")
        page.text(left + 0.26, top, name, size=NORMAL, va="top", color=theme.ink)
        left += 0.26 + labels.width(name, NORMAL) + 0.3
    return top - 0.3


def _draw_waterfall(found: StepFolder, step: Step, theme: Theme) -> Figure:
    figure, page, top = _page(found, step, waterfall_title(step), doubt(step), theme)
    shown = bars(step)
    colours = COLOURS | {"the step": theme.muted, "launches": PURPLE}
    used = [name for name in colours if any(name in parts for _, parts in shown)]
    top = _legend(page, [(name, colours[name]) for name in used], top, theme)
    left, bottom = 2.3, 0.75
    axes = add_axes(figure, left, bottom, WIDTH - left - 1.1, top - bottom)
    scale, unit = next(((s, u) for s, u in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")) if step.record["time_s"] >= s), (1e-9, "ns"))
    for place, (name, parts) in enumerate(shown):
        begin = 0.0
        for group, value in parts.items():
            axes.barh(place, value / scale, left=begin / scale, color=colours[group], height=0.6)
            begin += value
        text = f" {digits(begin / scale)} {unit}"
        axes.text(begin / scale, place, text, va="center", size=NORMAL, color=theme.ink, clip_on=False)
    axes.set_yticks(range(len(shown)), [name for name, _ in shown])
    axes.tick_params(labelsize=NORMAL)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.02 * max(sum(parts.values()) for _, parts in shown) / scale)
    axes.set_xlabel(f"time of a step, {unit}")
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def memory_title(step: Step) -> str:
    record = step.record
    at = max(range(len(step.timeline)), key=lambda i: sum(step.timeline[i].live.values()))
    scale, unit = unit_of(record["peak_bytes"])
    same = "as predicted" if record["peak_bytes"] == record["peak_predicted_bytes"] else (
        f"where {digits(record['peak_predicted_bytes'] / scale)} {unit} were predicted")  # fmt: skip
    phase = step.timeline[at].phase
    where = _PLACES.get(phase, "in the optimizer's step")
    return f"Memory peaks at {digits(record['peak_bytes'] / scale)} {unit} {where}, {same}"


def _memory(found: StepFolder, step: Step) -> Optional[float]:
    """Bytes of the device; None if they are unknown."""
    return _device(found, step).get("memory_bytes")


def _of_the_device(found: StepFolder, step: Step) -> str:
    """The share of the device's memory that the peak takes; empty if that memory is unknown."""
    if not (memory := _memory(found, step)):
        return ""
    scale, unit = unit_of(memory)
    return f"The peak is {percent(step.record['peak_bytes'] / memory)} % of the {digits(memory / scale)} {unit} of the device"


def unit_of(value: float) -> tuple[float, str]:
    return next((one for one in _UNITS if value >= one[0]), _UNITS[-1])


def _kinds(step: Step) -> list[str]:
    return [kind for kind in KINDS if any(moment.live.get(kind) for moment in step.timeline)]


def kinds_of(step: Step) -> list[tuple[str, str]]:
    """Name and colour of each kind of memory that the step has, from the lowest band to the highest."""
    names = KINDS | ({"input": "input and angles"} if step.record["step"] == "decode" else {})
    return [(names[kind], COLOUR_OF_KIND[kind]) for kind in _kinds(step)]


def _has_outline(step: Step) -> bool:
    """True if the record has the predicted bytes of each launch, which older ones lack."""
    return all(moment.predicted is not None for moment in step.timeline)


def outline_name(step: Step) -> str:
    """The words for the prediction that draw_bands draws."""
    return "line: predicted" if _has_outline(step) else "dashed: the predicted peak"


def draw_bands(axes: Axes, step: Step, scale: float, ink: str, width: float) -> None:
    """Draws the live bytes, over `scale`, at each launch as bands, and the predicted ones above them as an outline.

    Older records have the predicted peak only, which is a dashed line.
    """
    edges = [launch - 0.5 for launch in range(len(step.timeline) + 1)]
    below = [0.0] * len(step.timeline)
    for kind in _kinds(step):
        above = [low + moment.live.get(kind, 0) / scale for low, moment in zip(below, step.timeline)]
        axes.stairs(above, edges, baseline=below, fill=True, color=COLOUR_OF_KIND[kind], lw=0)
        below = above
    axes.set_xlim(edges[0], edges[-1])
    if _has_outline(step):
        axes.stairs([(moment.predicted or 0) / scale for moment in step.timeline], edges, baseline=None, color=ink, lw=width)
    else:
        across(axes, step.record["peak_predicted_bytes"] / scale, color=ink, lw=width, ls=(0, (5, 3)))


def _draw_memory(found: StepFolder, step: Step, theme: Theme) -> Figure:
    figure, page, top = _page(found, step, memory_title(step), _of_the_device(found, step), theme)
    top = _legend(page, kinds_of(step), top, theme)
    left, bottom = 0.95, 0.75
    axes = add_axes(figure, left, bottom, WIDTH - left - MARGIN, top - bottom - 0.25)
    scale, unit = unit_of(step.record["peak_bytes"])
    draw_bands(axes, step, scale, theme.ink, 1.2)
    lines = {outline_name(step): step.record["peak_predicted_bytes"] / scale}
    if (memory := _memory(found, step)) and memory <= _NEAR * step.record["peak_bytes"]:
        lines["memory of the device"] = memory / scale
        across(axes, memory / scale, color=theme.ink, lw=1.2, ls=(0, (1, 2)))
    for name, height in lines.items():
        axes.text(0.995, height, name, transform=axes.get_yaxis_transform(), ha="right", va="bottom", size=SMALL, color=theme.ink,
                  bbox=theme.patch)
    axes.set_ylim(0, 1.08 * max(lines.values()))
    axes.set_xlabel("launch of the step, in its order")
    axes.set_ylabel(f"live memory, {unit}")
    for first, last, phase in phases(step):
        if first:
            upwards(axes, first - 0.5, color=theme.muted, lw=0.8)
        if last - first > len(step.timeline) / 20:
            axes.text((first + last - 1) / 2, 1.01, phase, transform=axes.get_xaxis_transform(), ha="center", va="bottom", size=NORMAL)
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def phases(step: Step) -> list[tuple[int, int, str]]:
    """First launch, end and name of each run of launches of one phase."""
    found: list[tuple[int, int, str]] = []
    for index, moment in enumerate(step.timeline):
        if found and found[-1][2] == moment.phase:
            found[-1] = (found[-1][0], index + 1, moment.phase)
        else:
            found.append((index, index + 1, moment.phase))
    return found


@dataclass(frozen=True)
class _Shares:
    """MFU of a step and of its products: shares of the data sheet's peak or, without a sheet, of the measured roof."""

    products: float  # by their executed FLOPs and the time of each by itself
    executed: float  # the step by the FLOPs that it executes: the HFU of a data sheet
    model: float  # the step by the FLOPs of the model: the MFU of a data sheet
    of: str
    names: tuple[str, str]  # what the two of the step are called

    @property
    def lost(self) -> float:
        """The share of the step's time that its products do not take; negative where they are slower by themselves."""
        return 1 - self.executed / self.products


def shares_of(step: Step) -> Optional[_Shares]:
    """The shares of a timed step; None without a data sheet and without a measured roof of its products."""
    record = step.record
    products = [part for part in step.parts if _group(part) == "products"]
    alone, time = sum(part.time_s for part in products), record["time_s"]
    if not alone or not record["flops_executed"]:
        return None
    if record["mfu"] and record["hfu"]:
        rate = record["flops_executed"] / record["hfu"] / time  # the peak, FLOP/s
        own = sum(part.flops for part in products) / alone / rate
        return _Shares(own, record["hfu"], record["mfu"], "the data sheet's peak", ("HFU", "MFU"))
    least = [part.roof_s for part in products]
    if any(value is None for value in least):
        return None
    executed = sum(filter(None, least)) / time
    model = executed * record["flops_model"] / record["flops_executed"]
    return _Shares(sum(filter(None, least)) / alone, executed, model, _MEASURED,
                   ("by the FLOPs it executes", "by the FLOPs of the model"))


def mfu_title(shares: _Shares, step: Step) -> str:
    """'Products reach 75 % of the data sheet's peak, the step 46 %: 38 % of its time is not products'"""
    if _above_roof(step) and shares.of == _MEASURED:
        return f"The step takes {seconds(step.record['time_s'])}; the measured roof is too low for a share"
    if _slower_alone(step):
        return f"The step reaches {percent(shares.executed)} % of {shares.of}"
    reached = f"Products reach {percent(shares.products)} % of {shares.of}, the step {percent(shares.executed)} %"
    if (explained := _explained(step)) < 1:
        return f"{reached}: its parts explain {percent(explained)} % of its time"
    if shares.lost < 0.005:
        return f"{reached}: all that is not a product costs nothing that shows"
    return f"{reached}: {percent(shares.lost)} % of its time is not products"


def _draw_mfu(found: StepFolder, step: Step, shares: _Shares, theme: Theme) -> Figure:
    figure, page, top = _page(found, step, mfu_title(shares, step), doubt(step), theme)
    names = ["its products by themselves", f"the step, {shares.names[0]}", f"the step, {shares.names[1]}"]
    values = [shares.products, shares.executed, shares.model]
    missing = 0.0 if doubt(step) else max(shares.products - shares.executed, 0.0)
    lost = "lost to all that is not a product" if _explained(step) == 1 else "lost to other parts and to what no part explains"
    meanings = [("products", BLUE), ("the step", theme.muted)] + [(lost, VERMILLION)] * bool(missing)
    top = _legend(page, meanings, top, theme)
    left, bottom = 0.5 + max(labels.width(name, NORMAL) for name in names), 0.75
    wide = WIDTH - left - 1.1
    axes = add_axes(figure, left, bottom, wide, top - bottom)
    for place, (value, colour) in enumerate(zip(values, (BLUE, theme.muted, theme.muted))):
        axes.barh(place, 100 * value, color=colour, height=0.6)
    if missing:
        axes.barh(1, 100 * missing, left=100 * shares.executed, height=0.6, facecolor="none", edgecolor=VERMILLION, hatch="//", lw=1.2)
    texts = [f"{percent(value)} %" for value in values]
    texts[1] += f", and {percent(missing)} % lost" * bool(missing)
    ends = (values[0], values[1] + missing, values[2])
    for place, (end, text) in enumerate(zip(ends, texts)):
        axes.annotate(text, (100 * end, place), (8, 0), textcoords="offset points", va="center", size=_LARGE, color=theme.ink,
                      annotation_clip=False)
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(labelsize=NORMAL)
    axes.invert_yaxis()
    room = [WIDTH - left - MARGIN - 0.2 - labels.width(text, _LARGE) for text in texts]  # of each bar, before its text
    axes.set_xlim(0, 100 * max(1.0, *values, *(end * wide / own for end, own in zip(ends, room))))
    axes.set_ylim(axes.get_ylim())
    upwards(axes, 100, color=theme.ink, lw=1.2, ls=(0, (5, 3)))
    axes.set_xlabel(f"% of {shares.of}")
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def figures(found: StepFolder) -> dict[str, Callable]:
    """Functions that draw the figures of the first step of a folder, by file name. One without a time has memory only."""
    step = found.steps[0]
    drawn: dict[str, Callable] = {"step-memory": partial(_draw_memory, found, step)}
    if step.ok:
        drawn["step-waterfall"] = partial(_draw_waterfall, found, step)
    if step.ok and (shares := shares_of(step)):
        drawn["mfu-of-a-step"] = partial(_draw_mfu, found, step, shares)
    return drawn
