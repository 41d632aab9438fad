"""Whether two runs may be compared: keys that must agree, and keys whose differences are only noted."""

from typing import Any, Iterator

# Dotted keys of environment.json, and of its entry of the measured device.
HARD = (
    "method_version", "seed", "fill", "build.compiler", "build.flags", "build.build_type",
    "build.cuda", "libraries", "environment_variables",
)
HARD_OF_DEVICE = (
    "backend", "model", "isa", "threads", "compute_capability", "sms", "mig", "ecc",
    "power_limit_w", "driver", "cuda", "cublas", "clocks", "data_sheet",
)
SOFT = ("version", "profile", "budget_s", "host.kernel", "host.governor")
SOFT_OF_DEVICE = ("uuid_hash", "persistence", "huge_pages")
ALLOWED = (*HARD, *HARD_OF_DEVICE)


def lookup(json: Any, key: str) -> Any:
    """The value at a dotted key; None where a step is missing."""
    for step in key.split("."):
        json = json.get(step) if isinstance(json, dict) else None
    return json


def branch(key: str, value: Any) -> Any:
    """The value, or of a driver only its branch: 580.65.06 and 580.82.07 are both 580."""
    return value.split(".")[0] if key == "driver" and isinstance(value, str) else value


def differing(one: dict, other: dict, keys: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for key in keys:
        a, b = (branch(key, lookup(side, key)) for side in (one, other))
        if a != b:
            yield key, f"{key}: {shown(a, b)} against {shown(b, a)}"


def shown(value: Any, other: Any) -> str:
    """The value as text; of two objects only the keys that differ."""
    if isinstance(value, dict) and isinstance(other, dict):
        parts = [f"{k}={v}" for k, v in value.items() if other.get(k) != v or k not in other]
        return ", ".join(parts) or "nothing"
    return "null" if value is None else str(value)


def device_entries(environment: dict) -> dict[str, dict]:
    return {device["name"]: device for device in environment["devices"]}


def differences(one: dict, other: dict, allowed: list[str]) -> tuple[list[str], list[str]]:
    """The texts of hard and of soft differences; an allowed hard one counts as soft.

    A device that only one side has appears as missing rows.
    """
    hard = list(differing(one, other, HARD))
    soft = list(differing(one, other, SOFT))
    here, there = device_entries(one), device_entries(other)
    for name in here.keys() & there.keys():
        hard += differing(here[name], there[name], HARD_OF_DEVICE)
        soft += differing(here[name], there[name], SOFT_OF_DEVICE)
    soft += [(key, f"{text} (allowed)") for key, text in hard if key in allowed]
    return [text for key, text in hard if key not in allowed], [text for _, text in soft]
