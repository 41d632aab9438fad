"""`plan fits` has the peak of a training step, and `--timeline` its phases, as an executor of lifetimes counts them."""

import random

import pytest
from command_line import OK, answer, refused, ridgebench, strict_json
from many_calls import answers
from plans import bytes_per_parameter
from step_lifetimes import step_bands

WORDS = "plan fits --params 1e6 --on h100 --timeline --json"


def cases() -> list[dict]:
    rng = random.Random(8)
    found = []
    for layers in range(1, 13):
        for checkpoint in ["none", "layer", "sqrt", "full", *(f"every:{k}" for k in range(1, layers + 2))]:
            for gelu in (False, True):
                width, parts = rng.choice([1, 64, 100, 1024]), rng.choice([1, 1, 2, 3])
                batch = rng.randint(parts, 300)
                found.append({"layers": layers, "width": width, "batch": batch, "parts": parts, "gelu": gelu, "checkpoint": checkpoint})
    return found


def words_of(case: dict) -> list[str]:
    named = {"layers": "layers", "width": "width", "batch": "batch", "parts": "micro-batches", "checkpoint": "checkpoint"}
    words = [*WORDS.split(), *(part for key, name in named.items() for part in (f"--{name}", str(case[key])))]
    return words + (["--pre-activations"] if case["gelu"] else [])


def test_bands_and_peak_are_those_of_an_execution():
    drawn = cases()
    state = float(10**6 * bytes_per_parameter("bf16", "adamw"))
    for case, (code, text) in zip(drawn, answers([words_of(case) for case in drawn]), strict=True):
        assert code == OK, (case, text)
        reply = strict_json(text)
        bands = step_bands(**case)
        assert [(b["phase"], b["layer"] or 0, b["bytes"] - state) for b in reply["timeline"]] == bands, case
        assert reply["bytes"] - state == max(size for *_, size in bands), case


def test_the_timeline_is_a_table_too():
    shown = ridgebench("plan", *"fits --params 1e9 --layers 3 --width 1024 --batch 1024 --timeline --on h100".split()).stdout
    lines = [line.split() for line in shown.splitlines()]
    assert ["phase", "P", "G", "O", "A", "T", "bytes"] in lines
    assert [line[:2] for line in lines if line[:1] in (["forward"], ["backward"])] == [
        [phase, layer] for phase, layers in (("forward", "123"), ("backward", "321")) for layer in layers
    ]
    assert [line[0] for line in lines if line[:1] in (["loss"], ["step"], ["zero"])] == ["loss", "step", "zero"]


def test_plan_activations_says_what_it_leaves_out():
    words = "activations --layers 96 --width 12288 --batch 2048"
    reply = answer("plan", *words.split())
    assert reply["bytes"] == 2 * 96 * 12288 * 2048 and "`ridgebench plan fits` counts" in reply["note"]
    assert "note" not in answer("plan", "activations", "--model", "gpt-2", "--context", "1k", "--batch", "1")
    every = answer("plan", *words.split(), "--checkpoint", "every:10")
    assert every["bytes"] == 2 * 12288 * 2048 * (10 + 9)


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("--layers 4 --width 8 --checkpoint every:0", ("'every:0'", "none, layer, sqrt, full, or every:K")),
        ("--layers 4 --width 8 --checkpoint every:1.5", ("'every:1.5'",)),
        ("--layers 1001 --width 8 --timeline", ("--layers is 1001", "at most 1000")),
        ("--model gpt-2 --timeline", ("--timeline shows plain layers", "--layers with --width")),
    ],
)
def test_refusals_of_plan_fits(words, parts):
    refused(ridgebench("plan", "fits", "--params", "1e6", "--batch", "4", "--on", "h100", *words.split()), *parts)


def test_a_timeline_is_asked_for():
    assert "timeline" not in answer("plan", *"fits --params 1e6 --batch 4 --layers 4 --width 8 --on h100".split())
