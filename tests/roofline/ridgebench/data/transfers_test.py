"""Copies over links beside the time to create the bytes: `plan transfer` and the report say the same."""

from dataclasses import replace

import pytest
from command_line import ROOT, answer
from golden import GOLDEN
from ridgebench.data import transfers
from ridgebench.data.records import load_run
from ridgebench.data.view import make_view
from ridgebench.figures.html.links import copies
from ridgebench.pages.result_tables import transfers_table

H200 = ROOT / "results/nvidia-h200/partial/2026-11-27-6abf65e-characterise"


@pytest.fixture(scope="module", name="view")
def view_fixture():
    return make_view(load_run(H200), None)


def test_each_direction_has_its_largest_copy(view):
    found = [(row.op, row.bytes) for row, _ in transfers.transfers(view)]
    assert found == [("copy_to_device", 2.0**28), ("copy_to_host", 2.0**28)], "copies both ways at once are left out"


@pytest.mark.parametrize(("place", "direction"), [(0, "to-device"), (1, "to-host")])
def test_plan_transfer_says_the_same(view, place, direction):
    row, creation = transfers.transfers(view)[place]
    reply = answer("plan", "transfer", "--bytes", f"{row.bytes:.0f}", "--link", H200, "--direction", direction)
    assert row.time_median_s == pytest.approx(reply["time_s"])
    assert creation == (pytest.approx(reply["creation_time_s"]) if direction == "to-device" else reply.get("creation_time_s"))


def test_the_page_and_the_report_have_the_lines(view):
    page, report = transfers_table(view, "run"), copies(view)
    for line in transfers.cells(view):
        assert all(cell in page and cell in report for cell in line)
    assert "unfinished" in page and "by the rate of dram_copy, the measured ceiling" in page.replace("\n", " ") and transfers.note(view) in report


def test_a_run_without_copies_has_no_lines(view):
    host = make_view(load_run(GOLDEN), None)
    assert transfers.transfers(host) == [] and copies(host) == ""
    assert transfers_table(host, "run").startswith("No copy over a link was measured in ")
    failed = replace(view, rows=[replace(row, status="failed") if row.saturates == "link" else row for row in view.rows])
    assert transfers.transfers(failed) == [], "a copy that failed has no rate"


def test_without_a_ceiling_of_the_memory_the_creation_is_unknown(view):
    links = replace(view, rows=[row for row in view.rows if row.saturates == "link"])
    assert [creation for _, creation in transfers.transfers(links)] == [None, None]
    assert all(line[-2:] == ("", "") for line in transfers.cells(links)) and transfers.note(links) == ""
