"""Where the sources of a library come from, and what a user reads where none can be used."""

import re
from hashlib import sha256
from pathlib import Path

import pytest
from configure_test import cmake, message
from golden import ROOT

LIST = ROOT / "cmake" / "third_party.cmake"
ARCHIVE = "lib-1.0.tar.gz"
GOOD = b"the archive"
WAYS_OUT = ("install it (Debian: lib-dev)", "-DRIDGEBENCH_MIRROR=", "release tarball")


@pytest.fixture(name="places")
def places_fixture(tmp_path) -> dict[str, Path]:
    """The folders that the search knows, still without archives."""
    places = {name: tmp_path / name for name in ("beside", "mirror", "public", "build")}
    for folder in places.values():
        folder.mkdir()
    return places


def search(places: dict[str, Path], online: bool = True):
    """Looks for a library that is not of the list, whose public address is a folder."""
    lines = [
        f"include({LIST})",
        f'set(third_party_lib 1.0 {ARCHIVE} {sha256(GOOD).hexdigest()} lib-dev "file://{places["public"]}/public.tar.gz")',
        f'set(RIDGEBENCH_MIRROR "{places["mirror"]}")',
        f'find_archive(lib "{places["beside"]}" "{places["build"]}" {"ON" if online else "OFF"} problem)',
        "if(problem)\n  message(FATAL_ERROR ${problem})\nendif()",
    ]
    script = places["build"].parent / "script.cmake"
    script.write_text("\n".join(["cmake_minimum_required(VERSION 3.22)", *lines]), "utf-8")
    return cmake("-P", script)


def found(places: dict[str, Path]) -> bool:
    file = places["build"] / ARCHIVE
    return file.exists() and file.read_bytes() == GOOD


@pytest.mark.parametrize(("place", "name"), [("beside", ARCHIVE), ("mirror", ARCHIVE), ("public", "public.tar.gz")])
def test_each_place_serves(place, name, places):
    (places[place] / name).write_bytes(GOOD)
    assert search(places).returncode == 0 and found(places)


def test_the_sources_folder_comes_before_the_mirror_and_the_mirror_before_the_network(places):
    for place, name in (("public", "public.tar.gz"), ("mirror", ARCHIVE), ("beside", ARCHIVE)):
        assert not (places["build"] / ARCHIVE).exists()
        (places[place] / name).write_bytes(GOOD)
        assert ("Downloading" in search(places).stdout) == (place == "public")
        (places["build"] / ARCHIVE).unlink()


@pytest.mark.parametrize("place", ["beside", "mirror"])
def test_a_wrong_archive_is_refused_by_its_name_although_the_network_has_the_right_one(place, places):
    (places[place] / ARCHIVE).write_bytes(b"another archive")
    (places["public"] / "public.tar.gz").write_bytes(GOOD)
    said = message(search(places))
    assert f"{places[place] / ARCHIVE}: its SHA-256 is {sha256(b'another archive').hexdigest()}" in said
    assert f"not {sha256(GOOD).hexdigest()}" in said and not found(places)


def test_a_wrong_archive_of_the_network_is_not_kept(places):
    (places["public"] / "public.tar.gz").write_bytes(b"another archive")
    assert "its SHA-256 is" in message(search(places)) and not list(places["build"].iterdir())


def test_a_wrong_archive_of_an_earlier_try_is_replaced(places):
    (places["build"] / ARCHIVE).write_bytes(GOOD[:5])
    (places["mirror"] / ARCHIVE).write_bytes(GOOD)
    assert search(places).returncode == 0 and found(places)


def test_one_line_names_the_library_what_failed_and_the_ways_out(places):
    result = search(places)
    lines = [line for line in result.stderr.splitlines() if "lib 1.0" in line]
    assert len(lines) == 1 and all(way in lines[0] for way in WAYS_OUT)
    assert f"{places['mirror'] / ARCHIVE}: No such file" in lines[0]


def test_without_downloads_the_public_address_is_not_tried(places):
    (places["public"] / "public.tar.gz").write_bytes(GOOD)
    said = message(search(places, online=False))
    assert "RIDGEBENCH_FETCH is OFF" in said and all(way in said for way in WAYS_OUT)


def test_a_mirror_that_is_no_mirror_is_named(places):
    for mirror in ("file:///no/such/folder", "/no/such/folder"):
        said = message(search(places | {"mirror": mirror}))
        assert f"{mirror}/{ARCHIVE}: " in said


def test_the_list_is_whole():
    text = LIST.read_text("utf-8")
    names = re.search(r"set\(RIDGEBENCH_THIRD_PARTY (.*?)\)", text)[1].split()
    entries = re.findall(r"^set\(third_party_(\w+) (\S+) (\S+)[^\n]*\n  ([0-9a-f]{64}) (\S+)\n((?:  \S+\n?)+)", text, re.MULTILINE)
    assert [entry[0] for entry in entries] == names
    for name, version, archive, _, package, addresses in entries:
        assert archive.startswith(f"{name}-{version}.tar") and package.startswith(("lib", "nlohmann"))
        assert len(addresses.split()) >= 2
