"""docs/models.md lists the families that the program counts; UPDATE=1 writes the list anew."""

import json
import os
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/models.md"
FAMILIES = ROOT / "roofline/families"
TITLES = {
    "dense": "dense, with a gate",
    "plain": "dense, without a gate",
    "experts": "mixtures of experts",
    "latent": "latent attention",
    "hybrid": "hybrids with recurrences",
}
START, END = "The tables that it writes are in `tests/data/models`, and a test reads them.\n\n", "A file of `roofline/families` has"


def families():
    """Return the types of each file, and those that are refused."""
    counted, refused = {}, []
    for name in TITLES:
        table = json.loads((FAMILIES / f"{name}.json").read_text())
        without = {kind for kind, family in table.items() if "refused" in family or "refused" in table.get(family.get("like"), {})}
        counted[name] = sorted(set(table) - without)
        refused += without
    return counted, sorted(refused)


def listed():
    """Return the list of the page."""
    counted, refused = families()
    rows = [(TITLES[name], kinds) for name, kinds in counted.items()] + [("refused by name, beside those that a key refuses", refused)]
    items = [f"- {title}: {', '.join(kinds)}" for title, kinds in rows]
    return "".join(textwrap.fill(item, 140, subsequent_indent="  ", break_on_hyphens=False) + "\n" for item in items)


def test_the_page_lists_the_families():
    before, rest = PAGE.read_text("utf-8").split(START)
    shown, after = rest.split(END)
    if os.environ.get("UPDATE"):
        PAGE.write_text(before + START + listed() + "\n" + END + after, "utf-8")
    else:
        assert shown == listed() + "\n"


def test_every_file_is_in_the_list():
    assert {path.stem for path in FAMILIES.glob("*.json")} == {*TITLES, "common", "defaults"}
