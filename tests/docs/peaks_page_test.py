"""The examples of docs/peaks.md give what the page shows, and the table names every function."""

import doctest
import os
import re
from pathlib import Path

import ridgebench
from build_folder import skip_if_sanitized
from command_line import ridgebench as run

PAGE = Path(__file__).resolve().parents[2] / "docs" / "peaks.md"
TEXT = PAGE.read_text("utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def failures(text: str) -> int:
    """The examples of a text that give something else than it shows."""
    examples = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
    return doctest.DocTestRunner(verbose=False).run(examples, out=lambda _: None).failed


def test_the_examples_give_what_the_page_shows():
    skip_if_sanitized(Path(os.environ["RIDGEBENCH_LIBRARY"]))
    assert len(BLOCKS) == 3 and all(">>> " in block for block in BLOCKS)
    assert failures("\n".join(BLOCKS)) == 0
    assert failures("\n".join(BLOCKS).replace("989500000000000.0", "1979000000000000.0")) == 1


def test_the_table_names_every_function():
    named = set(re.findall(r"^\| `(\w+)\(", TEXT, re.MULTILINE))
    assert named == {name for name in dir(ridgebench) if name in ("peak", "bandwidth", "mfu", "devices", "predict", "plan", "roofline")}
    assert len(named) == 7


def test_the_commands_of_the_page_print_the_table():
    assert '"urn:ridgebench:peaks:1"' in run("schema", "peaks").stdout
    header = run("info", "--peaks", "c").stdout
    assert all(name in header for name in re.findall(r"`(ridgebench_\w+)\[", TEXT))
