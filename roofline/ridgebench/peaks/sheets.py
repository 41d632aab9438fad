"""The data sheets of roofline/devices as frozen values, and the peak of a sheet that counts for a format.

tests/roofline/ridgebench/peaks compares all of them with the program, which checks the sheets when it is built and tested.
"""

import json
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Optional

from ridgebench.base.errors import RequestError
from ridgebench.base.installation import SHEETS

# Every format of a sheet -> the format of its sums (sum_format() of kernels/common/format.hpp).
_SUMS = {"fp32": "fp32", "tf32": "fp32", "tf32x3": "fp32", "fp16": "fp32", "bf16": "fp32", "fp8_e4m3": "fp32", "fp8_e5m2": "fp32",
         "fp4_e2m1": "fp32", "fp64": "fp64", "int8": "int32"}
# Other names of formats: the program's alias, names of torch's and JAX's types, names of block-scaled FP4.
_ALIASES = {"fp8": "fp8_e4m3", "float8_e4m3fn": "fp8_e4m3", "float8_e5m2": "fp8_e5m2", "bfloat16": "bf16", "float16": "fp16",
            "half": "fp16", "float32": "fp32", "float": "fp32", "float64": "fp64", "double": "fp64", "fp4": "fp4_e2m1",
            "nvfp4": "fp4_e2m1", "mxfp4": "fp4_e2m1"}
_TF32_PRODUCTS = 3  # tf32 products of one product in tf32x3 (products_of() of kernels/common/format.hpp)


@dataclass(frozen=True)
class Rate:
    """A dense peak of a sheet. The peak at another clock is flops_per_clock_per_sm x SMs x clock."""

    format: str
    engine: str  # fma or tensor
    accumulator: str  # the format of the sums
    flops_per_s: float
    clock_hz: Optional[float]  # the clock that the peak assumes; None: the vendor prints none
    flops_per_clock_per_sm: Optional[float]
    source: str  # labels of Device.sources
    doubt: Optional[str]


@dataclass(frozen=True)
class Memory:
    """The memory of a device: bytes of its name, bytes that a program sees (None: unknown), and bytes/s."""

    kind: str
    bytes: float
    usable_bytes: Optional[float]
    bytes_per_s: float
    source: str
    doubt: Optional[str]


@dataclass(frozen=True)
class Device:
    """A data sheet. `printed` holds the whole names that software prints, `pci_ids` texts such as "10de:2330"."""

    name: str
    aliases: tuple[str, ...]
    title: str
    vendor: str
    architecture: str
    compute_capability: Optional[str]  # of NVIDIA's devices
    printed: tuple[str, ...]
    pci_ids: tuple[str, ...]
    sms: int  # streaming multiprocessors; AMD's compute units; TensorCores of a TPU
    power_w: Optional[float]
    rates: tuple[Rate, ...]
    memory: Memory
    sources: tuple[str, ...]
    doubts: tuple[str, ...]

    @property
    def formats(self) -> tuple[str, ...]:
        """The formats with a peak, in the order of the sheet."""
        return tuple(dict.fromkeys(rate.format for rate in self.rates if rate.accumulator == _SUMS[rate.format]))

    def best(self, number_format: str) -> Optional[Rate]:
        """The highest peak of a format with the sums that its products have (best_peak() of roofline/device_spec.hpp)."""
        known = [rate for rate in self.rates if rate.format == number_format and rate.accumulator == _SUMS[number_format]]
        return max(known, key=lambda rate: rate.flops_per_s) if known else None

    def cited(self, source: str) -> tuple[str, ...]:
        """The sources of the sheet that a fact names by their labels."""
        return tuple(one for one in self.sources if one.partition(":")[0] in source)


def format_of(given: object) -> str:
    """The name of a format: of this package, of a type of torch or JAX, in any case. Raises RequestError."""
    name = getattr(given, "__name__", None) or str(given)
    name = name.rpartition(".")[2].lower()
    name = _ALIASES.get(name, name)
    if name not in _SUMS:
        raise RequestError(f"unknown format {str(given)!r}; allowed: {', '.join(_SUMS)}")
    return name


def _rates(told: list[dict[str, Any]]) -> tuple[Rate, ...]:
    rates = [Rate(**one) for one in told]
    factors = next((rate for rate in rates if rate.format == "tf32"), None)
    if factors is not None and all(rate.format != "tf32x3" for rate in rates):  # add_tf32x3() of roofline/parse_data_sheet.cpp
        per_clock = factors.flops_per_clock_per_sm
        rates.append(replace(factors, format="tf32x3", flops_per_s=factors.flops_per_s / _TF32_PRODUCTS,
                             flops_per_clock_per_sm=per_clock and per_clock / _TF32_PRODUCTS,
                             source=f"1/{_TF32_PRODUCTS} of tf32: {factors.source}"))
    return tuple(rates)


def _device(told: dict[str, Any]) -> Device:
    memory = told["memory"]
    return Device(told["name"], tuple(told["aliases"]), told["title"], told["vendor"], told["architecture"], told["compute_capability"],
                  tuple(told["match"]["names"]), tuple(told["match"]["pci_ids"]), told["sms"], told["tdp_w"], _rates(told["peaks"]),
                  Memory(memory["kind"], memory["bytes"], memory.get("usable_bytes"), memory["bandwidth_bytes_per_s"],
                         memory["source"], memory["doubt"]),
                  tuple(told["sources"]), tuple(told["doubts"]))


@cache
def devices() -> tuple[Device, ...]:
    """All data sheets of the package, sorted by name."""
    return tuple(_device(json.loads(path.read_text(encoding="utf-8"))) for path in sorted(SHEETS.glob("*.json")))
