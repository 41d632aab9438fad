"""Two runs side by side: any two, no verdict."""

import pytest
from golden import GOLDEN, ROOT, read_environment
from ridgebench.judge.compare_cli import main
from synthetic_session import UNTIMED, record, write_run


def describe(first, second, capsys) -> tuple[int, str]:
    code = main(["--describe", str(first), str(second)])
    shown = capsys.readouterr()
    return code, shown.out or shown.err


def line(text: str, beginning: str) -> list[str]:
    return next(one for one in text.splitlines() if one.startswith(beginning)).split()


def test_two_devices(capsys):
    folders = [ROOT / "results" / name / "2026-11-22-7f6e7b5" for name in ("nvidia-h100-80gb-hbm3", "nvidia-h200")]
    assert main(list(map(str, folders))) == 5, "they cannot be compared"
    capsys.readouterr()
    code, text = describe(*folders, capsys)
    assert code == 0 and "Not a verdict." in text and "WORSE" not in text
    assert "Differs: model: NVIDIA H100 80GB HBM3 against NVIDIA H200" in text
    assert text.splitlines()[0].endswith("NVIDIA H100 80GB HBM3 (cuda:0)")
    assert "TB/s" in text and "TFLOP/s" in text


@pytest.mark.parametrize("other", ["cpu", "sim"])
def test_rates_times_and_ratio_whatever_the_device_is_called(other, tmp_path, capsys):
    here = record("dot/x/steady@cpu", 2e-3, bytes=4e6, bytes_per_s=2e9, bound="memory")
    first = write_run(tmp_path / "a", [here], {})
    moved = record(f"dot/x/steady@{other}", 1e-3, bytes=4e6, bytes_per_s=4e9, bound="memory")
    devices = [{**device, "name": other} for device in read_environment(first)["devices"]]
    second = write_run(tmp_path / "b", [{**moved, "device": other}], {"devices": devices})
    code, text = describe(first, second, capsys)
    assert code == 0
    assert line(text, "dot/x/steady ") == "dot/x/steady 2 GB/s, 2 ms 4 GB/s, 1 ms 2 x".split()


def test_rows_that_one_side_lacks_or_did_not_measure(tmp_path, capsys):
    none = {"status": "skipped", "reason": "no AMX here"} | UNTIMED
    first = write_run(tmp_path / "a", [record("a@cpu", 1e-3), record("b@cpu", 1e-3), record("c@cpu", 1e-3, **none)], {})
    second = write_run(tmp_path / "b", [record("b@cpu", 1e-3, **none), record("c@cpu", 1e-3, **none)], {})
    code, text = describe(first, second, capsys)
    assert code == 0
    assert "no such row" in text and "skipped: no AMX here" in text
    assert "... 1 more row, which no side measured" in text


@pytest.mark.parametrize("flags", [([], ["served_by_cache"]), (["served_by_cache"], []), (["served_by_cache"],) * 2])
def test_a_row_that_caches_served_has_no_ratio_to_one_of_memory(flags, tmp_path, capsys):
    folders = [write_run(tmp_path / str(n), [record("a@cpu", 1e-3, flags=own)], {}) for n, own in enumerate(flags)]
    code, text = describe(*folders, capsys)
    assert code == 0
    [row] = [one for one in text.splitlines() if one.startswith("a ")]
    side = {(0, 1): "second", (1, 0): "first"}.get(tuple(map(len, flags)))
    why = f"NOT_COMPARABLE: caches may have served the {side} only (served_by_cache)"
    assert row.endswith(why if side else "  1 x") and (" x" not in row or not side)


def test_what_is_no_run_is_refused(tmp_path, capsys):
    code, text = describe(GOLDEN, tmp_path / "nowhere", capsys)
    assert code == 2 and text == f"compare: {tmp_path}/nowhere: not found; allowed: a results directory\n"


def test_a_run_beside_itself_and_one_that_was_interrupted_are_named(tmp_path, capsys):
    row = record("dot/x/steady@cpu", 2e-3, bytes=4e6, bytes_per_s=2e9, bound="memory")
    whole = write_run(tmp_path / "whole", [row], {})
    cut = write_run(tmp_path / "cut", [row], {"interrupted": True, "run_id": "another"})
    _, text = describe(whole, whole, capsys)
    assert f"Note: both sides are run {read_environment(whole)['run_id']}: no difference was measured\n" in text
    _, text = describe(whole, cut, capsys)
    assert "(second): rows may be missing; `ridgebench run --resume" in text and "both sides" not in text
