"""Names come from files: they are printed as they are and never interpreted."""

from xml.etree import ElementTree

import pytest

from ridgebench.figures.plot import main

SVG = "{http://www.w3.org/2000/svg}"
NAMES = {
    "markup": "<script>alert(1)</script>",
    "quotes": "\"'`&amp;]]>--><!--",
    "tex": r"$\frac{1}{0}$ \alpha_{x}^{2}",
    "lone dollar": "costs $5",
    "percent and braces": "%s {0} {name}",
    "other scripts": "矩阵 матрица ‮ rtl 🎉",
    "very long": "x" * 500,
}


def svg_texts(folder) -> list[str]:
    found = []
    for path in sorted((folder / "figures").glob("*.svg")):
        root = ElementTree.parse(path).getroot()
        assert not list(root.iter(f"{SVG}script"))
        found += ["".join(node.itertext()) for node in root.iter(f"{SVG}text")]
    return found


def rename(text: str):
    """Puts the text wherever a results file holds free text."""

    def change(records, environment):
        environment["devices"][0]["model"] = text
        environment["build"]["compiler"] = text
        for record in records:
            if record["role"] == "kernel" and record["op"] == "dot":
                record["op"] = text
            if record["technique"] == "openblas":
                record["technique"] = text
            if record["status"] == "failed":
                record["reason"] = text

    return change


@pytest.mark.parametrize("text", NAMES.values(), ids=NAMES)
def test_hostile_names_are_only_text(edit, text):
    folder = edit(rename(text))
    assert main([str(folder), "--formats", "svg"]) == 0
    whole = "".join(c if c.isprintable() else " " for c in text) + " (cpu) · 2 threads"
    start = whole if len(whole) < 80 else whole[:80]
    assert any(found.startswith(start) for found in svg_texts(folder))


def test_all_of_them_at_once_in_every_file_type(edit):
    folder = edit(rename(" ".join(NAMES.values())))
    assert main([str(folder)]) == 0
    assert len(list((folder / "figures").iterdir())) == 18


@pytest.mark.parametrize("text", ["x" * 5_000_000, "x " * 2_500_000], ids=["a word", "words"])
def test_a_name_of_five_megabytes_is_cut(edit, text):
    folder = edit(rename(text))
    assert main([str(folder), "--formats", "svg"]) == 0
    assert all(len(found) < 2000 for found in svg_texts(folder))


@pytest.mark.parametrize("text", ["a\x00b", "a\x1b[31mb", "a\nb"])
def test_characters_that_no_figure_can_hold_are_replaced(edit, text):
    folder = edit(rename(text))
    assert main([str(folder), "--formats", "svg"]) == 0
    assert any(found.startswith("a") and "b (cpu)" in found for found in svg_texts(folder))


def refused(folder, capsys) -> str:
    """The one line of the refusal."""
    assert main([str(folder), "--formats", "svg"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and error[:-1].isprintable()
    return error


def test_half_a_character_is_no_json(edit, capsys):
    assert "records.jsonl:10: not JSON" in refused(edit(rename("a\ud800b")), capsys)


def test_a_format_name_cannot_leave_the_output_folder(edit, capsys):
    def change(records, _):
        for record in records:
            if record["op"] == "relu":
                record["format"] = "../../evil/fp$8$"

    folder = edit(change)
    assert "unknown format '../../evil/fp$8$'; allowed: fp32, " in refused(folder, capsys)
    assert not (folder / "figures").exists() and not list(folder.parent.rglob("*evil*"))
