"""Clock, power, temperature and settling of the ceilings, and of the idle device."""

import re
from dataclasses import replace
from typing import Any, Optional

import pytest
from golden import GOLDEN

from ridgebench.data.records import load_run
from ridgebench.data.view import View, make_view
from ridgebench.figures.html.power import clock_and_power, settling

IDLE = {"sm_clock_hz": 345e6, "power_w": 75.2, "temperature_c": 31.0}


def view(telemetry: dict[str, Any], before: Optional[dict] = None) -> View:
    known = make_view(load_run(GOLDEN), None)
    ceiling = next(row for row in known.rows if row.role == "ceiling" and row.status == "ok")
    row = replace(ceiling, op="wgmma_peak", technique="wgmma", saturates="tensor", format="bf16", shape={"tiles": 8},
                  clock_hz=1.5e9, nvml_clock_excess_hz=1.67e8, flops_per_s=7e14, telemetry={"window": {"power_w": 700.0}} | telemetry)
    environment = known.environment | {"state": {"before": {known.device["name"]: before}, "after": None}}
    return replace(known, rows=[row], environment=environment)


def lines(html: str) -> list[list[str]]:
    return [re.findall(r"<td>(.*?)</td>", line) for line in re.findall(r"<tr>(.*?)</tr>", html)][1:]


def test_the_table_begins_with_the_idle_device():
    idle, busy = lines(clock_and_power(view({"temperature_c": {"median": 63.0}}, IDLE)))
    assert idle == ["idle, before the run", "", "", "", "0.345 GHz", "", "75.2 W", "31 °C", "", ""]
    assert busy == ["wgmma_peak wgmma", "tensor", "bf16", "tiles:8", "1.500 GHz", "+167 MHz", "700 W", "63 °C", "1 pJ/FLOP", ""]


@pytest.mark.parametrize("before", [None, {}, {"sm_clock_hz": None, "power_w": None, "temperature_c": None}])
def test_what_was_not_read_is_left_out(before):
    [busy] = lines(clock_and_power(view({"temperature_c": None}, before)))
    assert busy[7] == ""


@pytest.mark.parametrize("load, text", [
    (None, ""),
    ({"settle_s": None}, ""),
    ({"settle_s": 3.25, "time_s": [0.0, 12.0]}, "3.25 s"),
    ({"settle_s": 0.0, "time_s": [0.0, 12.0]}, "0 s"),
    ({"settle_s": None, "time_s": [0.0, 12.0]}, "not in 12 s"),
])
def test_a_ceiling_says_when_it_settled(load, text):
    (row,) = view({"load": load}).rows
    assert settling(row) == text
