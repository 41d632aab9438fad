"""Bad input: one clear line on stderr that names the place, exit code 2, nothing on stdout."""

import json
import os
import shutil

import pytest
from golden import GOLDEN, ROOT, full_disk, read_environment, read_records, write_records

from ridgebench.__main__ import run
from ridgebench.figures.plot import main


def fails(arguments: list, capfd) -> str:
    """Runs, expects the failure, returns its one line."""
    try:
        code = main([str(argument) for argument in arguments])
    except SystemExit as stop:
        code = stop.code
    output = capfd.readouterr()
    assert code == 2 and output.out == ""
    assert output.err.count("\n") == 1 and output.err.startswith("plot: ")
    return output.err


def test_a_missing_and_an_empty_directory(tmp_path, capfd):
    assert "nowhere: not found; allowed: a results directory" in fails([tmp_path / "nowhere"], capfd)
    assert "environment.json: not found" in fails([tmp_path], capfd)


def test_a_directory_without_records(results, capfd):
    (results / "records.jsonl").unlink()
    assert "records.jsonl: not found" in fails([results], capfd)
    (results / "records.jsonl").write_text("")
    assert "records.jsonl: no finished record" in fails([results], capfd)
    (results / "records.jsonl").write_text('{"schema": "ridge')
    assert "records.jsonl: no finished record" in fails([results], capfd)
    assert not (results / "figures").exists()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("{", "not JSON"),
        ("[]", "is not of type 'object'"),
        ('{"flops": NaN}', "NaN is not JSON"),
        ("[" * 100_000, "nested more than 100 levels deep"),
    ],
)
def test_a_line_that_is_no_record(results, capfd, line, expected):
    lines = (results / "records.jsonl").read_text().splitlines()
    lines[2] = line
    (results / "records.jsonl").write_text("\n".join(lines) + "\n")
    message = fails([results], capfd)
    assert "records.jsonl:3: " in message and expected in message


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"flops": "many"}, "flops: 'many' is not of type 'number'"),
        ({"status": "fine"}, "status: 'fine' is not one of"),
        ({"time_median_s": None}, "time_median_s: None is not of type 'number'"),
        ({"schema": "ridgebench.record/2"}, "schema: 'ridgebench.record/2' is not one of"),
        ({"roof": {"flops_per_s": 1}}, "roof: 'bytes_per_s' is a required property"),
    ],
)
def test_a_record_that_breaks_the_schema_is_named_by_line_and_key(edit, capfd, change, expected):
    folder = edit(lambda records, _: records[7].update(change))
    message = fails([folder], capfd)
    assert "records.jsonl:8: " in message and expected in message


def test_a_missing_key(edit, capfd):
    message = fails([edit(lambda records, _: records[0].pop("op"))], capfd)
    assert "records.jsonl:1: 'op' is a required property" in message


def test_a_broken_environment(results, capfd):
    environment = read_environment(results)
    del environment["seed"]
    (results / "environment.json").write_text(json.dumps(environment))
    assert "environment.json:1: 'seed' is a required property" in fails([results], capfd)
    (results / "environment.json").write_bytes(b"\xff\xfe")
    assert "environment.json: not UTF-8" in fails([results], capfd)


def test_records_of_a_device_that_the_environment_lacks(edit, capfd):
    folder = edit(lambda records, _: records[0].update(device="cuda:3"))
    assert "devices lacks 'cuda:3'" in fails([folder], capfd)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--roof", "h1000"], "no data sheet 'h1000'; nearest: h100; allowed: "),
        (["--roof", "nowhere.json"], "no data sheet 'nowhere.json'; allowed: "),
        (["--formats", "svg,gif"], "'gif' is not one of"),
        (["--theme", "pink"], "invalid choice: 'pink'"),
        (["--device", "cuda:0"], "no records of device 'cuda:0'; there are cpu"),
        (["--frobnicate"], "unrecognized arguments"),
    ],
)
def test_bad_options(capfd, tmp_path, arguments, expected):
    assert expected in fails([GOLDEN, "--out", tmp_path, *arguments], capfd)


def test_no_directory_named(capfd):
    assert "RESULTS_DIR" in fails([], capfd)


def test_a_malformed_data_sheet(capfd, tmp_path):
    sheet = tmp_path / "sheet.json"
    whole = json.loads((ROOT / "roofline" / "devices" / "l4.json").read_text())
    for text, wrong in (("{", "not JSON"), ("[]", "is an array; allowed: an object"), (json.dumps(whole | {"peaks": 3}), "peaks"),
                        (json.dumps({key: value for key, value in whole.items() if key != "memory"}), "key memory is missing")):
        sheet.write_text(text)
        message = fails([GOLDEN, "--out", tmp_path, "--roof", sheet], capfd)
        assert f"{sheet}: " in message and wrong in message


def test_an_output_folder_that_is_a_file(capfd, tmp_path):
    (tmp_path / "file").write_text("")
    assert "file" in fails([GOLDEN, "--out", tmp_path / "file"], capfd)


@pytest.mark.parametrize("value", [1e300, 1e-300])
@pytest.mark.parametrize("key", ["flops", "intensity_flop_per_byte", "time_p10_s", "bytes"])
def test_a_number_that_no_axis_can_hold(edit, capfd, key, value):
    def change(records, _):
        record = records[10]
        record[key] = value
        if key in ("flops", "bytes"):  # else its rate contradicts it
            record[f"{key}_per_s"] = value / record["time_median_s"]

    folder = edit(change)
    message = fails([folder], capfd)
    assert f": {key} is {value:g}; a figure can hold 1e-60 to 1e+60" in message


def test_a_floor_that_no_axis_can_hold(edit, capfd):
    folder = edit(lambda _, environment: environment["devices"][0].update(launch_floor_s=1e-300))
    assert "devices: launch_floor_s is 1e-300" in fails([folder], capfd)


def test_unknown_keys_are_ignored(edit, tmp_path):
    def add(records, environment):
        records[0]["future_key"] = environment["future_key"] = 1

    folder = edit(add)
    assert main([str(folder), "--out", str(tmp_path), "--formats", "svg"]) == 0


def test_a_cut_off_last_line_is_left_out_and_mentioned(results):
    with (results / "records.jsonl").open("a") as file:
        file.write('{"schema": "ridgebench.rec')
    assert main([str(results), "--formats", "svg"]) == 0
    assert "unfinished last line" in (results / "figures" / "roofline.svg").read_text()


def test_a_repeated_id_is_refused(results, capfd):
    records = read_records(results)
    write_records(results, [*records, records[0]])
    assert f"records.jsonl:{len(records) + 1}: {records[0]['id']} comes twice" in fails([results], capfd)


@pytest.mark.parametrize("keep", ["ceiling", "kernel"])
def test_results_with_only_ceilings_or_only_kernels_are_drawn(results, keep):
    write_records(results, [r for r in read_records(results) if r["role"] == keep])
    assert main([str(results), "--formats", "svg"]) == 0


def test_results_without_a_verified_row_say_so(results):
    write_records(results, [r for r in read_records(results) if r["status"] != "ok"])
    assert main([str(results), "--formats", "svg"]) == 0
    assert "No verified row to draw" in (results / "figures" / "roofline.svg").read_text()
    shutil.rmtree(results / "figures")


@pytest.mark.parametrize("line", ["{", "[]", "{}", '{"id": "x", "dram_bytes": "many"}', "null"])
def test_counters_that_are_none(results, capfd, line):
    (results / "counters.jsonl").write_text('{"id": "y", "dram_bytes": null}\n' + line + "\n")
    assert f"counters.jsonl:2: {'not JSON' if line == '{' else 'no counters'}" in fails([results], capfd)


def test_counters_of_a_row_that_come_twice(results, capfd):
    (results / "counters.jsonl").write_text('{"id": "x", "dram_bytes": null}\n' * 2)
    assert "counters.jsonl:2: x comes twice" in fails([results], capfd)


def test_figures_do_not_go_through_a_link_of_the_folder(results, tmp_path, capfd):
    away = tmp_path / "away"
    away.mkdir()
    (results / "figures").symlink_to(away)
    assert "figures: is a symbolic link; allowed: a folder, or another one by --out" in fails([results], capfd)
    assert list(away.iterdir()) == []
    assert main([str(results), "--formats", "svg", "--out", str(results / "figures")]) == 0  # whoever names it means it


def test_a_link_in_place_of_a_figure_is_replaced(results, tmp_path, capfd):
    (results / "figures").mkdir()
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (results / "figures" / "roofline.svg").symlink_to(victim)
    assert main([str(results), "--formats", "svg"]) == 0
    assert victim.read_text() == "mine" and not (results / "figures" / "roofline.svg").is_symlink()


@pytest.mark.parametrize(("command", "module"), [("plot", "ridgebench.figures.page.drawing"), ("slides", "ridgebench.figures.slides.slides")])
def test_a_full_disk_ends_with_its_line_and_3(results, tmp_path, monkeypatch, capfd, command, module):
    monkeypatch.setattr(f"{module}.write_at_once", full_disk)  # also for the drawing processes, which are forked
    monkeypatch.setattr("ridgebench.figures.page.drawing.write_at_once", full_disk)
    assert run(command, [str(results), "--out", str(tmp_path / "out")]) == 3
    error = capfd.readouterr().err
    assert error.startswith(f"{command}: {tmp_path}/out/") and error.endswith(": No space left on device\n")
    assert error.count("\n") == 1


@pytest.mark.parametrize("command", ["plot", "slides"])
def test_a_folder_with_any_name_is_printed_in_one_line(results, tmp_path, capfd, command):
    moved = results.rename(tmp_path / os.fsdecode(b"bad\xff\x1b[31m\nname"))
    assert run(command, [str(moved)]) == 0
    (line,) = capfd.readouterr().out.splitlines()
    assert line.isprintable() and "bad? [31m name" in line
    facts = json.loads((moved / "environment.json").read_text())
    (moved / "environment.json").write_text(json.dumps(facts | {"run_id": facts["run_id"][::-1]}))  # no copy of the other
    assert run("plot", [str(moved), str(GOLDEN), "--formats", "svg", "--out", str(tmp_path / "both")]) == 0
