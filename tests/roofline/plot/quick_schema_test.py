"""The quick check of a schema agrees with jsonschema, on sound values and on damaged ones."""

import copy
import json

import pytest
from golden import GOLDEN, ROOT, read_records
from jsonschema import Draft202012Validator

from roofline.plot.quick_schema import compile_schema

VALUES = [None, True, False, 0, 1, -1, 0.0, 1.5, 2.0, 1e300, "", "ok", "nt", "2026-01-01T00", "x",
          [], [1], [0], ["ok"], {}, {"layout": "tn"}, {"m": 0}, {"m": 2.0}, {"m": True}]


def schema(name: str) -> dict:
    return json.loads((ROOT / "results" / "schema" / f"{name}.schema.json").read_text())


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
        return [json.loads((GOLDEN / "environment.json").read_text())]
    # One of each kind of row: many have the same keys and kinds of values.
    by_kind = {(r["status"], r["role"], r["saturates"]): r for r in read_records(GOLDEN)}
    return list(by_kind.values())


@pytest.mark.parametrize("name", ["record", "environment"])
def test_it_agrees_with_jsonschema(name):
    quick, full = compile_schema(schema(name)), Draft202012Validator(schema(name))
    refused = 0
    for document in documents(name):
        assert quick(document) and full.is_valid(document)
        for path in paths(document):
            for new in [*VALUES, ...] if path else []:
                changed = damaged(document, path, new)
                assert quick(changed) == full.is_valid(changed), (path, new)
                refused += not quick(changed)
    assert refused > 100


@pytest.mark.parametrize("value", VALUES)
def test_what_is_no_object(value):
    quick, full = compile_schema(schema("record")), Draft202012Validator(schema("record"))
    assert quick(value) == full.is_valid(value)


def test_a_keyword_that_it_does_not_know_is_an_error():
    with pytest.raises(KeyError):
        compile_schema({"oneOf": []})
