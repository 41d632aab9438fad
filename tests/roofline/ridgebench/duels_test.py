"""The reader of duels.jsonl and the tables of ratios that follow from it."""

import json
import re
from pathlib import Path

import pytest
from golden import GOLDEN, ROOT
from ridgebench import tables
from ridgebench.duels import NONE, load_duels
from ridgebench.files import ResultsError

RATIO = {"ratio": 0.98, "ci_low": 0.979, "ci_high": 0.981, "verdict": "faster", "log_ratios": [-0.02] * 5}
SIDE = {
    "technique": "packed", "origin": "hand", "accumulator": "fp32", "accumulator_bits": 23, "choice": "tile 128", "early": False, "early_unknown": None,
    "held_back_by": None, "verify": None, "time_s": 1e-3, "energy_per_launch_j": None,
}
DUEL = {
    "schema": "ridgebench.duel/1", "id": "matmul/packed:openblas/fp32/m:8/n:8/k:8/layout:nt/steady@cpu", "op": "matmul",
    "device": "cpu", "backend": "cpu", "format": "fp32", "shape": {"m": 8, "n": 8, "k": 8, "layout": "nt"},
    "regime": "steady", "flops": 1024.0, "bytes": 768.0, "seed": 1, "fill": "normal", "status": "ok", "reason": None,
    "first": SIDE, "second": SIDE | {"technique": "openblas", "origin": "library"}, "sets": 4, "processes": 1,
    "short": {"block_s": 0.005, "quads": 5, "seconds": RATIO, "cycles": None}, "long": None, "power_settles": False,
    "decided_by": "short", "verdict": "faster", "verdict_in_cycles": None, "no_energy": "no counter", "duration_s": 5.0,
    "telemetry": {}, "flags": [],
}
SKIPPED = DUEL | {
    "id": "skipped", "format": "bf16", "status": "skipped", "reason": "not here", "short": None, "decided_by": None, "verdict": None,
}


def write(folder: Path, *duels: dict, end: str = "\n") -> Path:
    folder.mkdir(parents=True)
    (folder / "environment.json").write_bytes((GOLDEN / "environment.json").read_bytes())
    (folder / "duels.jsonl").write_text("\n".join(json.dumps(duel) for duel in duels) + end)
    return folder


def filled(root: Path, marker: str) -> str:
    (root / "docs").mkdir(exist_ok=True)
    (root / "README.md").write_text("no markers\n")
    page = root / "docs" / "page.md"
    page.write_text(f"<!-- table: {marker} -->\n<!-- /table -->\n")
    assert tables.main([], root) == 0
    return page.read_text()


def test_a_duel_is_read_with_the_scale_that_decides(tmp_path):
    long = {"block_s": 1.3, "quads": 4, "seconds": RATIO | {"ratio": 0.9795, "verdict": "same"}, "cycles": RATIO}
    capped = DUEL | {"id": "capped", "long": long, "decided_by": "long", "verdict": "same"}
    capped["short"] = DUEL["short"] | {"cycles": RATIO}
    one, other = load_duels(write(tmp_path / "run", DUEL, capped)).duels
    assert (one.seconds.ratio, one.seconds.verdict, one.cycles) == (0.98, "faster", None)
    assert (other.seconds.ratio, other.seconds.verdict, other.cycles.ratio) == (0.9795, "same", 0.98)


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"verdict": "quicker"}, "verdict"),
        ({"verdict": None}, "verdict"),
        ({"status": "skipped", "reason": "why"}, "short"),
        ({"first": {}}, "first"),
        ({"decided_by": "long"}, "the scale that decides, long, is null"),
        ({"short": DUEL["short"] | {"seconds": RATIO | {"ci_low": 0.99}}}, "not in this order"),
    ],
)
def test_a_line_that_breaks_a_rule_is_refused_with_its_place(change, part, tmp_path):
    folder = write(tmp_path / "run", DUEL, DUEL | change)
    with pytest.raises(ResultsError, match=re.escape(f"{folder / 'duels.jsonl'}:2: ")) as error:
        load_duels(folder)
    assert part in str(error.value)


def test_a_torn_last_line_is_left_out(tmp_path):
    read = load_duels(write(tmp_path / "run", DUEL, end='\n{"schema"'))
    assert read.torn and [duel.id for duel in read.duels] == [DUEL["id"]]


def test_the_table_holds_each_timed_duel(tmp_path):
    folder = write(tmp_path / "results" / "host" / "2026-01-01-abc", SKIPPED, DUEL)
    text = filled(tmp_path, "duels matmul @ host")
    assert "| `packed` | `openblas` | fp32 | 8³, nt | 0.9800 (0.9790 to 0.9810) | faster | – | – | – |" in text
    assert "bf16" not in text, "a skipped duel has no ratio"
    assert f"](../results/host/{folder.name})" in text


def test_a_wrong_duel_is_shown_without_a_ratio(tmp_path):
    wrong = SKIPPED | {"status": "wrong", "format": "fp32"}
    write(tmp_path / "results" / "host" / "2026-01-01-abc", wrong)
    assert "| `packed` | `openblas` | fp32 | 8³, nt | wrong | – | – | – | – |" in filled(tmp_path, "duels matmul @ host")


def test_without_a_published_duel_the_page_says_so(tmp_path):
    write(tmp_path / "results" / "local" / "run", DUEL)
    assert NONE in filled(tmp_path, "duels matmul @ host")
    write(tmp_path / "results" / "host" / "2026-01-01-abc", DUEL)
    assert NONE in filled(tmp_path, "duels relu @ host")


def test_the_profile_names_techniques_that_exist():
    plan = (ROOT / "harness/measure/duel/plan.cpp").read_text()
    rivals = re.findall(r'Rivals\{Backend::(\w+), "(\w+)", "(\w+)", "(\w+)"[,}]', plan)
    assert len(rivals) > 10
    for backend, operation, *names in rivals:
        suffixes = (".cu", ".cpp", ".cuh") if backend == "cuda" else (".cpp",)
        folders = [ROOT / "kernels" / operation, ROOT / "kernels" / "common" / "cpu"]
        files = [path for folder in folders for path in folder.rglob("*") if path.suffix in suffixes]
        text = "\n".join(path.read_text() for path in files)
        for name in names:
            assert f'"{name}"' in text, f"{operation} has no {name}"
