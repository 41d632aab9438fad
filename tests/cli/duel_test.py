"""`ridgebench duel`: its table, its JSON, its folder, its errors and exit codes, and what an interruption keeps."""

import json
import math
import shutil
import signal

import numpy as np
import pytest
from command_line import (
    OK,
    ROOT,
    ROW_FAILED,
    UNDECIDED,
    USAGE,
    environment,
    finish,
    read_environment,
    refused,
    ridgebench,
    schema,
    start,
    strict_json,
    wait_until,
)
from ridgebench.data.duels import load_duels
from ridgebench.judge import gate

RELU = ("naive", "streaming", "--op", "relu", "--format", "fp32", "--shape", "4k")
ONE = ("duel", *RELU, "--seconds", "5")
DUEL = schema("duel")


def duel(*arguments, device="sim", **options):
    return ridgebench(*ONE, "--device", device, *arguments, **options)


def duels_of(folder) -> list[dict]:
    """The lines of duels.jsonl, each of which must obey the schema and hold its keys and no other."""
    found = [strict_json(line) for line in (folder / "duels.jsonl").read_text().splitlines()]
    for one in found:
        assert list(DUEL.iter_errors(one)) == []
        assert list(one) == list(DUEL.schema["properties"])
    return found


def test_equal_times_are_the_same(tmp_path):
    result = duel("--out", tmp_path / "out", device="sim:noise=0.001")
    assert result.returncode == OK, result.stderr
    title, line = result.stdout.splitlines()
    assert title.split()[:7] == ["operation", "first", "second", "format", "shape", "in", "time"]
    assert line.split()[:6] == ["relu", "naive", "streaming", "fp32", "n:4000", "same"]
    assert f"results: {tmp_path / 'out'}\n" in result.stderr
    (one,) = duels_of(tmp_path / "out")
    assert (one["status"], one["verdict"], one["verdict_in_cycles"]) == ("ok", "same", "same")
    assert one["first"]["verify"]["exact"] and one["second"]["verify"]["exact"]
    assert one["long"]["quads"] == 4 and len(one["long"]["seconds"]["log_ratios"]) == 8
    assert len(one["short"]["clock_hz"]) == 200 and one["long"]["clock_hz"] == [], "quads see one clock each"
    described = read_environment(tmp_path / "out")
    assert described["interrupted"] is False
    assert list(schema("environment").iter_errors(described)) == []
    assert "duels.jsonl" in (tmp_path / "out" / "SHA256SUMS").read_text()


def test_ratios_of_blocks_are_those_of_the_gate(tmp_path):
    """The blocks that the record names, trimmed by another program; what is left of a correlation only widens."""
    duel("--out", tmp_path / "out", device="sim:noise=0.01")
    (one,) = duels_of(tmp_path / "out")
    for scale in ("short", "long"):
        for unit in ("seconds", "cycles"):
            ratio = one[scale][unit]
            block = ratio["block"]
            blocks = np.array(ratio["log_ratios"])[len(ratio["log_ratios"]) % block :].reshape(-1, block).mean(axis=1)
            value = gate.estimate(blocks)
            low, high = gate.bounds(value, 0.025)
            assert ratio["ratio"] == pytest.approx(math.exp(value.location), rel=1e-9)
            if ratio["widened"] == 1:
                assert [ratio["ci_low"], ratio["ci_high"]] == pytest.approx([math.exp(low), math.exp(high)], rel=1e-9)
            else:
                assert ratio["ci_low"] < math.exp(low) and ratio["ci_high"] > math.exp(high)


@pytest.fixture(scope="module", name="finished")
def finished_fixture(tmp_path_factory):
    folder = tmp_path_factory.mktemp("finished") / "out"
    assert duel("--out", folder, device="sim:noise=0.001").returncode == OK
    return folder


def test_verify_accepts_duels(finished):
    result = ridgebench("verify", finished)
    assert (result.returncode, result.stdout) == (OK, f"{finished}: sound\n"), result.stderr


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("flops", 1, "flops is 1, but other values give 4000"), ("bytes", 1, "bytes is 1"),
        ("verdict", "faster", 'verdict is "faster", but other values give "same"'),
        ("decided_by", "long", 'decided_by is "long"'), ("short.seconds.ratio", 0.9, "short.seconds.ratio is 0.9"),
        ("long.cycles.ci_low", 0.9, "long.cycles.ci_low is 0.9"), ("reason", "none", "every status but ok needs"),
        ("first.verify", None, "naive must have passed verification"), ("short", None, "short scale"),
        ("second.verify.error", 1.5, "streaming must have passed verification"), ("first.time_s", None, "naive has no time"),
        ("id", "relu/a:b/fp32/n:4000/steady@sim", "its keys make the id relu/naive:streaming/"), ("sets", 0, "a set of buffers"),
        ("processes", 40, "200 log ratios of 200 quads in 40 processes"), ("device", "x", "does not list its device"),
        ("short.seconds.log_ratios", [], "short.seconds has 0 log ratios"), ("short.quads", 3, "of 3 quads"),
        ("short.seconds.block", 7, "short.seconds.block is 7"), ("short.clock_hz", [1e9], "short has 1 clocks"),
        ("verdict_in_time", None, "verdict_in_time is null"), ("first.energy_blocks_j", [1.0] * 5, "first.energy_per_launch_j is "),
    ],
)
def test_verify_finds_what_does_not_follow(key, value, problem, finished, tmp_path):
    folder = shutil.copytree(finished, tmp_path / "changed")
    (one,) = duels_of(folder)
    *path, last = key.split(".")
    inner = one
    for name in path:
        inner = inner[name]
    inner[last] = value
    (folder / "duels.jsonl").write_text(json.dumps(one) + "\n")
    result = ridgebench("verify", folder)
    assert result.returncode == ROW_FAILED
    assert any(line.startswith(f"ridgebench: {one['id']}: ") and problem in line for line in result.stderr.splitlines())
    assert "duels.jsonl" in result.stderr.splitlines()[-1], "its checksum"


@pytest.mark.parametrize("key", ["verdict", "verdict_in_time", "first.verify.witness", "first.energy_blocks_j", "short.clock_hz", "short.seconds.block"])
def test_verify_names_a_key_that_is_missing(key, finished, tmp_path):
    folder = shutil.copytree(finished, tmp_path / "changed")
    (one,) = duels_of(folder)
    *path, last = key.split(".")
    inner = one
    for name in path:
        inner = inner[name]
    del inner[last]
    (folder / "duels.jsonl").write_text(json.dumps(one) + "\n")
    result = ridgebench("verify", folder)
    assert result.returncode == ROW_FAILED and f": {key} is missing\n" in result.stderr


def test_a_folder_has_a_run_or_duels_and_stays_as_it_was(finished, tmp_path):
    folder = shutil.copytree(finished, tmp_path / "duels")
    run = ("--device", "sim", "--filter", "relu/naive/fp32", "--budget", "0.5")
    refused(ridgebench("run", *run, "--out", folder), "holds duels.jsonl; allowed: a new folder")
    refused(ridgebench("run", "--resume", folder), "holds duels.jsonl")
    refused(duel("--out", folder), "already holds duels; allowed: a folder without results")
    assert ridgebench("verify", folder).returncode == OK
    assert ridgebench("run", *run, "--out", tmp_path / "run").returncode == OK
    refused(duel("--out", tmp_path / "run"), "holds records.jsonl")
    assert ridgebench("verify", tmp_path / "run").returncode == OK


def test_verify_says_that_duels_did_not_finish(finished, tmp_path):
    folder = shutil.copytree(finished, tmp_path / "cut")
    (folder / "SHA256SUMS").unlink()
    result = ridgebench("verify", folder)
    assert (result.returncode, result.stderr) == (ROW_FAILED, "ridgebench: SHA256SUMS is missing: the duels did not finish\n")


def test_json_is_the_lines_of_the_folder(tmp_path):
    result = duel("--out", tmp_path / "out", "--json")
    assert strict_json(result.stdout)["duels"] == duels_of(tmp_path / "out")


def test_noise_leaves_a_duel_undecided(tmp_path):
    result = duel("--out", tmp_path / "out", device="sim:noise=0.3")
    assert result.returncode == UNDECIDED
    (one,) = duels_of(tmp_path / "out")
    assert one["verdict"] == "undecided"


def test_a_host_has_neither_a_clock_nor_joules(tmp_path):
    arguments = ("--op", "matmul", "--format", "fp32", "--shape", "128", "--seconds", "0.5", "--device", "cpu")
    result = ridgebench("duel", "naive", "packed", *arguments, "--out", tmp_path / "out")
    assert result.returncode in (OK, UNDECIDED), result.stderr  # a busy host may leave it undecided
    (one,) = duels_of(tmp_path / "out")
    assert one["status"] == "ok" and one["decided_by"] == "short"
    assert one["verdict_in_cycles"] is None and one["short"]["cycles"] is None
    assert one["first"]["energy_per_launch_j"] is None and "energy counter" in one["no_energy"]


def test_several_processes_give_a_log_ratio_each(tmp_path):
    result = duel("--processes", "6", "--out", tmp_path / "out", device="sim:noise=0.001")
    assert result.returncode == OK, result.stderr
    (one,) = duels_of(tmp_path / "out")
    assert (one["status"], one["processes"], one["verdict"]) == ("ok", 6, "same")
    assert len(one["short"]["seconds"]["log_ratios"]) == len(one["short"]["cycles"]["log_ratios"]) == 6
    assert one["first"]["verify"]["exact"] and one["fill"] == "normal" and one["seed"] == 1
    assert result.stderr.count("note:") <= 1, "each process repeats the notes on the device"


def test_a_host_is_judged_by_its_processes(tmp_path):
    result = ridgebench("duel", *RELU, "--device", "cpu", "--seconds", "0.3", "--out", tmp_path / "out")
    assert result.returncode in (OK, UNDECIDED), result.stderr
    (one,) = duels_of(tmp_path / "out")
    assert one["status"] == "ok" and one["processes"] == 5


STORED = ROOT / "results" / "nvidia-h200" / "2026-11-27-6abf65e-duels"


def test_verify_holds_records_of_version_1_to_their_own_rule(tmp_path):
    unfinished = "ridgebench: SHA256SUMS is missing: the duels did not finish\n"
    assert ridgebench("verify", STORED).stderr == unfinished, "nothing else"
    folder = shutil.copytree(STORED, tmp_path / "changed")
    lines = (folder / "duels.jsonl").read_text().splitlines()
    one = json.loads(lines[0])
    one["short"]["seconds"]["ci_low"] *= 0.999
    (folder / "duels.jsonl").write_text("\n".join([json.dumps(one), *lines[1:]]) + "\n")
    result = ridgebench("verify", folder)
    assert result.returncode == ROW_FAILED and "short.seconds.ci_low is " in result.stderr


def test_read_judges_stored_duels_again():
    stored = [strict_json(line) for line in (STORED / "duels.jsonl").read_text().splitlines()]
    again = strict_json(ridgebench("duel", "--read", STORED, "--json").stdout)["duels"]
    assert [one["id"] for one in again] == [one["id"] for one in stored]
    assert all(list(DUEL.iter_errors(one)) == [] and one["schema"] == "ridgebench.duel/2" for one in again)
    wider = {}
    for old, new in zip(stored, again):
        for unit in ("seconds", "cycles"):
            before, after = (math.log(one["short"][unit]["ci_high"] / one["short"][unit]["ci_low"]) for one in (old, new))
            assert after > 0.999 * before or new["short"][unit]["block"] > 1
            wider[(new["op"], new["format"], new["shape"].get("m"), unit)] = after / before
    assert wider["relu", "bf16", None, "seconds"] > 2, "neighbouring quads have a correlation of 0.93"
    verdicts = {(one["format"], one["decided_by"]): one["verdict_in_time"] for one in again if one["op"] == "matmul"}
    assert verdicts["bf16", "short"] is None, "the power cap was not measured"
    refused(ridgebench("duel", "--read", STORED, "naive", "naive"), "--read")
    refused(ridgebench("duel", "--read", STORED / "nowhere"), "nowhere")


@pytest.mark.parametrize(
    ("device", "reason", "code"),
    [
        ("sim:memory=1000", "process 1 of 1: ", ROW_FAILED),
        ("sim:lose=9", "a process of the duel lost its device", 7),
    ],
)
def test_a_process_that_fails_leaves_a_line(device, reason, code, tmp_path):
    result = duel("--processes", "3", "--out", tmp_path / "out", device=device)
    assert result.returncode == code, result.stderr
    (one,) = duels_of(tmp_path / "out")
    assert one["status"] in ("failed", "skipped") and one["reason"].startswith(reason)


def test_a_crash_ends_one_duel(tmp_path):
    arguments = ("--op", "relu", "--format", "fp32", "--shape", "64,128", "--device", "sim", "--processes", "2")
    crashes = environment(RIDGEBENCH_TEST_CRASH="abort")
    result = ridgebench("duel", "crashing", "naive", *arguments, "--out", tmp_path / "out", env=crashes)
    assert result.returncode == ROW_FAILED, result.stderr
    duels = duels_of(tmp_path / "out")
    assert [one["status"] for one in duels] == ["failed", "failed"]
    assert all(one["reason"].startswith("a process of the duel was ended by ") for one in duels)


def test_a_range_of_shapes_is_a_duel_each(tmp_path):
    arguments = ("--op", "relu", "--format", "fp32,bf16", "--shape", "n:64..256:x2", "--device", "sim")
    result = ridgebench("duel", "naive", "naive", *arguments, "--seconds", "0.5", "--out", tmp_path / "out")
    assert result.returncode in (OK, UNDECIDED), result.stderr
    cases = [(one["format"], one["shape"]["n"]) for one in duels_of(tmp_path / "out")]
    assert cases == [(form, n) for form in ("fp32", "bf16") for n in (64, 128, 256)]


def test_a_file_of_shapes_is_a_duel_a_line(tmp_path):
    (tmp_path / "shapes").write_text("# mine\nrelu 64 bf16\nrelu,128,fp32\n")
    result = ridgebench("duel", "naive", "naive", "--shapes", tmp_path / "shapes", "--device", "sim", "--dry-run")
    ids = [line.split("/")[2:4] for line in result.stdout.splitlines()[:-1]]
    assert ids == [["fp32", "n:128"], ["bf16", "n:64"]]


CAPPED = "sim:noise=0.001,clock=1.98e9,peak=2e11,gap=0,power_limit=700,draw=1200"


def test_a_device_at_its_power_cap_is_judged_by_the_long_scale(tmp_path):
    arguments = ("--op", "matmul", "--format", "fp32", "--shape", "64", "--device", CAPPED)
    result = ridgebench("duel", "packed", "naive", *arguments, "--processes", "1", "--out", tmp_path / "out")
    assert result.returncode == OK, result.stderr
    (one,) = duels_of(tmp_path / "out")
    assert (one["decided_by"], one["verdict"], one["verdict_in_cycles"]) == ("long", "same", "same")
    joules = [one[side]["energy_per_launch_j"] / one[side]["time_s"] for side in ("first", "second")]
    assert joules == pytest.approx([700, 700], rel=0.01) and one["no_energy"] is None
    assert "J first" in result.stdout.splitlines()[0]
    for side in ("first", "second"):
        energy = one[side]
        assert len(energy["energy_blocks_j"]) == 8
        assert energy["energy_ci_low_j"] < energy["energy_per_launch_j"] < energy["energy_ci_high_j"]


def test_a_technique_that_does_not_serve_the_shape_says_why(tmp_path):
    arguments = ("--op", "matmul", "--format", "fp32", "--shape", "32", "--device", "sim", "--seconds", "0.1")
    result = ridgebench("duel", "failing", "packed", *arguments, "--out", tmp_path / "out")
    refused(result, "unknown matmul technique in fp32 'failing'", "allowed:", "packed")
    assert not (tmp_path / "out").exists()


def test_a_crowded_memory_skips_the_duel(tmp_path):
    result = duel("--out", tmp_path / "out", device="sim:memory=1000")
    assert result.returncode == ROW_FAILED
    (one,) = duels_of(tmp_path / "out")
    assert one["status"] == "skipped" and "out_of_memory" in one["flags"]
    assert one["reason"] in result.stdout


def test_a_lost_device_keeps_a_line(tmp_path):
    result = duel("--out", tmp_path / "out", device="sim:lose=9")
    assert result.returncode == 7
    assert "device sim was lost" in result.stderr
    (one,) = duels_of(tmp_path / "out")
    assert (one["status"], one["reason"]) == ("failed", "device sim was lost")


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("naive",), ("two techniques", "--profile quick")),
        (("naive", "packed"), ("two techniques, an operation", "--op OP")),
        (("naive", "packed", "--profile", "quick"), ("--profile chooses techniques and shapes",)),
        (("--profile", "full"), ("--profile is 'full'", "allowed: quick")),
        ((*RELU, "--against-itself"), ("--against-itself goes with --profile",)),
        (("naive", "naive", "--op", "rellu", "--format", "fp32", "--shape", "4"), ("'rellu'", "nearest: relu")),
        (("naive", "naive", "--op", "relu", "--format", "fp33", "--shape", "4"), ("relu has no format fp33", "fp32")),
        (("naive", "naive", "--op", "relu", "--format", "tf32", "--shape", "4"), ("relu has no format tf32", "bf16")),
        (("naive", "naive", "--op", "relu", "--format", "fp32", "--shape", "k:4"), ("k", "n")),
        (("naive", "vec16", "--op", "relu", "--format", "fp32", "--shape", "4"), ("'vec16'", "streaming")),
        ((*RELU, "--device", "tpu"), ("'tpu'", "cuda:N, cpu, all")),
        ((*RELU, "--seconds", "0"), ("--seconds", "'0'", "number of seconds")),
        ((*RELU, "--fill", "ones"), ("'ones'", "normal, uniform, zeros, integers")),
    ],
)
def test_a_mistake_is_one_line_with_what_is_allowed(arguments, parts, tmp_path):
    device = () if "--device" in arguments else ("--device", "sim")
    refused(ridgebench("duel", *arguments, *device, "--out", tmp_path / "out"), *parts, code=USAGE)
    assert not (tmp_path / "out").exists()


def test_a_folder_with_results_is_refused(tmp_path):
    assert duel("--out", tmp_path / "out").returncode in (OK, UNDECIDED)
    before = (tmp_path / "out" / "duels.jsonl").read_bytes()
    refused(duel("--out", tmp_path / "out"), "already holds duels")
    assert (tmp_path / "out" / "duels.jsonl").read_bytes() == before


def test_the_dry_run_lists_duels_and_seconds(tmp_path):
    result = ridgebench("duel", "--profile", "quick", "--device", "sim", "--dry-run", cwd=tmp_path)
    *duels, total = result.stdout.splitlines()
    assert result.returncode == OK and list(tmp_path.iterdir()) == []
    assert any(line.startswith("matmul/packed:openblas/fp32/m:1024/n:1024/k:1024/layout:nt/steady@sim") for line in duels)
    assert {line.split("/")[0] for line in duels} == {"matmul", "relu", "gelu", "dot", "matvec"}
    assert total.startswith(f"{len(duels)} duels, about ") and total.endswith(" s")


def test_operations_and_formats_narrow_a_profile():
    profile = ("duel", "--profile", "quick", "--device", "sim", "--dry-run")
    everything, some = ridgebench(*profile), ridgebench(*profile, "--op", "relu,gelu", "--format", "fp32")
    chosen = [line for line in everything.stdout.splitlines() if line.startswith(("relu/", "gelu/")) and "/fp32/" in line]
    assert chosen and some.stdout.splitlines()[:-1] == chosen
    nothing = ridgebench(*profile, "--op", "relu", "--format", "tf32")
    assert nothing.returncode == 2 and nothing.stderr.count("\n") == 1


def test_a_profile_against_itself_names_one_technique_twice():
    result = ridgebench("duel", "--profile", "quick", "--device", "sim", "--dry-run", "--against-itself")
    pairs = [line.split("/")[1].split(":") for line in result.stdout.splitlines()[:-1]]
    assert pairs and all(first == second for first, second in pairs)
    ids = [line.split()[0] for line in result.stdout.splitlines()[:-1]]
    assert len(ids) == len(set(ids)), "packed has two rivals"


def test_an_interruption_keeps_the_finished_duels(tmp_path):
    folder = tmp_path / "out"
    process = start("duel", "--profile", "quick", "--device", "sim:memory=2e6", "--seconds", "0.2", "--out", folder)
    duels = folder / "duels.jsonl"
    wait_until(lambda: duels.exists() and b"\n" in duels.read_bytes(), process)
    process.send_signal(signal.SIGINT)
    result = finish(process)
    kept = duels_of(folder)
    assert kept and load_duels(folder).torn is False
    if result.returncode == UNDECIDED:
        assert "interrupted; finished duels are in" in result.stderr
        assert read_environment(folder)["interrupted"] is True


def test_the_help_says_what_a_ratio_is():
    text = ridgebench("duel", "--help").stdout
    for part in ("default: 27", "first technique's time over the second's", "3 undecided", "--profile"):
        assert part in " ".join(text.split()), part


@pytest.mark.parametrize(("flags", "early"), [((), True), (("--no-early",), False)])
def test_a_duel_says_whether_launches_overlap(flags, early, tmp_path):
    assert duel("--out", tmp_path / "out", *flags, device="sim:early=1,noise=0.001").returncode == OK
    (one,) = duels_of(tmp_path / "out")
    assert (one["first"]["early"], one["second"]["early"]) == (early, early)
    assert read_environment(tmp_path / "out")["early_launches"] is early


def test_a_cold_duel_has_single_launches_and_no_long_scale(tmp_path):
    result = duel("--regime", "cold", "--out", tmp_path / "out", device="sim:noise=0.001")
    assert result.returncode == OK, result.stderr
    title, line = result.stdout.splitlines()[:2]
    assert title.split()[4:7] == ["shape", "regime", "in"] and line.split()[5:7] == ["cold", "same"]
    (one,) = duels_of(tmp_path / "out")
    assert one["regime"] == "cold" and "/cold@" in one["id"] and one["sets"] == 1
    assert one["long"] is None and one["decided_by"] == "short" and one["verdict_in_time"] == "same"
    assert one["first"]["early"] is False and one["power_settles"] is False
    assert read_environment(tmp_path / "out")["regimes"] == ["cold"]
    assert ridgebench("verify", tmp_path / "out").returncode == OK
    assert ridgebench("duel", "--read", tmp_path / "out").stdout == result.stdout


def test_a_duel_is_steady_or_cold():
    refused(duel("--regime", "warm"), "--regime is 'warm'; allowed: steady, cold")
    refused(duel("--regime", "hot"), "allowed: steady, cold, warm")


def test_cold_processes_of_a_host_are_combined(tmp_path):
    chosen = ("--regime", "cold", "--processes", "5", "--seconds", "2", "--device", "sim:noise=0.001")
    result = ridgebench("duel", *RELU, *chosen, "--out", tmp_path / "out")
    assert result.returncode in (OK, UNDECIDED), result.stderr
    (one,) = duels_of(tmp_path / "out")
    assert one["regime"] == "cold" and one["processes"] == 5 and len(one["short"]["seconds"]["log_ratios"]) == 5


def test_three_processes_of_a_device_whose_power_settles_slowly_decide(tmp_path):
    gpu = "sim:noise=0.001,clock=1.98e9,power_limit=700,draw=1200"
    result = ridgebench("duel", *RELU, "--device", gpu, "--processes", "3", "--seconds", "66", "--out", tmp_path / "out")
    assert result.returncode == OK, result.stderr
    (one,) = duels_of(tmp_path / "out")
    ratio = one["long"]["seconds"]
    assert one["decided_by"] == "long" and one["verdict"] == "same" and len(ratio["log_ratios"]) == len(ratio["errors"]) == 3
    logs = np.array(ratio["log_ratios"])
    reach = 4.302652729911275 * logs.std(ddof=1) / math.sqrt(3)
    assert [ratio["ci_low"], ratio["ci_high"]] == pytest.approx([math.exp(logs.mean() - reach), math.exp(logs.mean() + reach)], rel=1e-6)
    assert ridgebench("verify", tmp_path / "out").returncode == OK
    lines = (tmp_path / "out" / "duels.jsonl").read_text()
    (tmp_path / "out" / "duels.jsonl").write_text(lines.replace('"errors":[', '"errors":[0.0,'))
    broken = ridgebench("verify", tmp_path / "out")
    assert broken.returncode == ROW_FAILED and "4 errors of 3 log ratios in 3 processes" in broken.stderr


def test_the_plan_of_a_slowly_settling_device_has_three_processes():
    gpu = "sim:power_limit=700,draw=1200"
    plan = ridgebench("duel", *RELU, "--device", gpu, "--dry-run").stdout
    assert "84 s" in plan, "three times 27 s, and the checks"
    assert " 6 s" in ridgebench("duel", *RELU, "--device", gpu, "--seconds", "5", "--dry-run").stdout
    assert " 28 s" in ridgebench("duel", *RELU, "--device", "sim", "--dry-run").stdout
