"""Which programs stand beside which rows, and what a page makes of the ratios."""

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "crosscheck"))

import page  # noqa: E402
import programs  # noqa: E402
import ratios  # noqa: E402

DEVICE = {"model": "Machine", "threads": 2, "caches": [{"bytes": 1 << 16}, {"bytes": 1 << 25}]}
NAME = "Machine, 32 MiB of last-level cache"
RESULT = {
    "device": DEVICE, "started": "2026-01-02T03:04:05Z", "commit": "0123456789",
    "dirty": False, "libraries": {"openblas": "OpenBLAS 1", "onednn": "2"}, "blocks": 5, "processes": 5, "spread": [],
    "pairs": [
        {"part": part, "a": f"{part}/x/steady@cpu", "b": "other", "unit": "GB/s", "ratio": 1.02, "low": 1, "high": 1.1,
         "a_speed": 10.2, "b_speed": 10}
        for part in ("pairs", "programs")
    ],
}  # fmt: skip


def row(record: dict, _unit: str, *_options: str) -> str:
    return record["op"]


def ceiling(name: str, elements: int = 1 << 20) -> dict:
    return {"op": name, "role": "ceiling", "shape": {"n": elements}}


def sides_of(monkeypatch, likwid: str | None) -> list:
    monkeypatch.setattr(programs, "built", lambda source, *_: source.name)
    monkeypatch.setattr(programs.shutil, "which", lambda _: likwid)
    ceilings = [ceiling("dram_read"), ceiling("dram_copy"), ceiling("fma_peak")]
    return programs.bandwidth(ceilings, Path("/tmp"), row, threads=2)


def test_dram_ceilings_stand_beside_stream_and_likwid(monkeypatch):
    pairs = sides_of(monkeypatch, "/usr/bin/likwid-bench")
    assert [a for a, _, _ in pairs] == ["dram_read", "dram_read", "dram_copy", "dram_copy"]
    stream, likwid = pairs[2][1], pairs[3][1]
    assert stream.name == "stream.c copy" and "stream.c 4 nt 20 copy" in " ".join(stream.command(Path()))
    words = likwid.command(Path())
    assert words[words.index("-w") + 1] == "N:8192kB:2"  # two arrays of 4 MiB
    assert likwid.name.startswith("likwid-bench copy_mem_")


def test_without_likwid_stream_is_left(monkeypatch):
    assert [b.name for _, b, _ in sides_of(monkeypatch, None)] == ["stream.c read", "stream.c copy"]


def test_the_table_holds_programs_only_and_the_page_all(tmp_path):
    folder = tmp_path / "machine" / "crosscheck"
    folder.mkdir(parents=True)
    assert page.with_programs(tmp_path).startswith("Not measured yet")
    (folder / "2026-01-02.json").write_text(json.dumps(RESULT))
    table = page.with_programs(tmp_path)
    assert "| programs/x | other | GB/s | 10.2 | 10 | **1.02** | 1.00 to 1.10 |" in table
    assert "pairs/x" not in table and f"{NAME}, 2 threads, 2026-01-02, commit 0123456." in table
    assert "pairs/x" in page.page([RESULT]) and "whole quick runs" not in page.page([RESULT])


@pytest.mark.parametrize("files", [1, 2])
def test_the_page_has_a_section_for_each_part_whatever_file_it_is_in(files):
    spread = {"spread": [{"id": "x", "bound": "compute", "spread": 0.02}]}
    text = page.page([RESULT | spread] if files == 1 else [RESULT, RESULT | {"pairs": []} | spread])
    assert text.index(f"## Pairs: {NAME}\n\n{NAME}, 2 threads") < text.index(f"## How well processes agree: {NAME}\n")
    assert text.count("pairs/x") == 1
    assert "| 2026-01-02 03:04, 0123456 | quick | compute | 1 | 0% | 100% | 2.0% | 2% | – |" in text


def test_of_a_machine_only_the_newest_pairs_are_shown():
    later = RESULT | {"started": "2026-01-03T00:00:00Z", "commit": "f" * 40}
    for results in ([RESULT, later], [later, RESULT]):
        text = page.page(results)
        assert text.count("## Pairs") == 1 and "commit fffffff" in text


def test_the_machine_measured_last_comes_first():
    later = RESULT | {"device": DEVICE | {"model": "Later"}, "started": "2026-01-03T00:00:00Z"}
    for results in ([RESULT, later], [later, RESULT]):
        text = page.page(results)
        assert text.index("## Pairs: Later") < text.index(f"## Pairs: {NAME}")


@pytest.mark.parametrize("other", [{"model": "Other"}, {"caches": [{"bytes": 1 << 28}]}])
def test_machines_stand_apart_and_all_runs_of_one_in_one_table(other):
    spread = {"pairs": [], "spread": [{"id": "x", "bound": None, "spread": 0.2}]}
    of_other = RESULT | spread | {"device": DEVICE | other}
    text = page.page([RESULT | spread, of_other, RESULT | spread | {"budget_s": 20.0}])
    machine, rest = text.split(f"## How well processes agree: {page.machine(of_other)}\n")
    assert machine.count("| quick | unknown | 1 |") == machine.count("| 20 s | unknown | 1 |") == 1
    assert rest.count("| unknown | 1 |") == 1 and text.count("How well") == 2


def timed(samples: list[float], per_batch: int) -> dict:
    median = sorted(samples)[len(samples) // 2]
    row = {"id": "x", "bound": "compute", "status": "ok", "samples_s": samples, "samples_per_batch": per_batch, "clock_hz": None}
    return row | {"time_median_s": median}


def test_one_slow_launch_moves_the_batch_but_not_the_samples():
    runs = [[timed([1.0, 1.0, 1.0] * 3, 3)], [timed([1.0, 1.3, 1.0] * 3, 3)]]
    (found,) = ratios.spread_of(runs, 3)
    assert found["spread"] == 0 and found["spread_of_batches"] == pytest.approx(0.1)
    assert "| compute | 1 | 100% | 100% | 0.0% | 0% | – | 100%, 0.0% | 0.0%, 10.0% |" in page.page([RESULT | {"spread": [found]}])
    whole = [[timed([1.0, 1.1, 1.2], 1)], [timed([1.0, 1.1, 1.2], 1)], [timed([1.0], 1) | {"status": "wrong"}]]
    assert ratios.spread_of(whole, 3) == []
    (found,) = ratios.spread_of(whole[:2], 3)
    assert found == {"id": "x", "bound": "compute", "spread": 0, "spread_of_neighbours": 0}


def test_what_only_the_clock_did_is_gone_in_cycles():
    runs = [[timed([s] * 3, 3) | {"clock_hz": hz}] for s, hz in ((1.0, 4e9), (1.25, 3.2e9))]
    (found,) = ratios.spread_of(runs, 3)
    assert found["spread"] == pytest.approx(0.25) and found["spread_in_cycles"] == pytest.approx(0)
    assert page.agreeing([found, {"id": "x", "bound": None, "spread": 0.2}], "spread_in_cycles") == "100%, 0.0%"


def test_what_slows_all_runs_in_turn_is_not_between_neighbours():
    """A machine that is twice as slow in the second half, which one of the runs does not reach."""
    slow = [1.0] * 8 + [2.0] * 8
    runs = [[timed(slow, 4)], [timed([1.02 * t for t in slow], 4)], [timed(slow[:8], 4)]]
    (found,) = ratios.spread_of(runs, samples_per_turn=2)
    assert found["spread"] > 1 and found["spread_of_neighbours"] == pytest.approx(0.02)
    assert page.agreeing([found, found | {"spread_of_neighbours": 0.004}], "spread_of_neighbours") == "50%, 1.2%"
    assert page.agreeing([{"id": "x", "bound": None, "spread": 0.2}], "spread_of_neighbours") == "–", "older measurements do not tell"


def test_parts_are_a_list_and_unknown_ones_are_refused(capsys):
    assert ratios.parse(["--parts", "pairs,spread", "/bin/true"]).parts == ["pairs", "spread"]
    with pytest.raises(SystemExit):
        ratios.parse(["--parts", "pears", "/bin/true"])
    assert "unknown part 'pears'; allowed: programs, pairs, spread" in capsys.readouterr().err
