"""Decides if two runs may be compared: keys that must agree, and keys whose differences are only noted."""

import json
from pathlib import Path
from typing import Any, Iterator

from ridgebench.base.text import Cut, apart, cut, short

# comparable.json serves `run --ceilings`, too. `differ` has what must agree: dotted keys of environment.json, keys of its
# entry of the measured device, and environment variables, by the beginning of the name, with what each changes. Other
# variables only say where something is, or which device is used, and the device's own keys show that:
# CUDA_VISIBLE_DEVICES, CUDA_PATH, what a container's image requires (NVIDIA_REQUIRE_CUDA). `machine` has the keys that
# name the GPU or the host itself. The report notes each of the other variables, and each key of `noted`, that differs.
_KEYS = json.loads((Path(__file__).parent / "comparable.json").read_text(encoding="utf-8"))
HARD, HARD_OF_DEVICE = (tuple(_KEYS["differ"][part]) for part in ("environment", "device"))
_SOFT, _SOFT_OF_DEVICE = (tuple(_KEYS["noted"][part]) for part in ("environment", "device"))
CHANGE_RESULTS = _KEYS["differ"]["variables"]
VARIABLES = "environment_variables"
_HOST, _GPU = (_KEYS["machine"][part] for part in ("host", "gpu"))  # of a device without a UUID its host is the machine
ALLOWED = (*HARD, VARIABLES, *HARD_OF_DEVICE, _HOST, _GPU)

LONGEST_VALUE = 60  # characters of a value in a message
_Difference = tuple[str, str]  # the key, and a text that names it with both values


def lookup(json: Any, key: str) -> Any:
    """The value at a dotted key; None if a step is missing."""
    for step in key.split("."):
        json = json.get(step) if isinstance(json, dict) else None
    return json


def branch(key: str, value: Any) -> Any:
    """The value, or of a driver only its branch: 580.65.06 and 580.82.07 are both 580."""
    return value.split(".")[0] if key == "driver" and isinstance(value, str) else value


def differing(one: dict, other: dict, keys: tuple[str, ...]) -> Iterator[_Difference]:
    for key in keys:
        a, b = (branch(key, lookup(side, key)) for side in (one, other))
        if a != b:
            yield key, against(key, a, b)


def _differing_variables(one: dict, other: dict) -> tuple[list[_Difference], list[_Difference]]:
    """The variables that change results and those that do not; the key is VARIABLES."""
    here, there = (lookup(side, VARIABLES) or {} for side in (one, other))
    hard, soft = [], []
    for name in sorted(here.keys() | there.keys()):
        if here.get(name) == there.get(name):
            continue
        both = ["unset" if name not in side else f"'{side[name]}'" for side in (here, there)]
        changes = next((what for prefix, what in CHANGE_RESULTS.items() if name.startswith(prefix)), None)
        text, end = f"{VARIABLES}: {cut(name, LONGEST_VALUE)} is ", f", which changes {changes}" if changes else ""
        whole, brief = (" against ".join(each) for each in (both, apart(*both, LONGEST_VALUE)))
        (hard if changes else soft).append((VARIABLES, Cut(text + whole + end, text + brief + end)))
    return hard, soft


def against(key: str, one: Any, other: Any) -> Cut:
    """'driver: 570 against 580', whose short form shows where long values differ."""
    both = (_whole_value(one, other), _whole_value(other, one))
    return Cut(f"{key}: {' against '.join(both)}", f"{key}: {' against '.join(apart(*both, LONGEST_VALUE))}")


def _whole_value(value: Any, other: Any) -> str:
    """The value as text; of two objects only the keys that differ."""
    if isinstance(value, dict) and isinstance(other, dict):
        return ", ".join(f"{k}={v}" for k, v in value.items() if other.get(k) != v or k not in other) or "nothing"
    return "null" if value is None else str(value)


def device_entries(environment: dict) -> dict[str, dict]:
    return {device["name"]: device for device in environment["devices"]}


def differences(one: dict, other: dict, allowed: list[str], one_machine: bool = False) -> tuple[list[str], list[str]]:
    """Splits the differences of two environments with split(). one_machine: both have to be of the same GPUs, or of the same host.

    A device that only one side has appears as missing rows.
    """
    hard, soft = _differing_variables(one, other)
    hard = [*differing(one, other, HARD), *hard]
    soft = [*differing(one, other, _SOFT), *soft]
    here, there = device_entries(one), device_entries(other)
    for name in here.keys() & there.keys():
        hard += differing(here[name], there[name], HARD_OF_DEVICE)
        soft += differing(here[name], there[name], _SOFT_OF_DEVICE)
    if one_machine:
        machines = list(dict.fromkeys(_other_machines(one, other)))
        hard, soft = [*machines, *hard], [noted for noted in soft if noted not in machines]
    return split(hard, soft, allowed)


def _other_machines(one: dict, other: dict) -> Iterator[_Difference]:
    """The differences that make two machines of the devices that both environments have; of an unknown machine there is none."""
    here, there = device_entries(one), device_entries(other)
    for name in here.keys() & there.keys():
        of_gpu = here[name].get(_GPU) and there[name].get(_GPU)
        sides, key = ((here[name], there[name]), _GPU) if of_gpu else ((one, other), _HOST)
        if of_gpu or (here[name]["backend"] == "cpu" and lookup(one, _HOST) and lookup(other, _HOST)):
            yield from differing(*sides, (key,))


def split(hard: list[_Difference], soft: list[_Difference], allowed: list[str]) -> tuple[list[str], list[str]]:
    """The texts of hard and of soft differences; an allowed hard one counts as soft."""
    soft = [*soft, *((key, Cut(f"{text} (allowed)", f"{short(text)} (allowed)")) for key, text in hard if key in allowed)]
    return [text for key, text in hard if key not in allowed], [text for _, text in soft]
