"""`run --concurrent` on a node of simulated GPUs: each alone, then all together."""

import os
import re

import pytest
from command_line import DEVICE_LOST, OK, ROOT, ROW_FAILED, ids, read_environment, records, refused, ridgebench, schema
from simulated_node import EIGHT, PASSES, ROWS, Node, states_of

ENVIRONMENT, RECORD = schema("environment"), schema("record")


@pytest.fixture(scope="module", name="healthy")
def healthy_fixture(tmp_path_factory):
    node = Node(tmp_path_factory.mktemp("healthy"), EIGHT, "gn1")
    done = node.run()
    assert done.returncode == OK, done.stderr
    return node, done


def test_every_gpu_runs_alone_and_then_with_all_others(healthy):
    node, _ = healthy
    found = node.read()
    assert (found["node"], found["exit"], found["budget_s"]) == ("gn1", OK, 4)
    assert [gpu["device"] for gpu in found["gpus"]] == [f"sim:{i}" for i in range(8)]
    assert len({gpu["uuid_hash"] for gpu in found["gpus"]}) == 8
    isolated, loaded = ([gpu["passes"][which] for gpu in found["gpus"]] for which in PASSES)
    for one, next_one in zip(isolated, isolated[1:]):
        assert one["ended"] <= next_one["started"]
    assert len({one["started"] for one in loaded}) <= 2, "one moment, which may be between two seconds"
    assert max(one["started"] for one in loaded) <= min(one["ended"] for one in loaded)
    node.check_sound(range(8))
    of_all = [ids(node.folder / one["folder"]) for one in (*isolated, *loaded)]
    assert len({tuple(row.split("@")[0] for row in rows) for rows in of_all}) == 1, "the same rows in the same order"
    for gpu in found["gpus"]:
        for which in PASSES:
            folder = node.folder / gpu["passes"][which]["folder"]
            described = read_environment(folder)
            assert list(ENVIRONMENT.iter_errors(described)) == []
            assert list(RECORD.iter_errors(records(folder)[0])) == []
            (device,) = described["devices"]
            assert (device["name"], device["uuid_hash"]) == (gpu["device"], gpu["uuid_hash"])


def test_the_budget_is_for_the_whole_command(healthy):
    node, _ = healthy
    shares = {which: read_environment(node.folder / which / "sim-3")["budget_s"] for which in PASSES}
    assert shares == {"isolated": 4 / 2 / 8, "loaded": 4 / 2}


def test_the_table_fits_100_columns_and_finds_no_healthy_gpu_odd(healthy):
    node, done = healthy
    assert states_of(done.stdout) == ["ok"] * 8
    assert max(len(line) for line in done.stdout.splitlines()) <= 100
    assert "SLOW" not in done.stdout and "FAST" not in done.stdout
    assert done.stderr.endswith(f"results: {node.folder}\n")


def test_one_gpu_that_is_8_percent_slow_is_marked_and_no_other(tmp_path):
    texts = [f"{text},draw=300,power_limit=700,idle=90" for text in EIGHT]
    texts[5] += ",slow=1.08"
    node = Node(tmp_path, texts, "gn1")
    done = node.run("--filter", "^(dram_read|dram_copy|fma_peak|relu/naive)/.*fp32", "--budget", "16")
    assert done.returncode == OK, "a slow row is right; the report of a fleet judges"
    assert states_of(done.stdout) == ["ok"] * 5 + ["SLOW > 6 %"] + ["ok"] * 2
    page = re.search(r"```\n(node gn1: .*?)```", (ROOT / "docs/operate/node.md").read_text("utf-8"), re.DOTALL)[1]
    assert states_of(page) == states_of(done.stdout)
    for line in (0, 1, -1):
        assert page.splitlines()[line].split() == done.stdout.splitlines()[line].split(), "the page shows such a run"
    assert re.search(r"^sim:5 (isolated|loaded) SLOW at 9\d\.\d %, z -", done.stdout, re.MULTILINE)
    assert re.search(r"^\S+ +isolated.* 9[0-9]\.[0-9]!", done.stdout, re.MULTILINE)
    assert max(len(line) for line in done.stdout.splitlines()) <= 100


def test_fewer_than_eight_gpus_get_no_verdict(tmp_path):
    node = Node(tmp_path, [*EIGHT[:3], "seed=4,slow=1.08"])
    done = node.run()
    assert done.returncode == OK
    assert "SLOW" not in done.stdout and ", z " not in done.stdout
    assert states_of(done.stdout) == ["ok", "ok", "ok", "differs"]
    assert "no verdict: z needs 8 comparable GPUs" in done.stdout


def test_gpus_of_another_model_are_no_yardstick(tmp_path):
    node = Node(tmp_path, [*EIGHT, "seed=9,slow=2,model=another,driver=580.1"])
    done = node.run()
    assert done.returncode == OK and states_of(done.stdout)[8] == "ok"
    described = read_environment(node.folder / "loaded" / "sim-8")
    assert list(ENVIRONMENT.iter_errors(described)) == []
    assert (described["devices"][0]["model"], described["devices"][0]["driver"]) == ("another", "580.1")


def test_rows_at_the_power_limit_are_judged_in_cycles(tmp_path):
    node = Node(tmp_path, [f"{text},cap=0.1" for text in EIGHT[:7]] + ["seed=8,cap=0.2"])
    done = node.run()
    assert done.returncode == OK
    assert states_of(done.stdout)[7] == "ok", "its clock is 11 % lower, its cycles are those of the others"
    assert "in cycles: at the power limit" in done.stdout


def test_dry_run_writes_nothing(tmp_path):
    node = Node(tmp_path, EIGHT[:2])
    done = node.run("--dry-run", *ROWS, "--budget", "8")
    assert done.returncode == OK and not node.folder.exists()
    assert done.stdout.splitlines()[:4] == [
        "isolated sim:0 2 s",
        "isolated sim:1 2 s",
        "loaded   sim:0 4 s",
        "loaded   sim:1 4 s",
    ]


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("--device", "cpu"), "--device cpu with --concurrent; allowed: sim:0, sim:1"),
        (("--device", "all"), "allowed: sim:0, sim:1"),
        (("--junit", "file.xml"), "--junit"),
        (("--take-turns",), "--take-turns"),
        (("--benchmark_out=file.json",), "allowed: --benchmark_filter"),
        (("--budget", "0.001"), "--budget 0.001 for 2 GPUs; allowed: 0.004 s or more"),
        (("--profile", "none"), "quick, standard, full"),
        (("--filter", "no such row"), "no such row"),
    ],
)
def test_what_makes_no_sense_for_a_node_is_refused(words, part, tmp_path):
    node = Node(tmp_path, EIGHT[:2])
    refused(node.run(*words), part)
    assert not node.folder.exists()


def test_a_folder_with_a_run_is_refused(healthy):
    node, _ = healthy
    before = node.read()
    refused(node.run(), str(node.folder), "empty or new folder")
    assert node.read() == before


def test_hang_limit_needs_concurrent():
    refused(ridgebench("run", "--hang-limit", "5"), "--hang-limit", "--concurrent")


def test_without_a_gpu_the_code_is_7(tmp_path):
    if any(name.startswith("nvidia") for name in os.listdir("/dev")):
        pytest.skip("this machine has a GPU")
    done = ridgebench("run", "--concurrent", "--out", tmp_path / "node")
    refused(done, "no GPU", code=DEVICE_LOST)
    assert not (tmp_path / "node").exists()


BITS = ("--fingerprint", "--filter", "^relu/naive/fp32/", "--budget", "4")


def test_a_wrong_multiprocessor_is_found_by_the_bits_of_the_others(tmp_path):
    texts = [f"{text},units=4" for text in EIGHT[:3]]
    texts[1] += ",wrong_sm=2"
    node = Node(tmp_path, texts)
    done = node.run(*BITS)
    assert done.returncode == ROW_FAILED == node.read()["exit"]
    assert re.search(r"^WRONG BITS sim:1: SM 2 computes other bits in unit_products/by_thread/", done.stdout, re.MULTILINE)
    assert done.stdout.count("WRONG BITS") == 1
    assert "\nsim:1 has no vote on other GPUs: its multiprocessors are outvoted\n" in done.stdout


def test_a_gpu_by_itself_names_its_wrong_multiprocessor(tmp_path):
    for device, code in (("sim:units=4,wrong_sm=2", ROW_FAILED), ("sim:units=4", OK), ("sim:units=2,wrong_sm=1", OK)):
        done = ridgebench("run", "--device", device, *BITS, "--out", tmp_path / device)
        assert done.returncode == code, (device, done.stderr)
        wrong = [row["reason"] for row in records(tmp_path / device) if row["status"] == "wrong"]
        assert all(reason == "SM 2 computes other bits than most of 4" for reason in wrong)
        assert bool(wrong) == (code == ROW_FAILED)


def test_two_gpus_with_other_bits_cannot_vote(tmp_path):
    node = Node(tmp_path, ["seed=1,units=2", "seed=2,units=2,wrong_sm=1"])
    done = node.run("--filter", "^relu/naive/fp32/", "--budget", "4")
    assert done.returncode == OK and "two GPUs cannot vote" in done.stdout and "WRONG" not in done.stdout


def test_healthy_gpus_have_equal_bits(tmp_path):
    node = Node(tmp_path, EIGHT[:3])
    done = node.run(*BITS)
    assert done.returncode == OK and "bits" not in done.stdout
    folders = [node.folder / which / f"sim-{index}" for which in PASSES for index in range(3)]
    found = [{row["id"].split("@")[0]: row["fingerprint"] for row in records(folder)} for folder in folders]
    assert all(one == found[0] for one in found) and any(row.startswith("unit_products/") for row in found[0])
    assert all(re.fullmatch("[0-9a-f]{16}", bits) for bits in found[0].values())
    units = [row["telemetry"]["unit_fingerprints"] for row in records(folders[0]) if row["op"] == "unit_products"]
    assert len(units) == 3 and all(len(set(one)) == 1 for one in units)
