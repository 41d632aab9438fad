"""The keys of a record are declared in one place, harness/results/record.hpp.

A file that names most of the keys would be a second list to maintain. record_docs writes the schema and the table of
docs/record.md from the first list, and record_docs_test.cpp compares them.
"""

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
LIST = "harness/results/record.hpp"
WRITTEN_FROM_IT = {"results/schema/record.schema.json", "docs/record.md"}
MOST_OF_THEM = 0.8


def keys() -> set[str]:
    """The names in the list: Key{"name", ...} and TimeKey{"name", ...}."""
    return set(re.findall(r'Key\{"(\w+)"', (ROOT / LIST).read_text("utf-8")))


def files() -> list[Path]:
    found = [ROOT / "docs" / "record.md"]
    for folder in ("harness", "kernels", "roofline", "scripts", "results/schema"):
        found += [path for path in (ROOT / folder).rglob("*") if path.suffix in {".hpp", ".cpp", ".py", ".sh", ".json"}]
    return found


def test_the_list_has_every_key_of_the_schema():
    schema = json.loads((ROOT / "results/schema/record.schema.json").read_text("utf-8"))
    assert set(schema["properties"]) - {"schema"} <= keys()


def test_keys_are_declared_in_one_place():
    names = keys()
    assert len(names) > 40
    lists = set()
    for path in files():
        quoted = set(re.findall(r'["`](\w+)["`]', path.read_text("utf-8"))) & names
        if len(quoted) >= MOST_OF_THEM * len(names):
            lists.add(path.relative_to(ROOT).as_posix())
    assert lists == {LIST} | WRITTEN_FROM_IT


def test_a_key_is_written_once_in_the_list():
    text = (ROOT / LIST).read_text("utf-8")
    record = text[text.index("kRecordKeys{") :]
    written = re.findall(r'Key\{"(\w+)"', record)
    assert len(written) == len(set(written))
