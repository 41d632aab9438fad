"""The files and the output of a run on the simulated device."""

import os
import pty
import re
import subprocess

import pytest
from command_line import (
    BINARY,
    OK,
    SMALL,
    answer,
    environment,
    ids,
    read_environment,
    read_terminal,
    records,
    refused,
    ridgebench,
    run,
    schema,
)

COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def without_core() -> dict[str, str]:
    """Return the variables without the one that keeps OpenBLAS from its best kernels."""
    variables = environment()
    variables.pop("OPENBLAS_CORETYPE", None)
    return variables


@pytest.fixture(scope="module", name="quick")
def quick_fixture(tmp_path_factory):
    """Run every row of the quick profile within a budget."""
    folder = tmp_path_factory.mktemp("quick") / "results"
    result = run(folder, "--device", "sim", "--budget", "8", env=without_core())
    assert result.returncode == OK, result.stdout
    return folder, result


def test_files_of_a_run(quick):
    folder, _ = quick
    files = {"environment.json", "records.jsonl", "benchmark.json", "judged.json", "SHA256SUMS"}
    assert {path.name for path in folder.iterdir()} == files
    command = ["sha256sum", "--check", "--strict", "SHA256SUMS"]
    assert subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode == 0


def test_environment_and_every_record_obey_the_schemas(quick):
    folder, _ = quick
    assert list(schema("environment").iter_errors(read_environment(folder))) == []
    for record in records(folder):
        assert list(schema("record").iter_errors(record)) == [], record["id"]


def test_every_row_of_list_has_a_record_and_is_ok_or_skipped_with_a_reason(quick):
    folder, _ = quick
    by_id = {record["id"]: record for record in records(folder) if record["role"] != "control"}
    listed = answer("list", "--device", "sim")["cases"]
    assert set(by_id) <= {row["id"] for row in listed}
    left_out = {row["op"] for row in listed if row["id"] not in by_id}
    assert not left_out & {record["op"] for record in by_id.values()} and {"adamw", "softmax"} <= left_out, "the operations of a step"
    for row in (row for row in listed if row["id"] in by_id):
        assert by_id[row["id"]]["status"] == ("ok" if row["supported"] else "skipped"), row["id"]


def test_ceilings_come_first_and_controls_last(quick):
    roles = [record["role"] for record in records(quick[0])]
    order = ["ceiling", "kernel", "control"]
    assert set(roles) == set(order)
    assert roles == sorted(roles, key=order.index)


def test_verify_calls_the_run_sound(quick):
    result = ridgebench("verify", quick[0])
    assert (result.returncode, result.stdout, result.stderr) == (OK, f"{quick[0]}: sound\n", "")


def test_environment_tells_what_was_asked(tmp_path):
    folder = tmp_path / "results"
    asked = ["--seed", "7", "--fill", "integers", "--regime", "cold", "--roof", "h200"]
    assert run(folder, *SMALL, *asked, env=environment(OMP_DYNAMIC="false")).returncode == OK
    stored = read_environment(folder)
    assert (stored["seed"], stored["fill"], stored["roof"]) == (7, "integers", "h200")
    assert (stored["profile"], stored["regimes"], stored["budget_s"]) == ("quick", ["cold"], 0.7)
    assert stored["command_line"] == [BINARY, "run", "--out", str(folder), *SMALL, *asked]
    assert stored["environment_variables"]["OMP_DYNAMIC"] == "false"
    assert stored["interrupted"] is False and stored["started"] <= stored["ended"]
    assert {r["regime"] for r in records(folder) if r["role"] == "kernel"} == {"cold"}


@pytest.mark.parametrize(
    ("early", "flags", "said"),
    [
        (0, (), (False, None)),
        (1, (), (True, None)),
        (1, ("--no-early",), (False, None)),
        (2, (), (None, "the simulation does not say")),
    ],
)
def test_a_record_says_whether_launches_overlap(early, flags, said, tmp_path):
    folder = tmp_path / "results"
    small = ("--filter", "relu/naive/fp32/", "--budget", "0.3", *flags)
    assert run(folder, "--device", f"sim:early={early}", *small).returncode == OK
    ok = [r for r in records(folder) if r["status"] == "ok"]
    assert ok and {(r["early"], r["early_unknown"]) for r in ok} == {said}
    assert read_environment(folder)["early_launches"] is not bool(flags)
    assert ridgebench("verify", folder).returncode == OK


def test_no_misleading_warning(quick):
    _, result = quick
    # With AMX a processor has rows that take longer than the budget, and progress is shown of a run that takes long.
    true = ("note: --budget 8 will be exceeded: ", f"results: {quick[0]}")
    assert [line for line in result.stderr.splitlines() if not line.startswith(true) and " cases, " not in line] == []
    for word in ("WARNING", "DEBUG", "debug", "scaling"):
        assert word not in result.stdout


def test_nothing_is_coloured(quick, tmp_path):
    assert "\x1b" not in quick[1].stdout + quick[1].stderr
    result = run(tmp_path / "results", env=environment(NO_COLOR="1"))
    assert "\x1b" not in result.stdout + result.stderr


def test_progress_with_time_left_on_a_terminal_without_colour(tmp_path):
    terminal, stderr = pty.openpty()
    command = [BINARY, "run", "--out", tmp_path / "results", *SMALL]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=stderr, env=environment(NO_COLOR="1", TERM="xterm")
    ) as process:
        os.close(stderr)
        shown = read_terminal(terminal)
    assert process.returncode == OK
    assert re.search(r"\[#+ *\] \d+/\d+ cases, \d+ s left", shown.decode())
    assert not COLOUR.search(shown.decode())


def test_the_seed_decides_the_order_of_rows():
    def order(seed: int) -> list[str]:
        result = ridgebench("run", "--device", "sim", "--dry-run", "--seed", seed)
        return [line.split()[0] for line in result.stdout.splitlines()[:-1]]

    assert order(3) == order(3)
    assert order(3) != order(4)
    assert sorted(order(3)) == sorted(order(4))


def test_the_records_follow_the_order_of_the_dry_run(tmp_path):
    folder = tmp_path / "results"
    planned = ridgebench("run", *SMALL, "--dry-run").stdout.splitlines()[:-1]
    assert run(folder).returncode == OK
    assert ids(folder) == [line.split()[0] for line in planned]


def test_a_dry_run_tells_rows_bytes_and_time_and_writes_nothing(tmp_path):
    result = ridgebench("run", *SMALL, "--dry-run", "--out", "results", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (OK, "")
    *rows, total = result.stdout.splitlines()
    assert all(re.fullmatch(r"\S+@sim(:control)? +\d+ bytes", row) for row in rows)
    assert re.match(rf"{len(rows)} cases, about \d+ s, \d+ bytes for the largest", total)
    assert list(tmp_path.iterdir()) == []


def test_latest_points_at_the_newest_run(tmp_path):
    local = tmp_path / "results" / "local"
    for runs in (1, 2):
        result = ridgebench("run", *SMALL, cwd=tmp_path)
        assert result.returncode == OK
        newest = result.stderr.removeprefix("results: ").strip()
        assert (local / "latest").resolve() == (tmp_path / newest).resolve()
        assert len(list(local.iterdir())) == runs + 1
    assert os.readlink(local / "latest") == os.path.basename(newest), "it survives a move"


def test_a_latest_that_is_a_folder_stays_and_the_run_says_so(tmp_path):
    latest = tmp_path / "results" / "local" / "latest"
    latest.mkdir(parents=True)
    (latest / "mine").write_text("kept")
    result = ridgebench("run", *SMALL, cwd=tmp_path)
    notes = [line for line in result.stderr.splitlines() if line.startswith("note: results/local/latest does not name this run: ")]
    assert (result.returncode, len(notes)) == (OK, 1)
    assert (latest / "mine").read_text() == "kept"


def test_a_folder_with_other_files_keeps_them_and_one_with_a_run_is_refused(tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    (folder / "slurm.log").write_text("kept")
    assert run(folder).returncode == OK
    assert (folder / "slurm.log").read_text() == "kept"
    refused(run(folder), "already holds a run; allowed: a folder without results, or --resume")


def test_a_run_on_zeros_says_so_in_its_rows_and_in_the_table(tmp_path):
    folder = tmp_path / "results"
    shown = run(folder, *SMALL, "--fill", "zeros").stdout
    assert all("zero_inputs" in row["flags"] for row in records(folder))
    assert "zero_inputs" in shown


def test_ceilings_of_an_earlier_run_are_used(quick, tmp_path):
    folder, earlier = tmp_path / "results", quick[0]
    chosen = ("--device", "sim", "--filter", "relu/naive/fp32", "--ceilings", earlier)
    assert run(folder, *chosen).returncode == OK
    [record] = records(folder)
    copy = next(r for r in records(earlier) if r["op"] == "dram_copy")
    assert record["roof"]["memory_ceiling"] == copy["id"]
    assert record["roof"]["bytes_per_s"] == copy["bytes_per_s"]
    share = record["bytes_per_s"] / copy["bytes_per_s"]
    assert record["fraction_of_measured_roof"] == pytest.approx(share)


def test_ceilings_of_another_device_are_refused(quick, tmp_path):
    folder = tmp_path / "results"
    result = run(folder, "--device", "cpu", "--filter", "relu/naive/fp32", "--ceilings", quick[0])
    refused(result, "holds no ceilings of cpu")
    assert not folder.exists()


def test_predict_from_measured_roofs(quick):
    by_id = {record["id"]: record for record in records(quick[0])}
    gelu = answer("predict", "gelu", "n:65536", "--format", "fp32", "--on", quick[0])
    rows = [r for r in by_id.values() if r["op"] == "gelu" and r["format"] == "fp32"]
    roof = next(r["roof"] for r in rows if r["status"] == "ok")
    assert gelu["bandwidth_bytes_per_s"] == by_id[roof["memory_ceiling"]]["bytes_per_s"]
    assert gelu["peak_flops_per_s"] == by_id[roof["compute_ceiling"]]["flops_per_s"]
    dot = answer("predict", "dot", "n:65536", "--format", "fp32", "--on", quick[0])
    read = next(r for r in by_id.values() if r["op"] == "dram_read")
    assert dot["bandwidth_bytes_per_s"] == read["bytes_per_s"]


def test_plan_with_a_measured_mfu(tmp_path):
    folder = tmp_path / "results"
    device = "sim:sheet=h100-sxm,peak=4e13,bandwidth=3e12,gap=0,clock=1.7e9"
    chosen = ("--device", device, "--filter", "matmul/naive/bf16", "--budget", "0.3")
    assert run(folder, *chosen).returncode == OK
    best = max(r["mfu"] for r in records(folder) if r["op"] == "matmul")
    question = ("plan", "train", "--flops", "1e23", "--on", "h100-sxm")
    reply = answer(*question, "--mfu", folder)
    assert reply["inputs"]["mfu"] == best
    assert reply["inputs"]["mfu_row"].startswith("matmul/naive/bf16/")
    assert reply["days"] == answer(*question, "--mfu", repr(best))["days"]
    refused(ridgebench(*question, "--mfu", folder, "--format", "fp16"), "no steady fp16 matmul")


@pytest.mark.parametrize("form", ["fp32", "bf16"])
def test_a_real_run_on_this_host(form, tmp_path):
    folder = tmp_path / "results"
    chosen = ("--device", "cpu", "--filter", f"^launch/.*/fp32/|dot/naive/{form}/", "--budget", "2")
    assert run(folder, *chosen).returncode == OK
    assert all(not list(schema("record").iter_errors(record)) for record in records(folder))
    assert list(schema("environment").iter_errors(read_environment(folder))) == []
    assert ridgebench("verify", folder).returncode == OK


def test_openblas_takes_kernels_of_this_processor_unless_it_was_told_which(tmp_path):
    chosen = ("--device", "sim", "--filter", "dot/openblas/fp32", "--budget", "0.5")
    result = run(tmp_path / "without_core", *chosen, env=without_core())
    found = read_environment(tmp_path / "without_core")
    library = found["libraries"]["openblas"]
    if library is None:
        pytest.skip("built without OpenBLAS")
    has_avx = found["devices"][0]["isa"] in ("x86-64-v3", "x86-64-v4")
    assert not (has_avx and library.endswith((" Prescott", " Core2", " Nehalem")))
    assert "note:" not in result.stderr
    result = run(tmp_path / "stored", *chosen, env=environment(OPENBLAS_CORETYPE="Prescott"))
    assert result.returncode == OK, "nor does it restart for ever"
    assert read_environment(tmp_path / "stored")["libraries"]["openblas"].endswith(" on Prescott")
    assert has_avx == ("note: OPENBLAS_CORETYPE=Prescott keeps a library from" in result.stderr)
