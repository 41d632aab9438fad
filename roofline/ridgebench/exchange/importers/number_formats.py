"""Names of number formats, as ridgebench and as other tools write them."""

import re
from functools import cache
from typing import Optional

from ridgebench.data.records import schema_of

_ALIASES = {"f32": "fp32", "float": "fp32", "f16": "fp16", "half": "fp16", "f64": "fp64", "double": "fp64", "s8": "int8",
            "i8": "int8", "fp8": "fp8_e4m3", "e4m3": "fp8_e4m3", "fe4m3": "fp8_e4m3", "e5m2": "fp8_e5m2", "fe5m2": "fp8_e5m2"}
_SUMS = {"fp64": "fp64", "int8": "int32"}


@cache
def _names() -> list[str]:
    """The formats that ridgebench has, from the schema of a record; int32 is one of sums only."""
    return [name for name in schema_of("record")["properties"]["accumulator"]["enum"] if name != "int32"]


def of_kernels(name: str) -> bool:
    """True if kernels of the suite have the format: only ceilings and own operations compute in fp64 and int8."""
    return name not in _SUMS


def sums(name: str) -> str:
    """The format of the running sums, as far as the format of the inputs says it."""
    return _SUMS.get(name, "fp32")


def find(text: str) -> Optional[str]:
    """The name that ridgebench has for a format or a mixed pair; None for one that it does not have."""
    parts = [_ALIASES.get(part, part) for part in re.split(r"x(?=[a-z])", text.lower())]
    known = all(part in _names() for part in parts) and len(parts) <= 2
    return "x".join(dict.fromkeys(parts)) if known else None


def allowed() -> str:
    return ", ".join(_names())
