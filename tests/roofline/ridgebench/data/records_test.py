"""The reader checks records as jsonschema does, on sound values and on damaged ones."""

import copy
import json
import subprocess
import sys

import pytest
from golden import GOLDEN, ROOT, read_environment, read_records
from jsonschema import Draft202012Validator

from ridgebench.data.records import ResultsError, parse, schema_of

VALUES = [None, True, False, 0, 1, -1, 0.0, 1.5, 2.0, 1e300, "", "ok", "nt", "2026-01-01T00", "x",
          [], [1], [0], ["ok"], {}, {"layout": "tn"}, {"m": 0}, {"m": 2.0}, {"m": True}]


def paths(value, start=()):
    """Every place in a JSON value; of a list the first two."""
    yield start
    if isinstance(value, (dict, list)):
        items = value.items() if isinstance(value, dict) else enumerate(value[:2])
        for key, inner in items:
            yield from paths(inner, (*start, key))


def damaged(value, path, new):
    copied = copy.deepcopy(value)
    place = copied
    for step in path[:-1]:
        place = place[step]
    if new is Ellipsis:
        del place[path[-1]]
    else:
        place[path[-1]] = new
    return copied


def documents(name: str) -> list:
    if name == "environment":
        return [read_environment(GOLDEN)]
    # One of each kind of row: many have the same keys and kinds of values.
    by_kind = {(r["status"], r["role"], r["saturates"]): r for r in read_records(GOLDEN)}
    return list(by_kind.values())


def accepts(name: str, value) -> bool:
    """True if the reader takes this value; what it refuses it names in one line."""
    try:
        return parse(json.dumps(value), name, "here") == value
    except ResultsError as error:
        assert str(error).startswith("here: ") and "\n" not in str(error)
        return False


@pytest.mark.parametrize("name", ["record", "environment"])
def test_it_agrees_with_jsonschema(name):
    full = Draft202012Validator(schema_of(name))
    refused = 0
    for document in documents(name):
        assert accepts(name, document) and full.is_valid(document)
        for path in paths(document):
            for new in [*VALUES, ...] if path else []:
                changed = damaged(document, path, new)
                assert accepts(name, changed) == full.is_valid(changed), (path, new)
                refused += not accepts(name, changed)
    assert refused > 100


@pytest.mark.parametrize("value", VALUES)
def test_what_is_no_object(value):
    assert accepts("record", value) == Draft202012Validator(schema_of("record")).is_valid(value)


def test_results_of_the_projects_former_name_are_read():
    for name in ("record", "environment"):
        document = documents(name)[0]
        current, former = schema_of(name)["properties"]["schema"]["enum"]
        assert document["schema"] == current != former
        assert accepts(name, document | {"schema": former})
        assert not accepts(name, document | {"schema": former + "0"})


def test_without_fastjsonschema_results_are_read_and_it_says_so(results):
    program = "import sys; sys.modules['fastjsonschema'] = None; from ridgebench.data.records import *; "
    program += f"print(len(load_run(Path({str(results)!r})).rows))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True,
                          env={"PYTHONPATH": str(ROOT / "roofline")})
    assert int(done.stdout) == len(read_records(results))
    assert done.stderr.count("\n") == 2 and "fastjsonschema is missing" in done.stderr
