"""Units of time, traffic and rates. A unit that is not in these tables is an error that names it."""

from ridgebench.base.text import quoted

from .point import bad

TIMES = {}
for _prefix, _scale in (("", 1.0), ("m", 1e-3), ("u", 1e-6), ("µ", 1e-6), ("n", 1e-9), ("p", 1e-12)):
    TIMES |= {_prefix + name: _scale for name in ("s", "sec", "second", "seconds")}
TIMES |= {"milliseconds": 1e-3, "microseconds": 1e-6, "nanoseconds": 1e-9}

# Nsight Compute and CUTLASS's profiler count in powers of ten, unless a unit says GiB.
BYTES = {"byte": 1.0, "bytes": 1.0, "b": 1.0}
FLOPS = {"flop": 1.0, "flops": 1.0, "inst": 1.0}
for _power, _letter in enumerate("kmgtpez", 1):
    BYTES |= {f"{_letter}{name}": 1e3**_power for name in ("byte", "bytes", "b")}
    BYTES |= {f"{_letter}i{name}": 2.0 ** (10 * _power) for name in ("byte", "bytes", "b")}
    FLOPS |= {f"{_letter}flop": 1e3**_power}
# Gb is a gigabit: small letters mean bytes only if the whole unit is in them.
for _power, _letter in enumerate("kmgtpez", 1):
    BYTES |= {f"{_letter.upper()}b": 1e3**_power / 8, f"{_letter.upper()}ib": 2.0 ** (10 * _power) / 8}
    BYTES |= {f"{_letter}{name}": 1e3**_power / 8 for name in ("bit", "bits")}

# Rates, with the kind of work that they count: GB/s, TFLOPS, TFLOP/s.
RATES = {}
for _unit, _scale in BYTES.items():
    RATES |= {f"{_unit}/{end}": ("bytes", _scale) for end in ("s", "sec", "second")}
    RATES |= {f"{_unit}ps": ("bytes", _scale)} if len(_unit) < 4 else {}
for _unit, _scale in FLOPS.items():
    if _unit.endswith("flop"):
        RATES |= {name: ("flops", _scale) for name in (f"{_unit}/s", f"{_unit}s/s", f"{_unit}s", f"{_unit}/sec")}


def find(table: dict, unit: str):
    """The entry of a unit in one of the tables. A unit that the table lacks is sought in small letters; None without an entry."""
    key = unit.strip()
    return table.get(key, table.get(key.lower()))


def scale(table: dict, unit: str, origin: str, what: str):
    """The entry of a unit in one of the tables. Raises ResultsError."""
    found = find(table, unit)
    if found is None:
        raise bad(origin, f"unknown unit {quoted(unit)} of {what}; allowed: {', '.join(list(table)[:12])}, ...")
    return found


def si(value: float, factor: float) -> float:
    """The value in SI base units. Division by 1e6 rounds once, where a product with 1e-6 rounds twice."""
    return value * factor if factor >= 1 else value / round(1 / factor)
