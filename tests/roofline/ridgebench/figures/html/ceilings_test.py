"""What the report prints of a ceiling that is not a roof."""

from dataclasses import replace

from golden import GOLDEN

from ridgebench.data.records import load_run
from ridgebench.figures.html.sections import ceiling_rate


def test_a_ceiling_of_latency_shows_the_time_of_an_access():
    ceiling = next(row for row in load_run(GOLDEN).by_id.values() if row.role == "ceiling" and row.status == "ok")
    shape = {"lines": 8, "accesses": 1000}
    chase = replace(ceiling, saturates="latency", shape=shape, time_median_s=150e-6, cycles_median=None)
    assert ceiling_rate(chase) == "150 ns per access"
    assert ceiling_rate(replace(chase, cycles_median=270e3)) == "150 ns, 270 cycles per access"


def test_a_link_shows_bytes():
    ceiling = next(row for row in load_run(GOLDEN).by_id.values() if row.role == "ceiling" and row.status == "ok")
    assert ceiling_rate(replace(ceiling, saturates="link", bytes_per_s=25e9)) == "25 GB/s"
