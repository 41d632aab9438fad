"""Files are read within limits and replaced at once."""

from pathlib import Path

import pytest

from ridgebench.base import files
from ridgebench.base.files import ResultsError, lines_of, parse_json, parse_lenient, parse_quickly, read, replacing, write_at_once
from ridgebench.base.files import write_named, wrong


def test_a_line_without_an_end_does_not_take_all_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "LONGEST_LINE", 100)
    path = tmp_path / "records.jsonl"
    path.write_text("x" * 99 + "\n" + "x" * 200)
    with pytest.raises(ResultsError, match="records.jsonl:2: the line is longer than 100 bytes"):
        list(lines_of(path))


def test_a_mark_and_empty_lines_are_no_part_of_a_line(tmp_path):
    path = tmp_path / "records.jsonl"
    path.write_bytes(b"\xef\xbb\xbf{}\r\n\r\n\n[]")
    assert list(lines_of(path)) == [(f"{path}:1", b"{}\r\n"), (f"{path}:4", b"[]")]
    assert read(path) == "{}\r\n\r\n\n[]"


@pytest.mark.parametrize("name", ["nul\0.json", "x" * 300, "file/below"])
def test_names_that_no_file_can_have(name, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ResultsError):
        read(tmp_path / name)


@pytest.mark.parametrize("depth", [1, 100, 101, 900, 100_000])
def test_levels_of_json(depth):
    text = "[" * depth + "]" * depth
    if depth <= 100:
        assert parse_json(text, "here") is not None
    else:
        with pytest.raises(ResultsError, match="here: nested more than 100 levels deep"):
            parse_json(text, "here")


@pytest.mark.parametrize("text", ["1e309", "-1e309", "1" * 310, "1" * 10_000, "[0, 1e400]"])
def test_numbers_beyond_double_precision(text):
    with pytest.raises(ResultsError, match="here: holds a number beyond double precision"):
        parse_json(text, "here")
    assert parse_json("[1e308, 5e-324, 1e-999]", "here") == [1e308, 5e-324, 0]


@pytest.mark.parametrize("parse", [parse_json, parse_lenient, parse_quickly])
@pytest.mark.parametrize(
    "text", ['{"a": 1, "b": {"c\\u202e": 1, "d": 2, "c\u202e": 1}}', '{"a": [{"c\\u202e": {"x": 1}, "c\u202e": {"x": 1}}]}']
)
def test_a_key_that_comes_twice_is_named(parse, text):
    with pytest.raises(ResultsError, match=r"^here: the key 'c\\u202e' comes twice$"):
        parse(text, "here")
    assert parse('{"a": {"a": 1}, "b": [{"a": 1}, {"a": 2}]}', "here") == {"a": {"a": 1}, "b": [{"a": 1}, {"a": 2}]}


def test_a_temporary_file_goes_through_no_link_and_leaves_nothing(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    target = tmp_path / "report.json"
    for name in ("report.tmp", "report.json.tmp", ".report.json.tmp"):
        (tmp_path / name).symlink_to(victim)
    write_at_once(target, "new")
    assert victim.read_text() == "precious" and target.read_text() == "new" and not target.is_symlink()
    assert len(list(tmp_path.iterdir())) == 5
    with pytest.raises(OSError):
        write_at_once(tmp_path / "nowhere" / "x", "new")


def test_an_interruption_leaves_the_old_text(tmp_path, monkeypatch):
    path = tmp_path / "session.json"
    path.write_text("old")
    monkeypatch.setattr("pathlib.Path.replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        write_at_once(path, "new")
    assert [one.name for one in tmp_path.iterdir()] == ["session.json"] and path.read_text() == "old"


@pytest.mark.parametrize(
    ("error", "words"),
    [(KeyError("id"), "the key 'id' is missing"), (ValueError("seed is not a number"), "seed is not a number"), (TypeError("x"), "a value of another type (x)")],
)
def test_what_is_wrong_is_said_in_words(error, words):
    assert wrong(error) == words


def test_no_reader_shows_the_representation_of_an_exception():
    package = Path(__file__).resolve().parents[4] / "roofline" / "ridgebench"
    assert [str(path) for path in package.rglob("*.py") if "{error!r}" in path.read_text(encoding="utf-8")] == []


def test_a_file_that_the_user_named_is_replaced_at_once_where_it_can_be(tmp_path):
    """A link leads where the user wants it, and a device takes no other file in its place."""
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    before = target.stat().st_ino
    write_named(target, "new")
    assert target.read_text() == "new" and target.stat().st_ino != before
    link.symlink_to(target)
    write_named(link, "through")
    assert link.is_symlink() and target.read_text() == "through"
    write_named(Path("/dev/null"), "gone")
    with pytest.raises(OSError):
        write_named(Path("/dev/full"), "x")
    assert len(list(tmp_path.iterdir())) == 2


def test_what_a_block_writes_replaces_the_file_or_leaves_it(tmp_path):
    path = tmp_path / "figure.svg"
    path.write_text("old")
    with pytest.raises(RuntimeError), replacing(path) as fresh:
        fresh.write_text("half")
        raise RuntimeError
    assert path.read_text() == "old"
    with replacing(path) as fresh:
        fresh.write_text("new")
    assert path.read_text() == "new" and len(list(tmp_path.iterdir())) == 1
