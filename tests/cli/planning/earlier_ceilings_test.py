"""`run --ceilings` takes the roofs of a comparable run only, and `predict --on` and `plot` find them in the new folder."""

import json
import shutil

import pytest
from command_line import OK, answer, environment, read_environment, records, ridgebench, run

SIM = ("--device", "sim", "--op", "relu,matmul", "--format", "fp32", "--shape", "n:64", "--budget", "1")
REASON = "the ceilings of {} are not comparable with this run: "


@pytest.fixture(scope="module", name="earlier")
def earlier_fixture(tmp_path_factory):
    folder = tmp_path_factory.mktemp("earlier") / "run"
    assert run(folder, *SIM).returncode == OK
    return folder


def kernels(folder) -> list[dict]:
    return [row for row in records(folder) if row["role"] == "kernel" and row["status"] == "ok"]


def unjudged(folder, result, earlier, *differences: str) -> None:
    """The run measured its rows without a roof, and said why before and in each row."""
    assert result.returncode == OK, result.stderr
    reason = REASON.format(earlier)
    assert result.stderr.startswith(f"note: {reason}") and result.stderr.count(reason) == 1
    for difference in differences:
        assert difference in result.stderr.splitlines()[0]
    assert kernels(folder)
    for row in kernels(folder):
        assert row["fraction_of_measured_roof"] is None and row["roof_unknown"].startswith(reason)


def test_a_comparable_run_lends_its_ceilings(earlier, tmp_path):
    result = run(tmp_path / "run", *SIM, "--ceilings", earlier)
    assert result.returncode == OK and "not comparable" not in result.stderr
    assert all(row["fraction_of_measured_roof"] and row["roof_unknown"] is None for row in kernels(tmp_path / "run"))


@pytest.mark.parametrize(
    ("words", "difference"),
    [
        (("--fill", "zeros"), "fill: zeros against normal"),
        (("--seed", "7"), "seed: 7 against 1"),
        (("--no-early",), "early_launches: false against true"),
    ],
)
def test_another_request_has_no_share_of_its_roof(words, difference, earlier, tmp_path):
    result = run(tmp_path / "run", *SIM, *words, "--ceilings", earlier)
    unjudged(tmp_path / "run", result, earlier, difference)
    assert not [row for row in records(tmp_path / "run") if row["role"] == "ceiling"]


def test_another_number_of_threads_or_variable_has_no_share_of_its_roof(earlier, tmp_path):
    variables = environment(OMP_NUM_THREADS="1", OMP_PROC_BIND="false")
    result = run(tmp_path / "run", *SIM, "--ceilings", earlier, env=variables)
    bind = "environment_variables: OMP_PROC_BIND is 'false' against unset, which changes number, places and waiting"
    unjudged(tmp_path / "run", result, earlier, bind)


@pytest.mark.parametrize(
    ("key", "value", "difference"),
    [
        ("threads", 77, "threads: "),
        ("driver", "535.1", "driver: "),
        ("power_limit_w", 500, "power_limit_w: "),
        ("clocks", {"max_sm_hz": 1e9}, "clocks: "),
    ],
)
def test_another_state_of_the_device_has_no_share_of_its_roof(key, value, difference, earlier, tmp_path):
    changed = tmp_path / "changed"
    shutil.copytree(earlier, changed)
    stored = read_environment(changed)
    stored["devices"][0][key] = value
    (changed / "environment.json").write_text(json.dumps(stored))
    result = run(tmp_path / "run", *SIM, "--ceilings", changed)
    unjudged(tmp_path / "run", result, changed, difference)


def test_ceilings_of_a_host_of_another_name_are_left_out(earlier, tmp_path):
    changed = tmp_path / "changed"
    shutil.copytree(earlier, changed)
    stored = read_environment(changed)
    for number, (host, comparable) in enumerate((("0123456789abcdef", False), (None, True))):
        stored["host"]["hostname_hash"] = host
        (changed / "environment.json").write_text(json.dumps(stored))
        said = run(tmp_path / f"run{number}", *SIM, "--ceilings", changed).stderr
        assert ("are not comparable with this run: host.hostname_hash: " in said) is not comparable


def test_compare_names_the_same_differences(earlier, tmp_path):
    words = ("--fill", "zeros", "--seed", "7")
    result = run(tmp_path / "run", *SIM, *words, "--ceilings", earlier)
    named = result.stderr.splitlines()[0].split("this run: ")[1].split("; without --ceilings")[0].split("; ")
    compared = ridgebench("compare", tmp_path / "run", earlier, "--json")
    assert json.loads(compared.stdout)["not_comparable"] == named and len(named) == 2


def test_a_branch_of_the_driver_is_one(tmp_path):
    device = "sim:driver={}"
    words = ("--op", "relu", "--format", "fp32", "--shape", "n:64", "--budget", "0.5")
    assert run(tmp_path / "one", "--device", device.format("580.65.06"), *words).returncode == OK
    for driver, judged in (("580.82.07", True), ("570.1", False)):
        again = tmp_path / driver
        assert run(again, "--device", device.format(driver), *words, "--ceilings", tmp_path / "one").returncode == OK
        assert all(bool(row["fraction_of_measured_roof"]) is judged for row in kernels(again))


def test_predict_finds_the_roofs_of_a_run_with_ceilings_of_another(earlier, tmp_path):
    folder = tmp_path / "run"
    assert run(folder, *SIM, "--ceilings", earlier).returncode == OK
    for operation in ("relu", "matmul"):
        words = ("predict", operation, "n:64", "--format", "fp32", "--on")
        own, lent = answer(*words, earlier), answer(*words, folder)
        for key in ("peak_flops_per_s", "bandwidth_bytes_per_s", "time_lower_bound_s", "bound"):
            assert own[key] == lent[key], key
        roof = next(row["roof"] for row in kernels(folder) if row["op"] == operation)
        assert roof["bytes_per_s"] == lent["bandwidth_bytes_per_s"]
        assert roof["flops_per_s"] == lent["peak_flops_per_s"]
    drawn = ridgebench("plot", "--terminal", folder)
    assert drawn.returncode == OK and "memory" in drawn.stdout
