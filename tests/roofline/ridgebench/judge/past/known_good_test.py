"""Baselines of a model: how few runs describe, how many judge, tolerances, and a check that measures."""

import json

import pytest
from baseline_command import call
from baseline_test import ROWS, make_run
from command_line import BINARY, ROOT, ridgebench
from golden import GOLDEN, change_records, full_disk, read_environment
from ridgebench.data import program
from ridgebench.judge.past import baseline_store, check_run
from synthetic_session import UNTIMED, record, write_run


def made_by(machine: str) -> dict:
    return {"host": read_environment(GOLDEN)["host"] | {"hostname_hash": machine}}


def promote(tmp_path, *runs) -> str:
    assert call("promote", "--model", *runs, "--into", tmp_path / "into") == 0
    [path] = (tmp_path / "into").rglob("*.jsonl")
    return path


def checked(path, run, *options) -> tuple[int, dict]:
    report = path.parent / f"{run.name}.json"
    return call("check", path, run, "--json", report, *options), json.loads(report.read_text())


def verdicts(report: dict) -> set[str]:
    return {row["verdict"] for row in report["rows"]}


def test_one_run_describes_and_never_says_same(tmp_path):
    path = promote(tmp_path, make_run(tmp_path, 1))
    assert path.parts[-2:] == ("model", "1.jsonl")
    code, report = checked(path, make_run(tmp_path, 2))
    assert (code, verdicts(report), report["preset"]) == (0, {"DESCRIBED"}, None)
    assert all(row["smallest_change"] == pytest.approx(0.10) for row in report["rows"])
    assert any("1 run of 1 machine" in note for note in report["notes"])
    assert {row["id"] for row in report["rows"]} == set(ROWS)


@pytest.mark.parametrize(("factor", "code"), [(1.05, 0), (1.15, 4), (0.5, 0)])
def test_a_few_runs_find_what_is_beyond_the_floor(factor, code, tmp_path):
    path = promote(tmp_path, *(make_run(tmp_path, n) for n in range(1, 4)))
    found, report = checked(path, make_run(tmp_path, 9, factor))
    assert (found, verdicts(report)) == (code, {"WORSE"} if code else {"DESCRIBED"})


def test_ten_runs_of_one_machine_are_one_machine_of_a_model(tmp_path):
    path = promote(tmp_path, *(make_run(tmp_path, n) for n in range(1, 13)))
    assert verdicts(checked(path, make_run(tmp_path, 50))[1]) == {"DESCRIBED"}


def test_ten_machines_judge_the_next_by_their_newest_runs(tmp_path):
    runs = [make_run(tmp_path, n, **made_by(f"machine{n % 10}")) for n in range(1, 21)]
    path = promote(tmp_path, *runs)
    code, report = checked(path, make_run(tmp_path, 50, **made_by("new")))
    assert (code, verdicts(report)) == (0, {"SAME"})
    assert {row["pairs"] for row in report["rows"]} == {10}
    assert any("20 runs of 10 machines" in note for note in report["notes"])
    assert checked(path, make_run(tmp_path, 51, 1.05, **made_by("slow")))[0] == 4


def test_the_runs_of_two_machines_are_no_baseline_of_one(tmp_path, capsys):
    runs = [make_run(tmp_path, n, **made_by(f"machine{n % 2}")) for n in range(1, 13)]
    assert call("promote", *runs, "--into", tmp_path / "into") == 2
    assert "2 machines; allowed: one, or --model" in capsys.readouterr().err


def of_gpu(uuid: str) -> dict:
    return {"devices": [read_environment(GOLDEN)["devices"][0] | {"backend": "cuda", "uuid_hash": uuid}]}


@pytest.mark.parametrize(("key", "machine"), [("host.hostname_hash", made_by), ("uuid_hash", of_gpu)])
def test_a_run_of_another_machine_is_refused_by_a_baseline_of_one(tmp_path, capsys, key, machine):
    runs = [make_run(tmp_path, n, **machine("first")) for n in range(1, 11)]
    assert call("promote", *runs, "--into", tmp_path / "into") == 0
    [path] = (tmp_path / "into").rglob("*.jsonl")
    capsys.readouterr()
    other = make_run(tmp_path, 50, 1.08, **machine("second"))
    assert call("check", path, other) == 5
    assert f"NOT_COMPARABLE: {key}: first against second" in capsys.readouterr().err
    assert call("check", path, other, "--allow-mismatch", key) == 4
    assert call("check", path, make_run(tmp_path, 51, **machine("first"))) == 0


def test_a_gpu_in_another_host_is_the_same_machine(tmp_path):
    runs = [make_run(tmp_path, n, **of_gpu("gpu"), **made_by("first")) for n in range(1, 11)]
    assert call("promote", *runs, "--into", tmp_path / "into") == 0
    [path] = (tmp_path / "into").rglob("*.jsonl")
    code, report = checked(path, make_run(tmp_path, 50, **of_gpu("gpu"), **made_by("second")))
    assert (code, verdicts(report)) == (0, {"SAME"})
    assert "host.hostname_hash: first against second" in report["notes"]


def test_a_check_says_first_that_the_baseline_has_the_run(tmp_path):
    runs = [make_run(tmp_path, n) for n in range(1, 4)]
    path = promote(tmp_path, *runs)
    assert checked(path, runs[1])[1]["notes"][0] == "the baseline has this run, run2: it is compared with itself, too"
    assert not any("itself" in note for note in checked(path, make_run(tmp_path, 9))[1]["notes"])


@pytest.mark.parametrize("cached", [True, False])
def test_a_row_that_caches_served_is_compared_with_its_like(tmp_path, cached):
    def run(number: int, by_caches: bool):
        flags = [["served_by_cache"] if by_caches else [], []]
        rows = [record(name, 1e-3, flags=some) for name, some in zip(ROWS, flags)]
        return write_run(tmp_path / f"run{number}", rows, {"run_id": f"run{number}", "started": f"2026-01-{number:02}T00:00:00Z"})

    path = promote(tmp_path, *(run(number, cached) for number in range(1, 4)))
    code, report = checked(path, run(4, not cached))
    only = "baseline" if cached else "run"
    assert code == 5 and [(row["verdict"], row["reason"]) for row in report["rows"]][0] == (
        "NOT_COMPARABLE", f"caches may have served the {only} only (served_by_cache)")
    assert [row["verdict"] for row in report["rows"]][1] == "DESCRIBED"
    assert checked(path, run(5, cached))[0] == 0
    older = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps({key: value for key, value in line.items() if key != "served_by_cache"}) + "\n" for line in older))
    assert checked(path, run(6, not cached))[0] == 0, "lines of an older baseline do not say it"


def test_another_build_of_a_model_is_noted_and_another_model_refused(tmp_path):
    path = promote(tmp_path, make_run(tmp_path, 1))
    build = read_environment(GOLDEN)["build"] | {"compiler": "clang 19"}
    code, report = checked(path, make_run(tmp_path, 2, build=build))
    assert code == 0 and any(note.startswith("build.compiler: ") for note in report["notes"])
    devices = [read_environment(GOLDEN)["devices"][0] | {"threads": 3}]
    assert checked(path, make_run(tmp_path, 3, devices=devices))[0] == 5


def test_each_device_of_a_run_stands_against_its_model(tmp_path):
    [device] = read_environment(GOLDEN)["devices"]
    devices = [device | {"name": name} for name in ("cpu", "sim")]
    path = promote(tmp_path, make_run(tmp_path, 1))
    records = [record(f"dot/a@{name}", 1e-3 * factor, device=name) for name, factor in (("cpu", 1), ("sim", 1.2))]
    run = write_run(tmp_path / "two", records, {"run_id": "two", "devices": devices})
    code, report = checked(path, run)
    assert code == 4
    assert {row["id"]: row["verdict"] for row in report["rows"]} == {"dot/a@cpu": "DESCRIBED", "dot/a@sim": "WORSE"}


def test_a_wrong_row_is_worse_than_a_missing_one(tmp_path):
    path = promote(tmp_path, make_run(tmp_path, 1))
    records = [record(ROWS[0], 1e-3), record(ROWS[1], 1e-3) | UNTIMED | {"status": "wrong", "reason": "differs"}]
    assert checked(path, write_run(tmp_path / "wrong", records, {"run_id": "wrong"}))[0] == 6


def test_tolerances_lie_next_to_the_baseline_of_a_machine(tmp_path):
    runs = [make_run(tmp_path, n) for n in range(1, 13)]
    assert call("promote", *runs, "--into", tmp_path / "into") == 0
    [path] = (tmp_path / "into").rglob("*.jsonl")
    slow = make_run(tmp_path, 70, 1.05)
    assert checked(path, slow)[0] == 4
    (path.parent / "tolerances.toml").write_text('[tolerance]\n"^dot/" = "8 %"\n')
    code, report = checked(path, slow)
    assert (code, {row["tolerance"] for row in report["rows"]}) == (0, {0.08})
    (tmp_path / "other.toml").write_text('[allow]\n"^dot/a" = { reason = "known" }\n')
    code, report = checked(path, slow, "--tolerances", tmp_path / "other.toml")
    assert (code, verdicts(report)) == (4, {"ALLOWED", "WORSE"})


def test_a_baseline_from_before_machines_were_named_still_serves(tmp_path):
    runs = [make_run(tmp_path, n) for n in range(1, 13)]
    assert call("promote", *runs, "--into", tmp_path / "into") == 0
    [path] = (tmp_path / "into").rglob("*.jsonl")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps({k: v for k, v in line.items() if k != "machine"}) + "\n" for line in lines))
    assert checked(path, make_run(tmp_path, 70))[0] == 0
    assert checked(path, make_run(tmp_path, 71, 1.05))[0] == 4


def test_a_machine_is_its_gpus_or_the_host():
    host = {"host": {"hostname_hash": "h"}}
    names = [
        baseline_store.machine_of(host | {"devices": [{"uuid_hash": one} for one in hashes]})
        for hashes in ((None,), ("a",), ("a", "b"), ("b", "a"), ("a", "c"))
    ]
    assert names[:2] == ["h", "a"] and names[2] == names[3] != names[4]


def test_list_names_each_baseline_and_the_change_that_it_detects(tmp_path, capsys):
    assert call("list", tmp_path) == 2 and "no baseline" in capsys.readouterr().err
    runs = [make_run(tmp_path, n) for n in range(1, 13)]
    assert call("promote", *runs, "--into", tmp_path / "into") == 0
    promote_line = capsys.readouterr().out
    assert "12 runs of 1 machine, method 1, 2026-01-02 to 2026-01-13" in promote_line
    assert call("promote", "--model", runs[0], "--into", tmp_path / "into") == 0
    capsys.readouterr()
    assert call("list", tmp_path / "into") == 0
    _, machine, model = capsys.readouterr().out.splitlines()
    assert "2 judged" in machine and "in the median row" in machine
    assert "describes" in model and "floor of 10 %" in model


@pytest.mark.parametrize("option", ["--history", "--json"])
def test_a_file_that_cannot_be_written_is_found_before_the_measuring(tmp_path, monkeypatch, capsys, option):
    path = promote(tmp_path, make_run(tmp_path, 1))
    monkeypatch.setattr(check_run, "measure", lambda *_: pytest.fail("it measured"))
    assert call("check", path, "--run", option, tmp_path / "absent" / "x") == 2
    error = capsys.readouterr().err
    assert "/absent/x: No such file or directory; allowed: a file in a folder that exists" in error and error.count("\n") == 1


def test_a_full_disk_ends_promote_with_3(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(baseline_store, "promote_model", lambda *_: full_disk("1.jsonl"))
    assert call("promote", "--model", make_run(tmp_path, 1), "--into", tmp_path / "into") == 3
    assert capsys.readouterr().err == "baseline: 1.jsonl: No space left on device\n"


def test_a_history_of_checks_can_be_drawn(tmp_path):
    path, history = promote(tmp_path, make_run(tmp_path, 1)), tmp_path / "history.jsonl"
    for number in (2, 3):
        assert call("check", path, make_run(tmp_path, number), "--history", history) == 0
    assert len(history.read_text().splitlines()) == 2 * len(ROWS)


@pytest.fixture(name="simulated", scope="module")
def simulated_fixture(tmp_path_factory):
    """The baseline of three runs of the simulated device."""
    folder = tmp_path_factory.mktemp("simulated")
    chosen = ("--filter", "^(dram_copy|fma_peak|relu/(naive|streaming)/fp32)", "--budget", "2")
    for seed in (1, 2, 3):
        done = ridgebench("run", "--device", f"sim:seed={seed}", *chosen, "--out", folder / str(seed))
        assert done.returncode == 0, done.stderr
    return promote(folder, *(folder / str(seed) for seed in (1, 2, 3)))


def measured(simulated, out, device, *options) -> int:
    return call("check", simulated, "--run", "--device", device, "--budget", "2", "--out", out, *options)


def test_check_measures_one_row_of_each_kind_and_judges(simulated, tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(program, "binary", lambda: BINARY)
    monkeypatch.setenv("OMP_WAIT_POLICY", "passive")  # as in the runs of the baseline: it changes results
    assert measured(simulated, tmp_path / "well", "sim:seed=4", "--json", tmp_path / "report.json") == 0
    names = [row["id"] for row in json.loads((tmp_path / "report.json").read_text())["rows"]]
    assert {name.split("/")[0] for name in names} == {"dram_copy", "fma_peak", "relu"}
    assert [name for name in names if name.startswith("relu")] == ["relu/streaming/fp32/n:131072/steady@sim"]
    assert measured(simulated, tmp_path / "slow", "sim:seed=4,slow=1.3") == 4
    assert "WORSE" in capfd.readouterr().out


def test_check_that_cannot_measure_has_the_code_of_the_run(simulated, tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(program, "binary", lambda: BINARY)
    monkeypatch.setenv("OMP_WAIT_POLICY", "passive")
    assert measured(simulated, tmp_path / "lost", "sim:lose=1") == 7
    assert "nothing was checked: the run ended with exit code 7" in capfd.readouterr().err


@pytest.mark.parametrize("options", [["--budget", "5"], ["--run", "x"], [], ["x", "--filter", "nothing"], ["x", "--filter", "("]])
def test_options_that_make_no_sense_together(options, tmp_path, capsys):
    path = promote(tmp_path, make_run(tmp_path, 1))
    capsys.readouterr()
    assert call("check", path, *options) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_published_runs_describe_their_model(tmp_path, capsys):
    published = ROOT / "results" / "nvidia-h200" / "2026-11-22-7f6e7b5"
    path = promote(tmp_path, published)
    assert path.parts[-4:] == ("nvidia-h200", "580-13.0", "model", "1.jsonl")
    assert "1 run of 1 machine, driver branch 580, CUDA 13.0, method 1" in capsys.readouterr().out
    assert call("check", path, published) == 0
    assert "192 described" in capsys.readouterr().out


def with_bits(folder, bits: str):
    change_records(folder, lambda one: one | {"fingerprint": bits})
    return folder


def test_bits_of_a_baseline_judge_the_next_run(tmp_path):
    right, wrong = "0123456789abcdef", "fedcba9876543210"
    one, two = (with_bits(make_run(tmp_path, n, **made_by(f"machine{n}")), right) for n in (1, 2))
    path = promote(tmp_path, one)
    code, report = checked(path, with_bits(make_run(tmp_path, 10, **made_by("new")), wrong))
    assert (code, verdicts(report)) == (0, {"DESCRIBED"}) and "two machines cannot vote" in report["rows"][0]["reason"]
    code, report = checked(path, with_bits(make_run(tmp_path, 11, **made_by("machine1")), wrong))
    assert (code, verdicts(report)) == (6, {"FAILED"}) and "the same machine" in report["rows"][0]["reason"]
    path = promote(tmp_path, two)
    code, report = checked(path, with_bits(make_run(tmp_path, 12, **made_by("newer")), wrong))
    assert (code, verdicts(report)) == (6, {"FAILED"}) and "2 of 2 machines of the baseline" in report["rows"][0]["reason"]
    code, report = checked(path, with_bits(make_run(tmp_path, 13, **made_by("newest")), right))
    assert (code, verdicts(report)) == (0, {"DESCRIBED"})
