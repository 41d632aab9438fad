"""peak(), bandwidth() and mfu(): numbers of a data sheet with their source and doubt, or the reason why there is no number."""

import math
from dataclasses import dataclass
from typing import Any, Optional

from ridgebench.base.errors import RequestError
from ridgebench.peaks.matching import sheet_of
from ridgebench.peaks.sheets import Device, Rate, format_of

# 2:4 sparsity doubles the tensor peaks of these formats on these architectures: NVIDIA A100 whitepaper v1.0, table 3; H100
# whitepaper v1.04, table 3; Ada whitepaper v2.1, appendix A; HGX B200 data sheet. Vendors print other factors for FP4.
_SPARSE_FORMATS = ("tf32", "fp16", "bf16", "fp8_e4m3", "fp8_e5m2", "int8")
_SPARSE_ARCHITECTURES = ("Ampere", "Ada Lovelace", "Hopper", "Blackwell", "Blackwell Ultra")
_SPARSE_FACTOR = 2


@dataclass(frozen=True)
class Answer:
    """A number, or None and the reason. An answer without a number is false, and float() of it raises RequestError."""

    value: Optional[float]
    reason: str = ""  # why `value` is None
    device: str = ""  # name of the data sheet; empty: none fits
    source: str = ""
    doubt: Optional[str] = None  # why the number may be wrong by some per cent
    references: tuple[str, ...] = ()  # what the labels in `source` represent

    def __bool__(self) -> bool:
        return self.value is not None

    def __float__(self) -> float:
        if self.value is None:
            raise RequestError(self.reason)
        return self.value


@dataclass(frozen=True)
class Peak(Answer):
    """FLOP/s of one device. `sparse` is true for a number with 2:4 sparsity."""

    format: str = ""
    engine: str = ""  # fma or tensor
    accumulator: str = ""  # the format of the sums
    clock_hz: Optional[float] = None  # the clock that the vendor assumes; None: the vendor prints none
    sparse: bool = False


@dataclass(frozen=True)
class Bandwidth(Answer):
    """Bytes/s of the memory of one device."""

    kind: str = ""  # HBM3, GDDR6, ...


@dataclass(frozen=True)
class Mfu(Answer):
    """Model FLOPs utilisation: 0.4 is 40 %. A device that holds a higher clock than its vendor assumes can exceed 1."""

    peak: Optional[Peak] = None


_ABOVE_PEAK = ("more than the dense peak: a clock above the one that the vendor assumes gives some percent; otherwise FLOPs, seconds, "
               "format or the number of GPUs is wrong")


def _positive(name: str, value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or value <= 0:
        raise RequestError(f"{name} is {value!r}; allowed: a number above 0")
    return float(value)


def _too_little_power(device: Device, limit_w: float) -> str:
    """Why the peaks of a sheet do not hold under a power limit; empty if they do."""
    if device.power_w is None:
        return f"the data sheet {device.name} prints no power, with which a limit of {limit_w:g} W could be compared"
    if limit_w < device.power_w:
        return f"{device.name} is limited to {limit_w:g} W; its peaks assume {device.power_w:g} W"
    return ""


def _no_sparse(device: Device, rate: Rate) -> str:
    """Why a peak with 2:4 sparsity is unknown; empty if it is known."""
    if rate.engine != "tensor" or rate.format not in _SPARSE_FORMATS:
        return f"no peak of {rate.format} with 2:4 sparsity is known; allowed: {', '.join(_SPARSE_FORMATS)} on tensor cores"
    if device.architecture not in _SPARSE_ARCHITECTURES:
        return f"no peak of {device.name} with 2:4 sparsity is known; allowed: architectures {', '.join(_SPARSE_ARCHITECTURES)}"
    return ""


def _peak_of(device: Device, rate: Rate, sparse: bool) -> Peak:
    value, source, doubt = rate.flops_per_s, rate.source, rate.doubt
    if sparse:
        value *= _SPARSE_FACTOR
        source = f"{_SPARSE_FACTOR} x the dense peak: {source}"
        doubt = "; ".join(filter(None, ("computed from the dense peak, not read from a page", doubt)))
    return Peak(value, "", device.name, source, doubt, device.cited(rate.source), rate.format, rate.engine, rate.accumulator,
                rate.clock_hz, sparse)


def peak(device: Any, format: object, *, sparse: bool = False, power_limit_w: Optional[float] = None) -> Peak:
    """The peak of a device in a format: dense, with the sums that products of the format have, of the fastest engine.

    `device` is what sheet_of() of matching.py takes, `format` a name or a type of torch. `power_limit_w` is the limit that
    nvidia-smi prints (power.limit); the peaks do not hold below the power of the data sheet. Raises RequestError for arguments
    that can never have an answer. A device without a sheet is no error: the value is None, and `reason` says why.
    """
    name = format_of(format)
    limit_w = None if power_limit_w is None else _positive("power_limit_w", power_limit_w)
    found = sheet_of(device)
    if isinstance(found, str):
        return Peak(None, found, format=name, sparse=sparse)
    rate = found.best(name)
    if rate is None:
        why = f"{found.name} has no peak of {name}; allowed: {', '.join(found.formats)}"
    else:
        why = (_too_little_power(found, limit_w) if limit_w else "") or (_no_sparse(found, rate) if sparse else "")
    if rate is None or why:
        return Peak(None, why, found.name, format=name, sparse=sparse)
    return _peak_of(found, rate, sparse)


def bandwidth(device: Any) -> Bandwidth:
    """The bandwidth of a device's memory in bytes/s. `device` and errors are as in peak()."""
    found = sheet_of(device)
    if isinstance(found, str):
        return Bandwidth(None, found)
    memory = found.memory
    return Bandwidth(memory.bytes_per_s, "", found.name, memory.source, memory.doubt, found.cited(memory.source), memory.kind)


def mfu(flops: float, seconds: float, device: Any, format: object = "bf16", gpus: int = 1, *,
        power_limit_w: Optional[float] = None) -> Mfu:
    """The share of the dense peak of `gpus` devices that `flops` in `seconds` are (mfu() of roofline/utilisation.hpp).

    `flops` are the model's FLOPs of all devices in this time, without those of recomputation. The other arguments and errors are
    as in peak().
    """
    flops, seconds = _positive("flops", flops), _positive("seconds", seconds)
    if isinstance(gpus, bool) or not isinstance(gpus, int) or gpus < 1:
        raise RequestError(f"gpus is {gpus!r}; allowed: a whole number above 0")
    limit = peak(device, format, power_limit_w=power_limit_w)
    if limit.value is None:
        return Mfu(None, limit.reason, limit.device, peak=limit)
    share = flops / seconds / (gpus * limit.value)
    doubt = "; ".join(filter(None, (_ABOVE_PEAK if share > 1 else None, limit.doubt))) or None
    return Mfu(share, "", limit.device, limit.source, doubt, limit.references, limit)
