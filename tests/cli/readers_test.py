"""Readers of files: what is not a file, too large or doubled is refused at once, in one line."""

import json
import os
import shutil

import pytest
from command_line import OK, READERS, RELU, ROW_FAILED, SMALL, read_by, read_environment, refused, ridgebench

FILES = ("records.jsonl", "environment.json", "SHA256SUMS")


@pytest.fixture(name="folder")
def folder_fixture(finished, tmp_path):
    """Return a copy that a test may damage."""
    return shutil.copytree(finished, tmp_path / "results")


def replace(path, kind: str) -> None:
    path.unlink()
    if kind == "FIFO":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "huge":
        with open(path, "wb") as file:
            file.truncate(1 << 40)  # sparse: it takes no space
    else:
        path.symlink_to(kind)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("name", FILES[:2])
@pytest.mark.parametrize("kind", ["FIFO", "folder", "/dev/zero", "huge"])
def test_what_is_no_file_is_refused_at_once(kind, name, reader, folder):
    replace(folder / name, kind)
    refused(read_by(reader, folder), str(folder))


@pytest.mark.parametrize("kind", ["FIFO", "folder", "/dev/zero", "huge"])
def test_checksums_that_are_no_file(kind, folder):
    replace(folder / "SHA256SUMS", kind)
    refused(read_by("verify", folder), "SHA256SUMS: cannot be read")


@pytest.mark.parametrize("kind", ["FIFO", "/dev/zero"])
def test_a_data_sheet_that_is_no_file(kind, tmp_path):
    path = tmp_path / "sheet.json"
    path.touch()
    replace(path, kind)
    refused(ridgebench(*RELU, path))


def test_a_copy_into_a_fifo_that_nobody_reads_is_refused(tmp_path):
    os.mkfifo(tmp_path / "copy")
    copy = f"--benchmark_out={tmp_path}/copy"
    refused(ridgebench("run", *SMALL, copy, cwd=tmp_path), "--benchmark_out: cannot write")


@pytest.mark.parametrize("reader", sorted(READERS.keys() - {"plan"}))  # plan needs a matmul, which the run lacks
def test_marks_of_order_and_carriage_returns_are_accepted(reader, folder):
    for name in FILES[:2]:
        path = folder / name
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    result = read_by(reader, folder)
    if reader == "verify":
        assert result.returncode == ROW_FAILED and "checksum differs" in result.stderr
        assert all("checksum" in line for line in result.stderr.splitlines())
    else:
        assert result.returncode == OK, result.stderr


@pytest.mark.parametrize("reader", ["resume", "ceilings", "predict"])
def test_doubled_rows_are_refused_by_name(reader, folder):
    path = folder / "records.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines, lines[1]]))
    twice = json.loads(lines[1])["id"]
    refused(read_by(reader, folder), f"{path}:{len(lines) + 1}: the row {twice} comes twice")


@pytest.mark.parametrize("reader", READERS)
def test_long_texts_make_short_messages(reader, folder):
    stored = read_environment(folder)
    stored["host"]["kernel"] = "x" * 5_000_000
    stored["schema"] = "y" * 5_000_000
    (folder / "environment.json").write_text(json.dumps(stored))
    result = read_by(reader, folder)
    if reader == "verify":  # names each thing that is not sound
        assert result.returncode == ROW_FAILED and str(folder) in result.stderr and len(result.stderr) < 1000
    elif result.returncode != OK:
        refused(result, str(folder))
