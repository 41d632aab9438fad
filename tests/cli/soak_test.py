"""soak: every wrong bit is counted, logged and attributed; nothing that ends it early loses one."""

import json
import re
import signal

import pytest
from command_line import DEVICE_LOST, OK, ROW_FAILED, UNDECIDED, environment, finish, one_line, refused, ridgebench, schema, start, strict_json, wait_until

SMALL = ("--minutes", "0.02", "--format", "bf16", "--memory", "2%")
SIM = ("soak", "--device", "sim", *SMALL)
REGRESSION = 4
_PRODUCT = r"(?m)^matmul/(packed|amx)/bf16/"  # the program chooses the fastest technique of the machine


def _soak(folder, *words, fault="", device="sim", code=OK):
    done = ridgebench("soak", "--device", device, *SMALL, "--json", "--out", folder, *words, env=environment(RIDGEBENCH_INJECT_FAULT=fault))
    assert done.returncode == code, done.stderr
    answer = strict_json(done.stdout)
    assert list(schema("soak").iter_errors(answer)) == []
    return answer, [json.loads(line) for line in (folder / "soak.jsonl").read_text().splitlines()]


def _mismatches(events):
    return [event for event in events if event["event"] == "mismatch"]


@pytest.mark.parametrize("device", ["sim", "cpu"])
def test_a_sound_device_has_no_wrong_bit(device, tmp_path):
    answer, events = _soak(tmp_path / "soak", device=device)
    assert answer["mismatches"] == 0 and answer["finished"] and answer["bytes"] > 0
    ids = {unit["id"].split("@")[0] for unit in answer["units"] if unit["launches"]}
    assert any(re.match(_PRODUCT, name) for name in ids), ids
    assert any(name.startswith("memory/") for name in ids), ids
    assert {event["event"] for event in events} == {"begin", "progress", "end"}


@pytest.mark.parametrize("device", ["sim", "injected"])
def test_one_bit_once_is_found_with_its_place(device, tmp_path):
    answer, events = _soak(tmp_path / "soak", device=device, fault="once:seed=3", code=ROW_FAILED)
    (found,) = _mismatches(events)
    assert (found["words"], found["bits"], answer["mismatches"]) == (1, 1, 1)
    (word,) = found["outputs"][0]["first"]
    flipped = int(word["flipped"], 16)
    assert flipped == int(word["expected"], 16) ^ int(word["found"], 16) and flipped.bit_count() == 1
    assert int(word["address"], 16) > word["byte"] and {"sm_clock_hz", "temperature_c", "power_w"} < set(found)


def test_a_stuck_bit_of_a_lane_is_that_bit_in_every_sixteenth_word(tmp_path):
    _, events = _soak(tmp_path / "soak", fault="stuck:lane=5,bit=9", code=ROW_FAILED)
    words = [word for event in _mismatches(events) for output in event.get("outputs", []) for word in output["first"]]
    assert words and {(word["byte"] // 8 % 16, int(word["flipped"], 16)) for word in words} == {(5, 1 << 9)}


def test_the_multiprocessor_of_a_wrong_bit_is_named(tmp_path):
    answer, events = _soak(tmp_path / "soak", device="sim:units=4", fault="sm:unit=2,units=4", code=ROW_FAILED)
    by_unit = [unit for unit in answer["units"] if unit["id"].startswith("unit_products/")]
    assert by_unit and all(unit["units"] == [2] for unit in by_unit if unit["mismatches"])
    assert any(unit["mismatches"] for unit in by_unit)


def test_every_multiprocessor_with_a_wrong_word_is_named(tmp_path):
    """A log lists 16 words of a launch, all of the first multiprocessor."""
    device, fault = "sim:units=4", "stuck:lane=5,bit=9"
    answer, events = _soak(tmp_path / "soak", device=device, fault=fault, code=ROW_FAILED)
    by_unit = [unit for unit in answer["units"] if unit["id"].startswith("unit_products/") and unit["mismatches"]]
    assert by_unit and all(unit["units"] == [0, 1, 2, 3] for unit in by_unit)
    assert all(sum(unit["unit_words"].values()) == unit["words"] for unit in by_unit)
    found = next(event for event in _mismatches(events) if event["id"].startswith("unit_products/"))
    assert len(found["outputs"][0]["first"]) == 16 and set(found["unit_words"]) == {"0", "1", "2", "3"}
    text = ridgebench("soak", "--read", tmp_path / "soak").stdout
    words = by_unit[0]["unit_words"]
    assert f"{by_unit[0]['id']}: wrong words of " + ", ".join(f"SM {unit}: {words[unit]}" for unit in "0123") in text


def test_a_fault_of_a_hot_device_has_its_temperature(tmp_path):
    device = "sim:heat=60,peak=1e6,bandwidth=1e5"
    _, events = _soak(tmp_path / "soak", device=device, fault="hot:above=31", code=ROW_FAILED)
    assert _mismatches(events) and all(event["temperature_c"] > 31 for event in _mismatches(events))


def test_a_counter_of_faults_ends_the_soak_if_asked(tmp_path):
    device = "sim:ecc=3"
    answer, events = _soak(tmp_path / "all", device=device, code=ROW_FAILED)
    assert answer["faults"] == ["ecc_uncorrected grew from 0 to 1"] and answer["finished"]
    answer, events = _soak(tmp_path / "one", "--stop-on-fault", device=device, code=ROW_FAILED)
    assert events[-1]["stopped_by_fault"] and not _mismatches(events)


def test_a_counter_that_grows_at_each_reading_is_one_finding(tmp_path):
    answer, events = _soak(tmp_path / "soak", device="sim:remaps=2", code=ROW_FAILED)
    faults = [event for event in events if event["event"] == "fault"]
    assert len(faults) > 1
    (said,) = answer["faults"]
    first, last = faults[0], faults[-1]
    assert said == (f"remapped_rows.uncorrected grew from {first['before']:g} to {last['after']:g}: in {len(faults)} readings, "
                    f"from {first['elapsed_s']:.4g} s to {last['elapsed_s']:.4g} s")
    done = ridgebench("soak", "--read", tmp_path / "soak")
    assert done.returncode == ROW_FAILED and done.stdout.count("FAULT: ") == 1


def test_slow_rounds_end_with_their_own_code(tmp_path):
    answer, _ = _soak(tmp_path / "soak", "--slow", "1e-9", device="sim:drift=10", code=REGRESSION)
    assert any(unit["slow"] for unit in answer["units"])


def _running(folder):
    process = start("soak", "--device", "sim", "--minutes", "60", *SMALL[2:], "--out", folder, env=environment(RIDGEBENCH_INJECT_FAULT="rate:one_in=1e5"))
    log = folder / "soak.jsonl"
    wait_until(lambda: (log.exists() and log.read_text().count('"mismatch"') > 20) or process.poll() is not None)
    return process, log


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM], ids=lambda which: which.name)
def test_a_signal_loses_no_mismatch(which, tmp_path):
    process, log = _running(tmp_path / "soak")
    process.send_signal(which)
    done = finish(process)
    assert done.returncode == ROW_FAILED and "the soak did not finish" in done.stdout and "interrupted" in done.stderr
    events = [json.loads(line) for line in log.read_text().splitlines()]
    assert events[-1]["event"] == "end" and events[-1]["interrupted"]
    again = strict_json(ridgebench("soak", "--read", tmp_path / "soak", "--json").stdout)
    assert again["mismatches"] == len(_mismatches(events)) > 20


def test_kill_loses_no_mismatch(tmp_path):
    process, log = _running(tmp_path / "soak")
    process.kill()
    finish(process)
    *lines, _ = log.read_text().split("\n")
    counted = len(_mismatches(map(json.loads, lines)))
    done = ridgebench("soak", "--read", tmp_path / "soak", "--json")
    assert done.returncode == ROW_FAILED and strict_json(done.stdout)["mismatches"] == counted > 20


def test_a_lost_device_keeps_the_log(tmp_path):
    words = ("--minutes", "60", *SMALL[2:])  # it ends when the device is lost
    done = ridgebench("soak", "--device", "sim:lose=40", *words, "--out", tmp_path / "soak", env=environment(RIDGEBENCH_INJECT_FAULT="once"))
    assert done.returncode == DEVICE_LOST and "WRONG: 1 wrong bit in 1 mismatch" in done.stdout and "was lost" in done.stderr
    assert strict_json(ridgebench("soak", "--read", tmp_path / "soak", "--json").stdout)["mismatches"] == 1


def test_an_interrupted_soak_without_errors_is_undecided(tmp_path):
    process = start("soak", "--device", "sim", "--minutes", "60", *SMALL[2:], "--out", tmp_path / "soak")
    log = tmp_path / "soak" / "soak.jsonl"
    wait_until(lambda: (log.exists() and log.read_text().count("\n") > 0) or process.poll() is not None)
    process.send_signal(signal.SIGINT)
    assert finish(process).returncode == UNDECIDED
    assert "the soak did not finish" in ridgebench("verify", tmp_path / "soak").stderr


def test_verify_checks_the_files_of_a_soak(tmp_path):
    _soak(tmp_path / "soak")
    sound = ridgebench("verify", tmp_path / "soak")
    assert sound.returncode == OK and sound.stdout.endswith("soak: sound\n") and sound.stderr == ""
    log = tmp_path / "soak" / "soak.jsonl"
    log.write_text(log.read_text().replace('"event":"progress"', '"event": "progress"', 1))
    changed = ridgebench("verify", tmp_path / "soak")
    assert changed.returncode == ROW_FAILED and "soak.jsonl is not what the run wrote" in changed.stderr


def test_refusals(tmp_path):
    for share in ("97%", "0", "-1"):
        refused(ridgebench("soak", "--device", "sim", f"--memory={share}"), f"--memory is {share}", "allowed: above 0, up to 95%")
    refused(ridgebench("soak", "--device", "sim", "--slow=-1"), "--slow is -1", "allowed: 0 or more, such as 10%")
    refused(ridgebench(*SIM, "--op", "softmax", "--technique", "naive", "--out", tmp_path / "a"), "allowed: hand-written")
    refused(ridgebench("soak", "--read", tmp_path), "holds no soak", "allowed: ")
    refused(ridgebench(*SIM, env=environment(RIDGEBENCH_INJECT_FAULT="twice")), "'twice'", "allowed: once, stuck")
    (tmp_path / "soak.jsonl").write_text('{"event":"begin"}\n')
    refused(ridgebench("soak", "--read", tmp_path), "soak.jsonl:1", "device")


def test_dry_run_lists_the_kernels(tmp_path):
    done = ridgebench(*SIM, "--dry-run", cwd=tmp_path)
    assert done.returncode == OK and re.search(_PRODUCT, done.stdout) and "memory patterns" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_other_commands_name_what_the_folder_holds(tmp_path):
    _soak(tmp_path / "soak")
    assert "holds a soak" in one_line(ridgebench("show", tmp_path / "soak"), 2)
