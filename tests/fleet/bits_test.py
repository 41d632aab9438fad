"""The vote over fingerprints: the odd GPU and its multiprocessor, and no healthy fleet with a false flag."""

import json
import random
from dataclasses import replace
from functools import cache

import made_fleet as made
import pytest
from jsonschema import Draft202012Validator
from made_fleet import at, changed, make_fleet
from ridgebench.data.records import SCHEMAS
from ridgebench.fleet import fleet_file
from ridgebench.fleet.bits import Bits, bits_of, vote
from ridgebench.fleet.gpu import Fleet, Gpu
from ridgebench.fleet.judge import assess

RIGHT, WRONG = "00112233445566aa", "ffeeddccbbaa9988"
UNITS = 132
ROW = "unit_products/mma_sync/bf16/units:132/m:32/n:32/k:32/iterations:256/steady"
FALSE_FLAGS = 0  # of 2,000 healthy fleets: equal bits never differ


@cache
def _fingerprint(text: str) -> str:
    return f"{random.Random(text).getrandbits(64):016x}"


def _bits(row: str, driver: str, choice=None, odd=()) -> Bits:
    """The bits of a healthy GPU follow from row, driver branch and choice; `odd` multiprocessors have others."""
    right = _fingerprint(f"{row} {driver} {choice}")
    if not row.startswith("unit_products"):
        return Bits(right, choice)
    unit = _fingerprint(f"{driver} unit")
    return Bits(WRONG if odd else right, choice, unit, tuple((number, WRONG) for number in odd), UNITS)


def _with_bits(gpu: Gpu, choice=None, odd=()) -> Gpu:
    readings = dict(gpu.readings) | {("isolated", ROW): gpu.readings[next(iter(gpu.readings))]}
    of = {key: reading._replace(bits=_bits(key[1], gpu.facts["driver"], choice, odd)) for key, reading in readings.items()}
    return replace(gpu, readings=of)


def _fleet(**keys) -> Fleet:
    fleet = make_fleet(**keys)
    return replace(fleet, gpus=list(map(_with_bits, fleet.gpus)))


def test_a_wrong_bit_of_one_multiprocessor_is_found_with_its_number():
    found = assess(changed(_fleet(), {("gn2", 3): lambda gpu: _with_bits(gpu, odd=(77,))}))
    verdict = found.verdicts[at(found.fleet, "gn2", 3)]
    assert (verdict.state, verdict.severity, found.code) == ("WRONG", "FAIL", 6)
    assert verdict.reason.startswith("SM 77 computes other bits in unit_products/mma_sync/bf16/") and verdict.next == "ssh gn2 dcgmi diag -r 3 -i 3"
    assert [one.state for one in found.verdicts].count("WRONG") == 1


def test_other_bits_of_a_kernel_are_a_gpu_without_a_multiprocessor():
    def change(gpu: Gpu) -> Gpu:
        key = ("loaded", next(row for _, row in gpu.readings if row.startswith("fma_peak")))
        return replace(gpu, readings={**gpu.readings, key: gpu.readings[key]._replace(bits=Bits(WRONG, None))})

    found = assess(changed(_fleet(), {("gn4", 0): change}))
    (wrong,) = (one for one in found.verdicts if one.state == "WRONG")
    assert (wrong.gpu.node, wrong.gpu.index) == ("gn4", 0) and "other bits than 31 of 32 GPUs in fma_peak" in wrong.reason


def test_two_gpus_cannot_vote():
    fleet = make_fleet(nodes=1, gpus=2)
    key = next(iter(fleet.gpus[0].readings))
    gpus = [replace(gpu, readings={**gpu.readings, key: gpu.readings[key]._replace(bits=Bits(bits, None))})
            for gpu, bits in zip(fleet.gpus, (RIGHT, WRONG))]  # fmt: skip
    found = assess(replace(fleet, gpus=gpus))
    assert all(one.state != "WRONG" and "two GPUs cannot vote" in one.notes[-1] and one.severity == "WARN" for one in found.verdicts)


@pytest.mark.parametrize("changes", [{"driver": "570"}, {"seed": 2}])
def test_gpus_of_other_drivers_or_inputs_do_not_vote_on_each_other(changes):
    def change(gpu: Gpu) -> Gpu:
        gpu = replace(gpu, facts={**gpu.facts, **changes})
        return replace(gpu, readings={key: one._replace(bits=Bits(WRONG, None)) for key, one in gpu.readings.items()})

    assert not [one for one in assess(changed(_fleet(), {("gn1", 0): change})).verdicts if one.state == "WRONG"]


def test_another_choice_of_a_technique_adds_in_another_order():
    rows = {"matmul": {0: Bits(RIGHT, "tile=128"), 1: Bits(RIGHT, "tile=128"), 2: Bits(WRONG, "tile=256"), 3: Bits(RIGHT, "tile=128")}}
    assert vote(rows, str) == []


def test_one_gpu_votes_among_its_own_multiprocessors():
    units = [RIGHT] * 5 + [WRONG] + [RIGHT] * 2
    (odd,) = vote({"unit_products": {4: bits_of({"status": "ok", "fingerprint": WRONG, "telemetry": {"unit_fingerprints": units}})}}, str)
    assert (odd.gpu, odd.wrong, odd.text) == (4, True, "SM 5 computes other bits in unit_products")
    assert vote({"unit_products": {4: bits_of({"status": "ok", "fingerprint": WRONG, "telemetry": {"unit_fingerprints": [RIGHT, WRONG]}})}}, str) == []


def test_a_gpu_whose_multiprocessors_are_outvoted_has_no_vote():
    units = {0: Bits(WRONG, None, RIGHT, ((1, WRONG),), 4), 1: Bits(RIGHT, None, RIGHT, (), 4)}
    (odd,) = vote({"relu": {0: Bits(WRONG, None), 1: Bits(RIGHT, None)}, "unit_products": units}, str)
    assert (odd.gpu, odd.wrong, odd.silent, odd.text) == (0, True, True, "SM 1 computes other bits in unit_products")
    third = "0123456789abcdef"  # the multiprocessors of both together have no majority, and those of the first GPU have one
    (odd,) = vote({"unit_products": {0: Bits(WRONG, None, RIGHT, ((3, WRONG),), 4), 1: Bits(third, None, third, (), 4)}}, str)
    assert (odd.gpu, odd.silent) == (0, True) and odd.text.startswith("SM 3 computes other bits")


def test_the_report_says_that_a_wrong_gpu_has_no_vote():
    found = assess(changed(_fleet(nodes=1, gpus=2), {("gn1", 0): lambda gpu: _with_bits(gpu, odd=(77,))}))
    wrong, well = found.verdicts
    assert wrong.state == "WRONG" and wrong.notes == ["its bits have no vote on other GPUs: its multiprocessors are outvoted"]
    assert well.state != "WRONG" and not any("two GPUs cannot vote" in note for note in well.notes)


def test_without_a_majority_nobody_is_wrong():
    found = vote({"relu": {n: Bits(f"{n:016x}", None) for n in range(4)}}, str)
    assert len(found) == 4 and not any(one.wrong for one in found) and "no bits have a majority" in found[0].text


@pytest.mark.parametrize("value", ["xyz", 5, "0" * 15, RIGHT.upper()])
def test_a_malformed_fingerprint_is_refused(value):
    with pytest.raises(ValueError, match="allowed: null or 16 hexadecimal digits"):
        bits_of({"status": "ok", "fingerprint": value, "telemetry": {}})


def _random_fleet(chance: random.Random) -> tuple[dict[str, dict[int, Bits]], int]:
    """The bits of a healthy fleet whose GPUs have one of two drivers, and the number of its GPUs."""
    gpus = chance.randint(3, 64)
    choices = [chance.choice([None, "tile=128", "tile=256"]) for _ in range(gpus)]
    return {row: {n: _bits(row, "580", choices[n]) for n in range(gpus)} for row in (ROW, *made.ROWS)}, gpus


def test_two_thousand_healthy_fleets_have_no_false_flag():
    flagged = 0
    for seed in range(2000):
        rows, _ = _random_fleet(random.Random(seed))
        flagged += bool(vote(rows, str))
    assert flagged == FALSE_FLAGS


def test_the_odd_gpu_of_two_thousand_fleets_is_found_with_its_multiprocessor():
    for seed in range(2000):
        chance = random.Random(seed)
        rows, gpus = _random_fleet(chance)
        odd, number = chance.randrange(gpus), chance.randrange(UNITS)
        rows[ROW][odd] = _bits(ROW, "580", rows[ROW][odd].choice, (number,))
        (found,) = (one for one in vote(rows, str) if one.wrong)
        assert found.gpu == odd and found.text.startswith(f"SM {number} computes other bits"), seed


def test_fleet_json_has_the_bits():
    fleet = changed(_fleet(nodes=1), {("gn1", 2): lambda gpu: _with_bits(gpu, odd=(5,))})
    value = json.loads(fleet_file.text_of(fleet))
    schema = json.loads((SCHEMAS / "fleet.schema.json").read_text())
    assert list(Draft202012Validator(schema).iter_errors(value)) == []
    rows = [row["id"] for row in value["rows"]]
    (one,) = (entry for entry in value["gpus"][2]["fingerprints"]["isolated"] if rows[entry[0]] == ROW)
    assert one[4] == [[5, WRONG]] and one[5] == UNITS
