"""Links between ranks: collectives, ZeRO, and tensor parallelism; rates of links that another tool measured."""

import json
from pathlib import Path

import pytest
from command_line import ROOT, answer, records, refused, ridgebench

NVLINK4 = 450e9


def plan(words: str) -> dict:
    return answer("plan", *words.split())


@pytest.mark.parametrize(("name", "share"), [("all-reduce", 7 / 4), ("all-gather", 7 / 8), ("reduce-scatter", 7 / 8), ("all-to-all", 7 / 8),
                                             ("gather", 7 / 8), ("scatter", 7 / 8), ("broadcast", 1), ("reduce", 1), ("send-receive", 1)])
def test_a_collective_takes_the_time_of_what_a_rank_sends(name, share):
    reply = plan(f"transfer --bytes 1G --link nvlink4 --collective {name} --ranks 8")
    assert reply["communication_bytes"] == pytest.approx(share * 1e9)
    assert reply["time_s"] == pytest.approx(share * 1e9 / NVLINK4)
    assert (reply["inputs"]["collective"], reply["inputs"]["ranks"]) == (name, 8)
    assert "each rank sends over a link of its own" in reply["note"]
    assert plan(f"transfer --bytes 1G --link nvlink4 --collective {name} --ranks 1")["time_s"] == 0


def test_an_import_of_nccl_tests_has_the_bytes_of_the_program(tmp_path):
    ranks = "".join(f"#  Rank  {n} Group  0 Pid 1 on node device  {n} [0000:0{n}:00] GPU\n" for n in range(4))
    for number, (name, share) in enumerate((("all_reduce", 1.5), ("all_gather", 0.75), ("reduce_scatter", 0.75), ("alltoall", 0.75),
                                            ("gather", 0.75), ("scatter", 0.75), ("broadcast", 1), ("reduce", 1), ("sendrecv", 1))):
        table = tmp_path / name
        table.write_text(f"{name}_perf\n{ranks}# size count type time algbw busbw error time algbw busbw error\n"
                         f"1000000 250000 float 10 100 {100 * share} 0e+00 20 50 {50 * share} 0e+00\n")
        out = tmp_path / f"out{number}"
        assert ridgebench("import", "nccl-tests", table, "-o", out).returncode == 0
        assert [row["bytes"] for row in records(out)] == [1e6 * share] * 2


def test_a_collective_takes_the_copies_between_gpus(tmp_path):
    out = tmp_path / "copies"
    assert ridgebench("import", "nvbandwidth", ROOT / "tests/data/imports/nvbandwidth.json", "--buffer-size", "512", "-o", out).returncode == 0
    words = ("plan", "transfer", "--bytes", "1G", "--link", out, "--collective", "all-gather", "--ranks", "2")
    assert answer(*words)["terms"][0]["value"] == pytest.approx(396.4e9)
    assert answer(*words, "--direction", "to-host")["terms"][0]["value"] == pytest.approx(55.01e9)


def imported_copies(folder: Path, **tests: list[list[str]]) -> Path:
    """A results folder of nvbandwidth's copies between GPUs: the matrix of each test in GB/s."""
    cases = [{"name": f"device_to_device_memcpy_{name}", "status": "Passed", "bandwidth_matrix": matrix,
              "bandwidth_description": "memcpy GPU(row) -> GPU(column) bandwidth (GB/s)"} for name, matrix in tests.items()]
    folder.mkdir(exist_ok=True)
    file = folder / "three_gpus.json"
    file.write_text(json.dumps({"nvbandwidth": {"bufferSize": 512, "testcases": cases}}))
    done = ridgebench("import", "nvbandwidth", file, "-o", folder / "out")
    assert done.returncode == 0, done.stderr
    return folder / "out"


NO = "N/A"
# One pair of three is slow, in one direction. Kernels are slower than the copy engine at each pair but that.
ENGINE = [[NO, "400", "390"], ["395", NO, "380"], ["385", "50", NO]]
KERNELS = [[NO, "300", "300"], ["300", NO, "300"], ["300", "40", NO]]


def test_a_ring_is_as_fast_as_its_slowest_pair(tmp_path):
    out = imported_copies(tmp_path, read_ce=ENGINE, read_sm=KERNELS)
    words = ("plan", "transfer", "--bytes", "1G", "--link", out, "--collective", "all-reduce", "--ranks", "3")
    reply = answer(*words)
    assert reply["time_s"] == pytest.approx(2 * 2 / 3 * 1e9 / 50e9)
    why = f"the rate of the link is 50 GB/s, that of cuda:2 to cuda:1, the slowest of 6 pairs in {out}, imported from three_gpus.json"
    assert why in reply["note"] and why in ridgebench(*words).stdout
    one = answer("plan", "transfer", "--bytes", "1G", "--link", out, "--direction", "peer")
    assert one["terms"][0]["value"] == pytest.approx(400e9), "a copy without a collective takes the fastest pair"


@pytest.mark.parametrize("words", [
    "plan zero --params 70B --ranks 3", "plan fits --params 70B --ranks 3 --layers 2 --width 64 --batch 8 --on h100-sxm",
    "plan parallel --model gpt-2 --batch 8 --ranks 4", "plan check --model gpt-2 --tokens 1G --mfu 0.4 --batch 1 --gpus 3 --on h100-sxm",
    "predict model gpt-2 --on h100-sxm --tensor-parallel 4"])
def test_every_answer_names_the_pair_of_its_link(words, tmp_path):
    out = imported_copies(tmp_path, read_ce=ENGINE)
    text = ridgebench(*words.split(), "--link", out).stdout
    assert "the rate of the link is 50 GB/s, that of cuda:2 to cuda:1, the slowest of 6 pairs in" in text
    assert "read_ce" in text and "unverified" in text


def test_pairs_without_a_rate_are_counted(tmp_path):
    out = imported_copies(tmp_path, read_ce=[[NO, "400", NO], ["395", NO, "380"], [NO, "50", NO]])
    note = plan(f"zero --params 1G --ranks 3 --link {out}")["note"]
    assert "the slowest of 4 pairs in" in note and note.endswith("; 2 pairs without a rate may be slower")
    assert "without a rate" not in plan(f"zero --params 1G --ranks 3 --link {imported_copies(tmp_path / 'all', read_ce=ENGINE)}")["note"]


def test_of_two_ways_to_copy_the_one_counts_whose_slowest_pair_is_faster(tmp_path):
    """Of those with the most pairs: a way that copies between two GPUs only says nothing of the third."""
    fast = [[NO, "300", "300"], ["300", NO, "300"], ["300", "90", NO]]
    few = [[NO, "400", NO], ["400", NO, NO], [NO, NO, NO]]
    out = imported_copies(tmp_path, read_ce=ENGINE, write_sm=fast, write_ce=few)
    assert plan(f"zero --params 1G --ranks 3 --stage 0 --link {out}")["terms"][-1]["value"] == pytest.approx(90e9)


def test_a_pair_that_an_older_import_does_not_name_is_refused(tmp_path):
    out = imported_copies(tmp_path, read_ce=ENGINE)
    lines = [json.loads(line) for line in (out / "records.jsonl").read_text().splitlines()]
    for record in lines:
        record["technique"] += f"_gpu0_gpu{record['shape'].pop('peer'):.0f}"
        record["id"] = f"copy_to_peer/{record['technique']}/fp32/bytes:536870912/steady@{record['device']}"
    (out / "records.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
    refused(ridgebench("plan", "zero", "--params", "1G", "--ranks", "3", "--link", out), "does not name its peer; allowed: a shape with peer")


@pytest.mark.parametrize("words", [
    "plan transfer --bytes 1G --collective all-reduce --ranks 1", "plan zero --params 70B --ranks 1",
    "plan fits --params 1B --layers 2 --width 64 --batch 8 --on h100-sxm", "plan parallel --model gpt-2 --batch 8 --ranks 1",
    "plan check --model gpt-2 --tokens 1G --mfu 0.4 --batch 1 --gpus 1 --on h100-sxm",
    "predict model gpt-2 --on h100-sxm --tensor-parallel 1"])
def test_one_rank_does_not_use_its_link(words):
    why = "one rank sends nothing, and the link is not used"
    assert why in ridgebench(*words.split(), "--link", "nvlink4").stdout
    if "transfer" not in words:
        assert why not in ridgebench(*words.split()).stdout


def test_a_collective_needs_its_ranks():
    for words, part in (("--collective all-reduce", "--ranks"), ("--ranks 8", "--collective"),
                        ("--collective gossip --ranks 8", "'gossip'; allowed: all-reduce"),
                        ("--collective all-reduce --ranks 1.5", "--ranks is 1.5")):
        refused(ridgebench("plan", "transfer", "--bytes", "1G", "--link", "1G", *words.split()), part)


def test_zero_and_fits_have_the_time_of_their_link():
    for row in plan("zero --params 70B --ranks 8 --link nvlink4")["stages"]:
        assert row["link_time_s"] == pytest.approx(row["communication_bytes"] / NVLINK4)
    one = plan("zero --params 70B --ranks 8 --stage 3 --link nvlink4")
    fits = plan("fits --params 70B --ranks 8 --stage 3 --layers 2 --width 64 --batch 8 --link nvlink4 --on h100-sxm")
    for key in ("communication_bytes", "link_time_s"):
        assert fits[key] == one[key] and one[key] > 0
    assert "link_time_s" not in plan("zero --params 70B --ranks 8 --stage 3")
    assert "communication_bytes" not in plan("fits --params 1B --layers 2 --width 64 --batch 8 --on h100-sxm")
    text = ridgebench("plan", "zero", "--params", "70B", "--ranks", "8", "--link", "nvlink4").stdout
    assert "sent per step      link\n" in text


def test_a_rank_of_tensor_parallelism_sends_sums_the_embedding_and_the_logits():
    reply = answer("predict", "model", "llama-3-70b", "--on", "h100-sxm", "--batch", "16", "--tensor-parallel", "8", "--link", "nvlink4")
    whole = answer("predict", "model", "llama-3-70b", "--on", "h100-sxm", "--batch", "16")
    assert (reply["ranks"], reply["link"], whole["ranks"], whole["link"]) == (8, "nvlink4", 1, None)
    assert reply["parameters"] == whole["parameters"] and reply["weights_bytes"] == whole["weights_bytes"] / 8
    for one, all_of_it in zip(reply["phases"], whole["phases"]):
        stream, logits = one["tokens"] * 8192 * 2, one["batch"] * 128256 * 2
        assert [part["bytes"] for part in one["communication"]] == [160 * 2 * stream * 7 / 8, 2 * stream * 7 / 8, logits * 7 / 8]
        assert one["communication_bytes"] == (160 + 1) * 2 * stream * 7 / 8 + logits * 7 / 8
        assert one["link_time_s"] == pytest.approx(one["communication_bytes"] / NVLINK4)
        assert one["flops"] == pytest.approx(all_of_it["flops"] / 8)
        assert (one["fits"], all_of_it["fits"]) == (True, False)
        assert all_of_it["communication_bytes"] is all_of_it["link_time_s"] is all_of_it["communication"] is None
    assert any("one rank" in note and "each of 162 collectives" in note for note in reply["notes"])


@pytest.mark.parametrize(("words", "part"), [
    ("--tensor-parallel 3", "--tensor-parallel is 3; allowed: a divisor of the 32 heads"), ("--tensor-parallel 0", "--tensor-parallel"),
    ("--tensor-parallel 8 --training", "--training"), ("--link nvlink4", "--tensor-parallel"),
    ("--tensor-parallel 8 --link usb", "'usb'")])
def test_ranks_that_a_model_cannot_have(words, part):
    refused(ridgebench("predict", "model", "llama-3-8b", "--on", "h100-sxm", *words.split()), part)


def test_copies_that_another_tool_measured(tmp_path):
    out = tmp_path / "imported"
    done = ridgebench("import", "nvbandwidth", ROOT / "tests/data/imports/nvbandwidth.json", "--buffer-size", "512", "-o", out)
    assert done.returncode == 0, done.stderr
    reply = plan(f"transfer --bytes 55.32G --link {out}")
    assert reply["time_s"] == pytest.approx(1)
    assert reply["inputs"]["rate_from"].endswith("@cuda:0, unverified")
    assert plan(f"zero --params 1G --ranks 2 --stage 0 --link {out}")["terms"][-1]["value"] == pytest.approx(396.4e9)
