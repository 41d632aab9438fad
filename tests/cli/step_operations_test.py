"""The operations of a step: which commands measure them, and rows without FLOPs in tables, figures and reports."""

import os
import subprocess
import sys

import pytest
from command_line import OK, ROOT, records, refused, ridgebench, strict_json

OPTIMIZERS = {f"{rule}{form}" for rule in ("sgd", "momentum", "lion", "adamw") for form in ("", "_master", "_narrow_gradients")}
ELEMENTWISE = {"add", "swiglu", "relu_backward", "gelu_backward", "zero", "transpose_copy"}
WITHOUT_FLOPS = {"zero", "transpose_copy"}


def planned(*arguments) -> set[str]:
    """The operations of the rows that a run would measure."""
    done = ridgebench("run", "--device", "sim", "--dry-run", "--json", *arguments)
    assert done.returncode == OK, done.stderr
    return {case["id"].split("/")[0] for case in strict_json(done.stdout)["cases"]}


def test_list_shows_them():
    cases = strict_json(ridgebench("list", "--device", "sim", "--json").stdout)["cases"]
    assert OPTIMIZERS | ELEMENTWISE < {case["op"] for case in cases}


@pytest.mark.parametrize("profile", ["quick", "standard", "full", "lecture"])
def test_no_profile_measures_them(profile):
    assert planned("--profile", profile).isdisjoint(OPTIMIZERS | ELEMENTWISE)


@pytest.mark.parametrize("arguments", [("--filter", "bf16"), ("--filter", "naive"), ("--filter", "-relu"), ("--format", "fp32"), ("--technique", "naive")])
def test_words_that_name_no_operation_leave_them_out(arguments):
    found = planned(*arguments)
    assert found and found.isdisjoint(OPTIMIZERS | ELEMENTWISE)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--op", "adamw,zero"), {"adamw", "zero"}),
        (("--filter", "^(adamw|add)/"), {"adamw", "add"}),
        (("--filter", "^swi"), {"swiglu"}),
        (("--op", "lion", "--shape", "1000"), {"lion"}),
        (("--op", "transpose_copy", "--profile", "lecture"), {"transpose_copy"}),
    ],
)
def test_a_run_measures_those_that_are_named(arguments, named):
    assert planned(*arguments) & (OPTIMIZERS | ELEMENTWISE) == named


def test_an_unknown_optimizer_is_refused_with_the_nearest():
    refused(ridgebench("run", "--op", "adamm", "--device", "sim"), "unknown operation 'adamm'", "adamw")


def python(*arguments) -> str:
    done = subprocess.run([sys.executable, "-m", "ridgebench", *map(str, arguments)], capture_output=True, text=True,
                          env=os.environ | {"PYTHONPATH": str(ROOT / "roofline")}, check=False)
    assert done.returncode == OK, done.stderr
    return done.stdout


@pytest.fixture(scope="module", name="measured")
def measured_fixture(tmp_path_factory):
    folder = tmp_path_factory.mktemp("step") / "results"
    done = ridgebench("run", "--device", "sim", "--filter", "^(zero|transpose_copy|adamw)/.*/(fp32|bf16)/", "--budget", "3", "--out", folder)
    assert done.returncode == OK, done.stdout + done.stderr
    return folder, done.stdout


def test_rows_without_flops_have_a_bandwidth_and_a_roof_of_memory_only(measured):
    folder, _ = measured
    rows = [row for row in records(folder) if row["op"] in WITHOUT_FLOPS]
    assert {row["op"] for row in rows} == WITHOUT_FLOPS
    for row in rows:
        assert (row["status"], row["flops"], row["intensity_flop_per_byte"]) == ("ok", 0, 0)
        assert row["bound"] in ("memory", "launch") and row["roof"]["bytes_per_s"] > 0
        assert row["bytes_per_s"] > 0 and not row["flops_per_s"]
        assert row["fraction_of_measured_roof"] > 0
        assert row["verify"]["exact"] and row["verify"]["error"] == 0


def test_tables_figures_and_reports_show_no_share_of_compute_for_them(measured):
    folder, table = measured
    lines = [line for line in table.splitlines() if any(op in line for op in WITHOUT_FLOPS)]
    assert lines and not [line for line in lines if "FLOP/s" in line or "nan" in line or "inf" in line]
    python("plot", folder)
    drawing = (folder / "figures" / "roofline.svg").read_text("utf-8")
    assert "adamw" in drawing and "nan" not in drawing
    python("report", folder)
    assert all(op in (folder / "report.html").read_text("utf-8") for op in WITHOUT_FLOPS)
    assert ridgebench("verify", folder).returncode == OK
    assert ridgebench("plot", "--terminal", folder).returncode == OK


@pytest.mark.parametrize(("operation", "shape"), [("zero", "n:1M"), ("transpose_copy", "m:1024/n:1024")])
def test_predict_gives_a_time_by_the_bytes(operation, shape):
    answer = strict_json(ridgebench("predict", operation, shape, "--format", "fp32", "--on", "h100-sxm", "--json").stdout)
    assert (answer["flops"], answer["intensity_flop_per_byte"], answer["bound"]) == (0, 0, "memory")
