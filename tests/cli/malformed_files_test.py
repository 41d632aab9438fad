"""A cut, mistyped, garbage, empty or hostile file gives one line that names the file."""

import json
import re
import shutil

import pytest
from command_line import (
    OK,
    READERS,
    RELU,
    ROOT,
    ROW_FAILED,
    one_line,
    read_by,
    read_environment,
    records,
    refused,
    ridgebench,
    run,
)
from fault_log import tell_fault

GARBAGE = {
    "garbage": b"\x7fELF\x02\x01 not JSON",
    "cut": b'{"schema": "ridgebench.rec',
    "array": b"[1, 2, 3]",
    "number": b"42",
    "text": b'"records"',
    "null": b"null",
    "null bytes": b"\x00" * 64,
    "not UTF-8": b'{"schema": "\xff\xfe"}',
    "NaN": b'{"schema": NaN}',
    "beyond double": b'{"flops": 1e999}',
    "deep": b"[" * 200000,
    "comment": b'{} // "yes"',
    "terminal escape": b"\x1b]0;owned\x07\x1b[31m",
}
WRONG_KEYS = {
    "no id": lambda r: r.pop("id"),
    "id is a number": lambda r: r.update(id=7),
    "id is empty": lambda r: r.update(id=""),
    "op is null": lambda r: r.update(op=None),
    "role is a list": lambda r: r.update(role=["kernel"]),
    "regime is an object": lambda r: r.update(regime={}),
    "status is a number": lambda r: r.update(status=1),
    "written fraction above 1": lambda r: r.update(written_fraction=2),
    "written fraction is a text": lambda r: r.update(written_fraction="half"),
    "device is missing": lambda r: r.pop("device"),
}


@pytest.fixture(name="folder")
def folder_fixture(finished, tmp_path):
    """Return a copy that a test may damage."""
    return shutil.copytree(finished, tmp_path / "results")


def rejected(reader, result, *parts):
    """A command refuses the folder; `verify` calls it not sound, and names the file that no longer has its checksum, too."""
    if reader != "verify":
        return refused(result, *parts)
    first, *others = result.stderr.splitlines()
    assert (result.returncode, result.stdout) == (ROW_FAILED, "") and all(part in first for part in parts), result.stderr
    assert others and all(line.endswith(": its checksum differs") for line in others)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("content", GARBAGE)
def test_garbage_among_the_records(content, reader, folder):
    path = folder / "records.jsonl"
    first, *rest = path.read_bytes().splitlines(keepends=True)
    damaged = first + GARBAGE[content] + b"\n" + b"".join(rest)
    path.write_bytes(damaged)
    result = read_by(reader, folder)
    rejected(reader, result, f"{path}:2: ")
    how = "garbage among the records, read by every command: refused, the file is left as it is"
    lost = 0 if path.read_bytes() == damaged else len(rest)
    tell_fault("corrupt records", how, 1, lost, {result.returncode}, part=f"{reader} {content}")


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("content", GARBAGE)
def test_garbage_for_the_environment(content, reader, folder):
    (folder / "environment.json").write_bytes(GARBAGE[content])
    rejected(reader, read_by(reader, folder), f"{folder}/environment.json")


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("name", ["records.jsonl", "environment.json"])
def test_a_key_that_comes_twice_is_named(name, reader, folder):
    path = folder / name
    path.write_text(re.sub('"schema":', lambda found: f'"schema":"x",{found[0]}', path.read_text(), count=1))
    rejected(reader, read_by(reader, folder), f"{path}", 'key "schema" comes twice')


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("change", WRONG_KEYS)
def test_wrong_keys_of_a_record(change, reader, folder):
    rows = records(folder)
    WRONG_KEYS[change](rows[2])
    (folder / "records.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    rejected(reader, read_by(reader, folder), f"{folder}/records.jsonl:3: ")


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("name", ["records.jsonl", "environment.json"])
@pytest.mark.parametrize("kind", ["missing", "folder", "empty"])
def test_a_file_that_is_not_there(kind, name, reader, folder):
    path = folder / name
    path.unlink()
    if kind == "folder":
        path.mkdir()
    if kind == "empty":
        path.touch()
    result = read_by(reader, folder)
    if name == "records.jsonl" and kind != "folder" and reader in ("resume", "ceilings"):
        # There is no row yet, so a resumed run measures all rows and cannot reuse a ceiling.
        assert result.returncode == OK or kind == "missing"
    elif name == "records.jsonl" and kind == "empty" and reader == "verify":
        assert "holds no row" in result.stderr and result.returncode == ROW_FAILED
    elif kind == "empty":
        rejected(reader, result, str(folder))
    else:
        refused(result, str(folder))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("schema", "ridgebench.environment/99"),
        ("profile", "huge"),
        ("profile", None),
        ("filter", 7),
        ("filter", "["),
        ("regimes", "steady"),
        ("regimes", ["hot"]),
        ("seed", -1),
        ("seed", "one"),
        ("fill", "ones"),
        ("budget_s", "long"),
        ("early_launches", "yes"),
        ("device", "tpu"),
        ("device", ["sim"]),
        ("ceilings", "/nowhere"),
    ],
)
def test_resume_of_a_wrong_request(key, value, folder):
    stored = read_environment(folder) | {key: value}
    (folder / "environment.json").write_text(json.dumps(stored))
    before = (folder / "records.jsonl").read_bytes()
    refused(read_by("resume", folder))
    assert (folder / "records.jsonl").read_bytes() == before


@pytest.mark.parametrize("reader", ["verify", "ceilings", "predict", "plan"])
@pytest.mark.parametrize("devices", [None, {}, "sim", [], [7], [{}], [{"name": 3}]])
def test_wrong_devices(devices, reader, folder):
    stored = read_environment(folder) | {"devices": devices}
    (folder / "environment.json").write_text(json.dumps(stored))
    result = read_by(reader, folder)
    if devices == [] and reader == "verify":
        assert "does not list its device" in result.stderr and result.returncode == ROW_FAILED
    else:
        rejected(reader, result, str(folder))


def test_hostile_texts_stay_on_their_line(folder):
    rows = records(folder)
    rows[1]["id"] = "relu\n\x1b[31mridgebench: all is well\r/{}%s@sim"
    rows[2]["id"] = rows[1]["id"]
    (folder / "records.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = read_by("verify", folder)
    assert (result.returncode, result.stdout) == (ROW_FAILED, "")
    lines = result.stderr.split("\n")
    assert all(line.startswith("ridgebench: ") and line.isprintable() for line in lines[:-1])
    assert any("comes twice" in line for line in lines)


def test_hostile_names_of_folders(finished, tmp_path):
    for name in ("line\nbreak", "\x1b[31mred", "{}", "%s%n", "a b", "-", "x" * 200):
        missing = tmp_path / name
        refused(ridgebench("verify", missing), "cannot be read")
        assert ridgebench("verify", shutil.copytree(finished, missing)).returncode == OK


def test_names_that_are_not_utf8(tmp_path):
    folder = bytes(tmp_path) + b"/\xff\xfe"
    name = folder.decode("utf-8", "surrogateescape")
    assert run(name).returncode == OK
    assert ridgebench("verify", name).returncode == OK
    answer = ridgebench(*RELU, name, "--json")
    assert (answer.returncode, answer.stderr) == (OK, "")
    assert json.loads(answer.stdout)["device"].endswith("/\ufffd\ufffd")


@pytest.fixture(name="sheet")
def sheet_fixture() -> dict:
    return json.loads((ROOT / "roofline/devices/h100-sxm.json").read_text())


def test_a_data_sheet_file_is_a_device(sheet, tmp_path):
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(sheet | {"name": "mine"}))
    result = ridgebench(*RELU, path, "--json")
    assert json.loads(result.stdout)["device"] == "mine"


@pytest.mark.parametrize("content", [*GARBAGE, "empty"])
def test_garbage_for_a_data_sheet(content, tmp_path):
    path = tmp_path / "sheet.json"
    path.write_bytes(GARBAGE.get(content, b""))
    refused(ridgebench(*RELU, path), str(path))


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (lambda s: s.pop("memory"), ("memory", "missing")),
        (lambda s: s.update(schema="ridgebench.device/9"), ("schema", "ridgebench.device/1")),
        (lambda s: s.update(name="H100 <b>"), ("name", "lower-case letters")),
        (lambda s: s.update(name="up\n\x1b[31m"), ("name", "lower-case letters")),
        (lambda s: s.update(sms="132"), ("sms", "a number from")),
        (lambda s: s.update(sms=131.5), ("sms", "whole number")),
        (lambda s: s.update(peaks=[]), ("peaks", "at least one")),
        (lambda s: s.update(peaks={}), ("peaks", "array")),
        (lambda s: s["peaks"][0].update(flops_per_s=989.5), ("flops_per_s", "a number from")),
        (lambda s: s["peaks"][0].update(engine="sparse"), ("engine", "fma, tensor")),
        (lambda s: s["peaks"][0].update(format="fp4"), ("format", "fp4_e2m1")),
        (lambda s: s["peaks"][0].update(format="fp6"), ("format", "'fp6'")),
        (lambda s: s["memory"].update(bandwidth_bytes_per_s=-1), ("bandwidth", "a number from")),
        (lambda s: s["memory"].update(bytes=80), ("bytes", "a number from")),
        (lambda s: s.update(sources="trust me"), ("sources", "array of texts")),
    ],
)
def test_wrong_keys_of_a_data_sheet(change, parts, sheet, tmp_path):
    path = tmp_path / "sheet.json"
    change(sheet)
    path.write_text(json.dumps(sheet))
    refused(ridgebench(*RELU, path), str(path), *parts)


def test_a_bandwidth_that_comes_twice_is_refused(sheet, tmp_path):
    path = tmp_path / "sheet.json"
    text = json.dumps(sheet)
    path.write_text(text.replace('"bandwidth_bytes_per_s":', '"bandwidth_bytes_per_s": 1e12, "bandwidth_bytes_per_s":'))
    refused(ridgebench(*RELU, path), f'{path}: key "bandwidth_bytes_per_s" comes twice')


def test_a_sparse_peak_is_refused(sheet, tmp_path):
    path = tmp_path / "sheet.json"
    tensor = next(p for p in sheet["peaks"] if p["format"] == "bf16" and p["engine"] == "tensor")
    tensor.update(flops_per_s=1979e12, doubt=None)
    path.write_text(json.dumps(sheet))
    refused(ridgebench(*RELU, path), "flops_per_s", "within 1.5 %")


def test_an_unfinished_run_is_not_sound(folder):
    (folder / "SHA256SUMS").unlink()
    line = one_line(read_by("verify", folder), ROW_FAILED)
    assert "did not finish" in line and "--resume" in line


@pytest.mark.parametrize("text", ["", "0" * 64 + "  environment.json\n"])
def test_a_list_of_checksums_that_was_cut_short_is_not_sound(text, folder):
    (folder / "SHA256SUMS").write_text(text)
    result = read_by("verify", folder)
    assert result.returncode == ROW_FAILED
    assert "SHA256SUMS does not list records.jsonl" in result.stdout + result.stderr


def test_shares_and_provenance_are_verified_too(folder):
    lines = (folder / "records.jsonl").read_text().splitlines(keepends=True)
    judged = next(i for i, line in enumerate(lines) if json.loads(line)["fraction_of_measured_roof"])
    record = json.loads(lines[judged])
    record["fraction_of_measured_roof"] *= 1.5
    lines[judged] = json.dumps(record) + "\n"
    (folder / "records.jsonl").write_text("".join(lines))
    environment = read_environment(folder)
    del environment["commit"]
    (folder / "environment.json").write_text(json.dumps(environment))
    result = read_by("verify", folder)
    assert result.returncode == ROW_FAILED
    said = result.stdout + result.stderr
    assert "fraction_of_measured_roof is" in said and "environment.json lacks commit" in said


@pytest.mark.parametrize("reader", ["resume", "verify", "ceilings"])
def test_json_of_a_million_levels(reader, folder):
    lines = (folder / "records.jsonl").read_text().splitlines(keepends=True)
    deep = '"telemetry":{"x":' + "[" * 1000000 + "]" * 1000000 + "}"
    lines[0] = re.sub(r'"telemetry":\{.*\},"flags"', lambda _: deep + ',"flags"', lines[0])
    (folder / "records.jsonl").write_text("".join(lines))
    rejected(reader, read_by(reader, folder), "records.jsonl:1", "nested more than 100 levels deep")


def test_a_device_that_is_a_loop_of_links(tmp_path):
    (tmp_path / "a").symlink_to("a")
    for name in (str(tmp_path / "a"), "x" * 300):
        refused(ridgebench("predict", "relu", "n:4", "--format", "bf16", "--on", name), "unknown device")
        refused(
            ridgebench("plan", "train", "--flops", "1e20", "--on", "h100-sxm", "--mfu", name), "--mfu is"
        )
