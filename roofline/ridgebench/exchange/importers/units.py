"""Units of time, traffic and rates. A unit that is not in these tables is an error that names it."""

import re

from ridgebench.base.text import quoted

from .point import bad

TIMES = {}
for _prefix, _scale in (("", 1.0), ("m", 1e-3), ("u", 1e-6), ("µ", 1e-6), ("n", 1e-9), ("p", 1e-12)):
    TIMES |= {_prefix + name: _scale for name in ("s", "sec", "second", "seconds")}
TIMES |= {"milliseconds": 1e-3, "microseconds": 1e-6, "nanoseconds": 1e-9}

# Nsight Compute and CUTLASS's profiler count in powers of ten, unless a unit says GiB. The keys have small letters. Only B, for bytes,
# is a capital.
BYTES = {"byte": 1.0, "bytes": 1.0, "B": 1.0, "bit": 1 / 8, "bits": 1 / 8}
FLOPS = {"flop": 1.0, "flops": 1.0, "inst": 1.0}
for _power, _letter in enumerate("kmgtpez", 1):
    for _prefix, _scale in ((_letter, 1e3**_power), (f"{_letter}i", 2.0 ** (10 * _power))):
        BYTES |= {f"{_prefix}{name}": _scale for name in ("byte", "bytes", "B")}
        BYTES |= {f"{_prefix}{name}": _scale / 8 for name in ("bit", "bits")}
    FLOPS |= {f"{_letter}flop": 1e3**_power}
_SYMBOL = re.compile(r"([kmgtpez]?)(i?)(b)(ps|/[a-z]+)?", re.IGNORECASE)  # GB, Gb, gb/s, Mbps

# Rates, with the kind of work that they count: GB/s, TFLOPS, TFLOP/s.
RATES = {}
for _unit, _scale in BYTES.items():
    RATES |= {f"{_unit}/{end}": ("bytes", _scale) for end in ("s", "sec", "second")}
    RATES |= {f"{_unit}ps": ("bytes", _scale)} if _unit.endswith(("B", "bit")) else {}
for _unit, _scale in FLOPS.items():
    if _unit.endswith("flop"):
        RATES |= {name: ("flops", _scale) for name in (f"{_unit}/s", f"{_unit}s/s", f"{_unit}s", f"{_unit}/sec")}


def _key(unit: str) -> str:
    """A unit as the tables have it. GB are bytes, Gb are bits; gb may be both, and no table has it."""
    match = _SYMBOL.fullmatch(unit)
    if match is None:
        return unit.lower()
    prefix, binary, letter, end = match.groups("")
    name = "B" if letter == "B" else "bit" if prefix.isupper() else "b"
    return f"{prefix}{binary}".lower() + name + end.lower()


def find(table: dict, unit: str):
    """The entry of a unit in one of the tables; None without one, and for one that may mean bits or bytes."""
    key = unit.strip()
    return table.get(key, table.get(_key(key)))


def as_bytes(unit: str) -> str:
    """GB/s for gb/s, whose letters may mean bits or bytes; each other unit as it is."""
    match = _SYMBOL.fullmatch(unit.strip())
    if match is None or match[3] == "B" or match[1].isupper():
        return unit
    prefix, binary, _, end = match.groups("")
    return f"{prefix.upper()}{binary}B{end}"


def scale(table: dict, unit: str, origin: str, what: str):
    """The entry of a unit in one of the tables. Raises ResultsError."""
    found = find(table, unit)
    if found is None and find(table, clear := as_bytes(unit)) is not None:
        raise bad(origin, f"unit {quoted(unit)} may mean bits or bytes, of {what}; allowed: {clear}, {clear.replace('B', 'bit')}")
    if found is None:
        raise bad(origin, f"unknown unit {quoted(unit)} of {what}; allowed: {', '.join(list(table)[:12])}, ...")
    return found


def si(value: float, factor: float) -> float:
    """The value in SI base units. Division by 1e6 rounds once, where a product with 1e-6 rounds twice."""
    return value * factor if factor >= 1 else value / round(1 / factor)
