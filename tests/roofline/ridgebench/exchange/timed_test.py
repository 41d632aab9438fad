"""timed(): what is only timed leaves an unverified row, which is drawn and judges nothing."""

import functools
import json

import numpy as np
import pytest
import ridgebench
from ridgebench.base.errors import RequestError
from ridgebench.base.files import ResultsError
from ridgebench.data.records import load_run
from ridgebench.figures import plot

CALLS = []


@ridgebench.timed(flops=64, bytes=256.0, shape={"n": 64})
def doubled():
    CALLS.append(None)
    return np.ones(64, np.float32) * 2


@ridgebench.timed(name="waiting", wait=lambda: CALLS.append("wait"), format="bf16")
def started():
    pass


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("timed") / "results"
    assert [row.status for row in ridgebench.time_functions(doubled, out=out, seconds=0.05)] == ["unverified"]
    return out


def test_the_row_says_that_nothing_checked_it(folder):
    (row,) = (json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines())
    assert row["id"] == "timed/doubled/fp32/n:64/warm@cpu"
    assert (row["status"], row["origin"], row["verify"]) == ("unverified", "external", None)
    assert row["reason"] == "measured by ridgebench.timed; nothing checked its output"
    assert (row["flops"], row["bytes"], row["fraction_of_measured_roof"]) == (64, 256, None)
    assert row["time_median_s"] > 0 and row["flops_per_s"] == 64 / row["time_median_s"]
    assert len(CALLS) > len(row["samples_s"])
    facts = json.loads((folder / "environment.json").read_text())
    assert facts["imported"]["file"] == "timed_test.py"


@pytest.mark.parametrize(("function", "file"), [(eval(compile("lambda: None", "<stdin>", "eval")), "<stdin>"), (dict, "builtins"),
                                                (functools.partial(int, 7), "functools")])
def test_a_function_without_a_file_has_no_digest(tmp_path, function, file):
    one = ridgebench.timed(name="one", flops=1, bytes=1)(function)
    ridgebench.time_functions(one, out=tmp_path / "out", seconds=0.01)
    load_run(tmp_path / "out")  # obeys the schemas
    assert json.loads((tmp_path / "out" / "environment.json").read_text())["imported"] == {"tool": "ridgebench.timed", "file": file, "sha256": None}
    assert plot.main([str(tmp_path / "out"), "--roof", "h100-sxm", "--formats", "svg"]) == 0
    assert "SHA-256" not in (tmp_path / "out" / "figures" / "roofline.svg").read_text("utf-8")


def test_it_is_drawn_as_a_point_of_another_tool(folder):
    assert plot.main([str(folder), "--roof", "h100-sxm", "--formats", "svg"]) == 0
    text = (folder / "figures" / "roofline.svg").read_text("utf-8")
    assert "doubled" in text and "not verified" in text


def test_a_function_that_starts_work_elsewhere_is_waited_for(tmp_path):
    CALLS.clear()
    (row,) = ridgebench.time_functions([started], out=tmp_path / "out", seconds=0.01)
    assert row.id == "timed/waiting/bf16/warm@cuda:0" and CALLS.count("wait") > 1
    assert doubled().sum() == 128, "it is still the function"


@pytest.mark.parametrize("wrong, message", [
    (lambda out: ridgebench.timed()(3), "timed() of 3; allowed: a function without arguments"),
    (lambda out: ridgebench.timed(flops=-1)(print), "flops of print are -1; allowed: a number of at least 0, or None"),
    (lambda out: ridgebench.timed(format="fp5")(print), "format 'fp5' of print; allowed: "),
    (lambda out: ridgebench.time_functions(print, out=out), "is not timed; allowed: functions that ridgebench.timed() wrapped"),
    (lambda out: ridgebench.time_functions([], out=out), "0 functions for 1 seconds; allowed: one or more"),
    (lambda out: ridgebench.time_functions(doubled, out=out, seconds=0), "1 functions for 0 seconds"),
    (lambda out: ridgebench.time_functions([doubled, started], out=out, seconds=0.01), "some functions have wait and others do not"),
    (lambda out: ridgebench.time_functions([doubled, doubled], out=out, seconds=0.01), "comes 2 times"),
])
def test_what_cannot_be_timed_is_refused(wrong, message, tmp_path):
    with pytest.raises(RequestError) as refused:
        wrong(tmp_path / "out")
    assert message in str(refused.value)
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_not_empty_is_refused(folder):
    with pytest.raises(ResultsError, match="is not empty; allowed: a new or an empty folder"):
        ridgebench.time_functions(doubled, out=folder, seconds=0.01)
