"""The reader of duels.jsonl and the tables of ratios that follow from it."""

import json
import re
from pathlib import Path

import pytest
from golden import GOLDEN, ROOT
from ridgebench.base.files import ResultsError
from ridgebench.data.duels import load_duels
from ridgebench.pages.duel_tables import NONE
from ridgebench.pages import tables

RATIO = {
    "ratio": 0.98, "ci_low": 0.979, "ci_high": 0.981, "verdict": "faster", "block": 1, "widened": 1.0, "full_clock": None, "capped": None,
    "log_ratios": [-0.02] * 5,
}
STATE = {"clock_hz": 1.98e9, "quads": 94, "ratio": 1.005, "ci_low": 1.004, "ci_high": 1.006, "verdict": "slower"}
SPLIT = RATIO | {
    "ratio": None, "ci_low": None, "ci_high": None, "block": None, "widened": None, "verdict": "undecided", "full_clock": STATE,
    "capped": STATE | {"clock_hz": 1.5e9, "ratio": 0.95, "ci_low": 0.94, "ci_high": 0.96, "verdict": "faster"},
}
SIDE = {
    "technique": "packed", "origin": "hand", "accumulator": "fp32", "accumulator_bits": 23, "choice": "tile 128", "early": False, "early_unknown": None,
    "held_back_by": None, "verify": None, "time_s": 1e-3, "energy_per_launch_j": None,
    "energy_ci_low_j": None, "energy_ci_high_j": None, "energy_blocks_j": [],
}
DUEL = {
    "schema": "ridgebench.duel/2", "id": "matmul/packed:openblas/fp32/m:8/n:8/k:8/layout:nt/steady@cpu", "op": "matmul",
    "device": "cpu", "backend": "cpu", "format": "fp32", "shape": {"m": 8, "n": 8, "k": 8, "layout": "nt"},
    "regime": "steady", "flops": 1024.0, "bytes": 768.0, "seed": 1, "fill": "normal", "status": "ok", "reason": None,
    "first": SIDE, "second": SIDE | {"technique": "openblas", "origin": "library"}, "sets": 4, "processes": 1,
    "short": {"block_s": 0.005, "quads": 5, "seconds": RATIO, "cycles": None, "clock_hz": []}, "long": None, "power_settles": False,
    "decided_by": "short", "verdict": "faster", "verdict_in_cycles": None, "verdict_in_time": "faster", "no_energy": "no counter", "duration_s": 5.0,
    "telemetry": {}, "flags": [],
}
SKIPPED = DUEL | {
    "id": "skipped", "format": "bf16", "status": "skipped", "reason": "not here", "short": None, "decided_by": None, "verdict": None, "verdict_in_time": None,
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
    long = {"block_s": 1.3, "quads": 4, "seconds": RATIO | {"ratio": 0.9795, "verdict": "same"}, "cycles": RATIO, "clock_hz": []}
    capped = DUEL | {"id": "capped", "long": long, "decided_by": "long", "verdict": "same", "verdict_in_time": "same", "power_settles": True}
    capped["short"] = DUEL["short"] | {"cycles": RATIO}
    one, other = load_duels(write(tmp_path / "run", DUEL, capped)).duels
    assert (one.in_time.ratio, one.in_time.verdict, one.one_clock) == (0.98, "faster", None)
    assert (other.in_time.ratio, other.in_time.verdict, other.one_clock.ratio) == (0.9795, "same", 0.98)


def test_without_the_long_scale_a_capped_device_has_no_time(tmp_path):
    short = DUEL | {"power_settles": True, "verdict_in_time": None}
    (one,) = load_duels(write(tmp_path / "run", short)).duels
    assert one.in_time is None and one.one_clock.ratio == 0.98
    folder = write(tmp_path / "results" / "host" / "2026-01-01-abc", short)
    assert "| fp32 | 8³, nt | – | – | 0.9800 (0.9790 to 0.9810) | faster | – | – |" in filled(tmp_path, f"duels matmul @ {folder.parent.name}")


def test_flags_of_a_duel_stand_below_the_table(tmp_path):
    flagged = DUEL | {"id": "flagged", "format": "bf16", "flags": ["clocks_differ", "short_rotation"]}
    folder = write(tmp_path / "results" / "host" / "2026-01-01-abc", DUEL, flagged)
    assert "Flags: `packed` in bf16 clocks\\_differ, short\\_rotation." in filled(tmp_path, f"duels matmul @ {folder.parent.name}")
    folder = write(tmp_path / "results" / "other" / "2026-01-01-abc", DUEL)
    assert "Flags" not in filled(tmp_path, f"duels matmul @ {folder.parent.name}")


def test_a_state_of_too_few_processes_has_no_interval(tmp_path):
    lone = STATE | {"ci_low": None, "ci_high": None, "verdict": "undecided", "log_ratios": [0.005], "errors": [1e-4]}
    split = DUEL["short"] | {"seconds": SPLIT | {"full_clock": lone}}
    folder = write(tmp_path / "results" / "host" / "2026-01-01-abc", DUEL | {"short": split, "verdict": "undecided", "processes": 3})
    assert load_duels(folder).duels[0].in_time.states[0].ci_low is None
    assert "1.98 GHz: 1.0050 (too few processes) undecided; 1.50 GHz" in filled(tmp_path, f"duels matmul @ {folder.parent.name}")


def test_a_ratio_that_depends_on_the_clock_is_shown_at_each(tmp_path):
    write(tmp_path / "results" / "host" / "2026-01-01-abc", DUEL | {"short": DUEL["short"] | {"seconds": SPLIT}, "verdict": "undecided"})
    text = filled(tmp_path, "duels matmul @ host")
    assert "| 1.98 GHz: 1.0050 (1.0040 to 1.0060) slower; 1.50 GHz: 0.9500 (0.9400 to 0.9600) faster | undecided |" in text


def test_the_table_says_whose_launches_start_early_and_how_sure_the_joules_are(tmp_path):
    energy = {"energy_per_launch_j": 1.144, "energy_ci_low_j": 1.142, "energy_ci_high_j": 1.146, "energy_blocks_j": [1.144] * 8}
    write(tmp_path / "results" / "host" / "2026-01-01-abc", DUEL | {"first": SIDE | energy | {"early": True}, "second": DUEL["second"] | energy})
    text = filled(tmp_path, "duels matmul @ host")
    assert "| first | 1.144 (1.142 to 1.146) / 1.144 (1.142 to 1.146) |" in text and "Early: the side" in text


def test_stored_duels_of_version_1_show_the_intervals_of_today():
    stored = ROOT / "results" / "nvidia-h200" / "2026-11-27-6abf65e-duels"
    old = next(json.loads(line) for line in (stored / "duels.jsonl").read_text().splitlines() if "relu/vec16:cub/bf16" in line)["short"]["cycles"]
    new = next(duel for duel in load_duels(stored).duels if (duel.op, duel.format) == ("relu", "bf16"))
    assert new.in_time is None and new.one_clock.verdict == "undecided"
    assert new.one_clock.ci_high - new.one_clock.ci_low > 2 * (old["ci_high"] - old["ci_low"])


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
    assert "| `packed` | `openblas` | fp32 | 8³, nt | 0.9800 (0.9790 to 0.9810) | faster | – | – | – | – |" in text
    assert "bf16" not in text, "a skipped duel has no ratio"
    assert f"](../results/host/{folder.name})" in text


def test_a_wrong_duel_is_shown_without_a_ratio(tmp_path):
    wrong = SKIPPED | {"status": "wrong", "format": "fp32"}
    write(tmp_path / "results" / "host" / "2026-01-01-abc", wrong)
    assert "| `packed` | `openblas` | fp32 | 8³, nt | wrong | – | – | – | – | – |" in filled(tmp_path, "duels matmul @ host")


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
        folders = [ROOT / "kernels" / operation.removesuffix("_gelu").removesuffix("_block_scaled"), ROOT / "kernels" / "common" / "cpu"]
        files = [path for folder in folders for path in folder.rglob("*") if path.suffix in suffixes]
        text = "\n".join(path.read_text() for path in files)
        for name in names:
            assert f'"{name}"' in text, f"{operation} has no {name}"


def test_a_cold_duel_is_named_by_its_regime(tmp_path):
    cold = DUEL | {"id": DUEL["id"].replace("steady", "cold"), "regime": "cold"}
    write(tmp_path / "results" / "cpu" / "2026-01-01-abc", cold, DUEL)
    text = filled(tmp_path, "duels matmul")
    assert "| `packed` | `openblas` | fp32 | 8³, nt, cold |" in text and "| `packed` | `openblas` | fp32 | 8³, nt |" in text
    assert "Cold: single launches behind emptied caches." in text
