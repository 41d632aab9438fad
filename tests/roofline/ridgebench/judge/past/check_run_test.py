"""`baseline check --run` measures what the baseline's runs measured, whatever options they had."""

import json

import pytest
from baseline_command import call
from baseline_test import make_run
from command_line import records, ridgebench
from synthetic_session import record, write_run

SHAPES = "relu 333 fp32\nmatmul m:33/n:44/k:55 fp32\nmatmul m:16,32/n:8/k:8/layout:tn fp32\n"
REQUESTS = {
    "shape": ("--op", "relu", "--shape", "4096", "--technique", "naive"),
    "shapes": ("--shapes", "FILE", "--technique", "naive"),
    "model": ("--model", "gpt-2", "--tokens", "4", "--training", "--op", "matmul", "--technique", "naive"),
    "regime": ("--op", "relu,dot", "--technique", "naive", "--regime", "cold", "--fill", "zeros"),
    "filter": ("--filter", "^(dram_copy|relu/naive)/", "--seed", "7", "--no-early"),
}


@pytest.fixture(autouse=True)
def variables_of_the_runs(program, monkeypatch):
    monkeypatch.setenv("OMP_WAIT_POLICY", "passive")  # as in the runs of the baseline: it changes results


def run(folder, *options):
    done = ridgebench("run", "--no-plot", "--device", "sim:seed=1", "--format", "fp32", *options, "--budget", "1", "--out", folder)
    assert done.returncode == 0, done.stderr
    return folder


def checked(tmp_path, folders, *options) -> dict:
    """The report of a check that measures, against the baseline of these runs."""
    assert call("promote", "--model", *folders, "--into", tmp_path / "into") == 0
    [path] = (tmp_path / "into").rglob("*.jsonl")
    report = tmp_path / "report.json"
    code = call("check", path, "--run", "--device", "sim:seed=2", "--budget", "1", "--out", tmp_path / "check", "--json", report, *options)
    return json.loads(report.read_text()) | {"code": code}


@pytest.mark.parametrize("name", REQUESTS)
def test_the_rows_of_a_baseline_are_measured_again(name, tmp_path):
    (tmp_path / "shapes").write_text(SHAPES)
    words = [str(tmp_path / "shapes") if word == "FILE" else word for word in REQUESTS[name]]
    mine = run(tmp_path / "run", *words)
    report = checked(tmp_path, [mine], "--filter", "/")
    kernels = {one["id"] for one in records(mine) if (one["role"], one["status"]) == ("kernel", "ok")}
    assert report["code"] == 0 and {row["verdict"] for row in report["rows"]} == {"DESCRIBED"}
    assert kernels and kernels <= {row["id"] for row in report["rows"]}


def test_runs_with_and_without_shapes_are_one_baseline(tmp_path):
    folders = [run(tmp_path / "profile", *REQUESTS["filter"][:2]), run(tmp_path / "shape", *REQUESTS["shape"])]
    report = checked(tmp_path, folders, "--filter", "^relu")
    assert report["code"] == 0
    assert sorted(row["id"] for row in report["rows"]) == ["relu/naive/fp32/n:4096/steady@sim", "relu/naive/fp32/n:8192/steady@sim"]


def test_a_baseline_of_one_regime_is_checked_without_a_filter(tmp_path):
    report = checked(tmp_path, [run(tmp_path / "run", *REQUESTS["regime"])])
    assert {row["id"] for row in report["rows"] if "/cold" in row["id"]} == {f"{op}/naive/fp32/n:8192/cold@sim" for op in ("dot", "relu")}


@pytest.mark.parametrize(("rows", "options", "says"), [
    (["mine/best/fp32/n:3/steady@sim"], [], "mine"),
    (["dram_copy/streaming/fp32/n:7/steady@sim"], [], "cannot measure this row here"),
    (["relu/naive/fp32/n:8192/cold@sim", "relu/naive/fp32/n:8192/warm@sim"], ["--filter", "relu"], "regimes cold, warm"),
])
def test_rows_that_no_run_measures_are_refused_before_it(rows, options, says, tmp_path, capsys):
    told = {"regimes": ["cold"], "profile": "quick"}
    runs = [write_run(tmp_path / f"r{n}", [record(name, 1e-3, device="sim") for name in rows], told | {"run_id": f"r{n}", "devices": [
        {**json.loads((make_run(tmp_path / "m", n) / "environment.json").read_text())["devices"][0], "name": "sim"}]}) for n in range(10)]
    assert call("promote", *runs, "--into", tmp_path / "into") == 0
    [path] = (tmp_path / "into").rglob("*.jsonl")
    capsys.readouterr()
    assert call("check", path, "--run", "--out", tmp_path / "check", *options) == 2
    error = capsys.readouterr().err
    assert says in error and error.count("\n") == 1 and not (tmp_path / "check").exists()


@pytest.mark.parametrize("key", ["model", "hostname_hash"])
def test_another_machine_is_refused_before_it_is_measured(key, tmp_path, capsys):
    """With the message and the code of a check of a run, and compared all the same if the key may differ."""
    mine = run(tmp_path / "run", *REQUESTS["shape"])
    assert call("promote", "--model", mine, "--into", tmp_path / "into") == 0
    [path] = (tmp_path / "into").rglob("*.jsonl")
    store = path.with_suffix(".environment.json")
    told = json.loads(store.read_text())
    if key == "model":
        told["devices"][0]["model"] = "another"
    else:  # a baseline of a machine, whose rows name the device
        told["devices"][0]["backend"] = "cpu"
        told["host"]["hostname_hash"] = "another"
        path.write_text("".join(json.dumps(one | {"id": one["id"] + "@sim"}) + "\n" for one in map(json.loads, path.open())))
    store.write_text(json.dumps(told))
    capsys.readouterr()
    said = []
    for words in ([mine], ["--run", "--device", "sim:seed=2", "--budget", "1", "--out", tmp_path / "check"]):
        said.append((call("check", path, *words), capsys.readouterr().err))
    assert said[0] == said[1] and said[0][0] == 5 and f"{key}: another against" in said[0][1]
    assert not (tmp_path / "check").exists()
    if key == "model":
        assert call("check", path, *words, "--allow-mismatch", key) == 0 and (tmp_path / "check").exists()


@pytest.mark.parametrize("told", [{"interrupted": True}, {"ended": None}])
def test_a_run_that_did_not_end_is_no_part_of_a_baseline(told, tmp_path, capsys):
    runs = [make_run(tmp_path, number, **(told if number == 5 else {})) for number in range(1, 13)]
    for words in (["--model", runs[4]], runs):
        assert call("promote", *words, "--into", tmp_path / "into") == 2
        assert "run5: the run" in (error := capsys.readouterr().err) and "--resume" in error
    assert not (tmp_path / "into").exists()


def test_baselines_go_below_the_current_folder(tmp_path):
    """A checkout's program and an installed one have one default, and no path that nobody typed is refused."""
    mine, here = make_run(tmp_path, 1), tmp_path / "here"
    here.mkdir()
    done = ridgebench("baseline", "promote", "--model", mine, cwd=here)
    assert done.returncode == 0 and done.stdout.startswith("results/baselines/"), done.stderr
    assert len(list((here / "results" / "baselines").rglob("*.jsonl"))) == 1
    assert ridgebench("baseline", "list", cwd=here).stdout.count("\n") == 2
    (tmp_path / "closed").mkdir()
    (tmp_path / "closed" / "results").write_text("a file, where no folder can be made")
    done = ridgebench("baseline", "promote", "--model", mine, cwd=tmp_path / "closed")
    assert done.returncode == 2 and "allowed: --into with a folder" in done.stderr and done.stderr.count("\n") == 1
