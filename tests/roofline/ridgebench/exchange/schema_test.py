"""The schemas accept the golden results and refuse what the rules of a record forbid."""

import copy

import pytest
from golden import GOLDEN, read_environment, read_records
from jsonschema import Draft202012Validator
from ridgebench.data.records import schema_of


def validator(name: str) -> Draft202012Validator:
    Draft202012Validator.check_schema(schema_of(name))
    return Draft202012Validator(schema_of(name))


RECORD = validator("record")
ENVIRONMENT = validator("environment")


def one(**wanted) -> dict:
    """The first golden record with these values."""
    records = read_records(GOLDEN)
    return copy.deepcopy(next(r for r in records if all(r[k] == v for k, v in wanted.items())))


def test_golden_results_are_valid_and_cover_every_case():
    records = read_records(GOLDEN)
    assert [list(RECORD.iter_errors(record)) for record in records] == [[]] * len(records)
    assert ENVIRONMENT.is_valid(read_environment(GOLDEN))
    assert {r["status"] for r in records} == {"ok", "wrong", "invalid", "failed", "skipped"}
    assert {r["origin"] for r in records} == {"hand", "library"}
    assert {r["role"] for r in records} == {"kernel", "ceiling"}


def test_unknown_keys_are_allowed():
    assert RECORD.is_valid(one(status="ok") | {"future_key": [1]})


@pytest.mark.parametrize("key", RECORD.schema["required"])
def test_every_key_of_a_record_is_required(key):
    record = one(status="ok")
    del record[key]
    assert not RECORD.is_valid(record)


@pytest.mark.parametrize("key", ENVIRONMENT.schema["required"])
def test_every_key_of_an_environment_is_required(key):
    environment = read_environment(GOLDEN)
    del environment[key]
    assert not ENVIRONMENT.is_valid(environment)


@pytest.mark.parametrize(
    ("wanted", "change"),
    [
        ({"status": "ok"}, {"time_median_s": None}),
        ({"status": "ok"}, {"samples_s": []}),
        ({"status": "ok", "role": "kernel"}, {"verify": None}),
        ({"status": "ok", "op": "matmul"}, {"flops_per_s": None}),
        ({"status": "ok", "op": "matmul"}, {"bytes_per_s": None}),
        ({"status": "ok", "op": "matmul"}, {"intensity_flop_per_byte": None}),
        ({"status": "ok", "op": "dram"}, {"flops_per_s": 1.0}),
        ({"status": "ok", "op": "fma"}, {"intensity_flop_per_byte": 1.0}),
        ({"status": "wrong"}, {"flops_per_s": 1e9}),
        ({"status": "wrong"}, {"time_median_s": 1.0}),
        ({"status": "skipped"}, {"reason": None}),
        ({"status": "failed"}, {"reason": ""}),
        ({"role": "kernel"}, {"saturates": "memory"}),
        ({"role": "ceiling"}, {"saturates": None}),
        ({"saturates": "cache"}, {"level": None}),
        ({"status": "ok"}, {"status": "fine"}),
        ({"status": "ok"}, {"flops": "many"}),
        ({"op": "matmul"}, {"shape": {"m": 0}}),
        ({"op": "matmul"}, {"shape": {"m": 8, "layout": "tt"}}),
        ({"status": "ok"}, {"written_fraction": 1.5}),
    ],
)
def test_rules_of_a_record(wanted, change):
    assert not RECORD.is_valid(one(**wanted) | change)
