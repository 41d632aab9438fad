"""Names of roofs in a report, which Python places once for every window."""

import re
from itertools import combinations
from pathlib import Path

import pytest
from golden import ROOT

from ridgebench.figures.html import frame, labels, lines
from ridgebench.figures.html.sources import gather

H100, H200 = (next((ROOT / "results").glob(f"{device}/2*")) for device in ("nvidia-h100-80gb-hbm3", "nvidia-h200"))


@pytest.mark.parametrize(("places", "expected"), [
    ([0.0, 40.0, 80.0], [0, 0, 0]),
    ([0.0, 10.0, 20.0], [0, 1, 2]),
    ([0.0, 10.0, 30.0, 31.0], [0, 1, 0, 2]),  # 3 letters take 23 px
    ([], []),
])
def test_a_value_is_in_the_lowest_line_that_is_free(places, expected):
    assert labels.levels(places, ["295"] * len(places)) == expected


def all_labels(*folders: Path):
    content = gather(list(folders), ["b200"], [])
    place, drawn = frame.make_frame(content), lines.all_lines(content)
    return place, drawn, labels.all_labels(content, drawn, place)


def test_every_source_has_the_names_of_its_roofs():
    place, drawn, found = all_labels(H100, H200)
    assert len(found) == len(drawn) == 5
    for some, named in zip(drawn, found):
        flats = [index for index, line in enumerate(some) if line.kind == "flat"]
        assert sorted(label.line for label in named if label.kind == "name") == flats
        assert sorted(label.line for label in named if label.kind == "value") == flats
        assert sum(label.kind == "brief" for label in named) == 1
    assert sum(label.kind == "own" for label in found[0]) == 3, "main memory and two caches of the measured device"


def test_names_lie_on_their_lines_and_in_the_plot():
    place, drawn, found = all_labels(H100, H200)
    for some, named in zip(drawn, found):
        for label in named:
            x, y = label.at
            assert frame.LEFT <= x <= place.right + 1e-6 and frame.TOP - 40 <= y <= place.floor
            if label.kind in ("own", "brief"):
                start = place.spot(0.0, some[label.line].place.at(0.0))
                assert abs((x - start[0]) + (y - start[1])) < 1e-6, "a slope rises at 45 degrees"


def test_names_along_near_slopes_are_apart():
    """The lines of the last cache and of main memory of a host are closer than the height of a text."""
    host = next((ROOT / "results").glob("intel*/2*"))
    _, _, found = all_labels(host)
    own = [label for label in found[0] if label.kind == "own"]
    reach = {label.line: len(label.more["text"]) * labels.LETTER / 2 / 2**0.5 for label in own}
    near = [(one, other) for one, other in combinations(own, 2) if abs(sum(one.at) - sum(other.at)) < 2 * labels.STEP]
    assert near and all(abs(one.at[0] - other.at[0]) > reach[one.line] + reach[other.line] for one, other in near)


def test_names_of_flat_roofs_are_apart():
    _, _, found = all_labels(H100)
    names = [label for label in found[0] if label.kind == "name"]
    centres = sorted(label.at[1] + label.more["shift"] for label in names)
    tallest = max(len(re.findall("<tspan", label.svg)) for label in names) * labels.STEP
    assert len(centres) > 3 and all(other - one >= tallest for one, other in zip(centres, centres[1:]))


@pytest.mark.parametrize(("host", "ridges"), [("amd", {"fp32 FMA": "8.13 (triad)"}),
                                              ("intel", {"fp32 FMA": "10.3 (triad)", "bf16 tensor": "139 (triad)"})])
def test_a_flat_roof_has_the_ridge_of_its_own_format(host, ridges):
    """Units that serve fp8 rows too bend by fp8's mix of traffic there, as the figures of each format say."""
    content = gather([next((ROOT / "results").glob(f"{host}*/2*"))], [], [])
    flats = [line for line in lines.all_lines(content)[0] if line.kind == "flat"]
    found = {line.label[0]: line.ridge_text for line in flats}
    assert ridges.items() <= found.items()
