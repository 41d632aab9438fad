"""The playground's page for tests, and random questions that its model and the program answer."""

import json
import os
import random
from pathlib import Path
from typing import Any

import chromium
import pytest
from many_calls import answers

MODEL = Path(os.environ.get("RIDGEBENCH_BUILD", "")) / "playground"
SKIPS = [
    pytest.mark.skipif(not (MODEL / "playground.wasm").is_file(),
                       reason="no playground.wasm; scripts/setup.sh --web and scripts/build.sh --target playground make it"),
    pytest.mark.skipif(chromium.PROGRAM is None, reason="no chromium; scripts/setup.sh --dev installs it"),
]
WIDE, PHONE = (1280, 1000), (390, 844)
READY = """new Promise((done) => {
    const look = () => document.body.dataset.ready ? done(document.body.dataset.ready) : setTimeout(look, 5);
    look(); })"""
# Pairs of names in the picture that touch each other, or a mark.
TOUCHING = """(() => {
    const boxes = [...document.querySelectorAll('#chart .halo, #chart .region, #chart .mark')].map((one) => [one, one.getBoundingClientRect()]);
    const turned = (one) => one.getAttribute('transform');
    const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
    return boxes.flatMap(([one, a], index) => boxes.slice(index + 1).filter(([other, b]) => !turned(one) && !turned(other) && meet(a, b)
        && (one.textContent || other.textContent)).map(([other]) => one.textContent + ' and ' + other.textContent)); })()"""
# The texts of the commands, once their boxes are open.
PRINTED = """[...document.querySelectorAll('#answers details')].map((one) => { one.open = true; return one; })
    .map((one) => new Promise((done) => setTimeout(() => done(one.querySelector('pre').textContent))))"""
RUNS = "JSON.parse(document.getElementById('data').textContent).runs.map((one) => one.path)"


def some(rng: random.Random, most: int) -> str:
    """A whole number, evenly on a logarithmic scale."""
    return str(max(1, int(most ** rng.random())))


def operation_question(rng: random.Random, choices: dict[str, Any], devices: list[str]) -> list[str]:
    operation = rng.choice(choices["operations"])
    most = 1 << (30 // len(operation["dimensions"]))
    shape = "/".join(f"{name}:{some(rng, most)}" for name in operation["dimensions"])
    return ["predict", operation["name"], shape, "--format", rng.choice(operation["formats"]), "--on", rng.choice(devices)]


def serving_question(rng: random.Random, choices: dict[str, Any], devices: list[str]) -> list[str]:
    words = ["predict", "model", rng.choice(choices["models"]), "--on", rng.choice(devices), "--batch", some(rng, 2000),
             "--context", some(rng, 1 << 17), "--format", rng.choice(("fp32", "fp16", "bf16", "fp8_e4m3"))]
    return words + rng.choice(([], ["--weights", rng.choice(("fp8", "int8", "mxfp4", "int4"))]))


def memory_question(rng: random.Random, choices: dict[str, Any], devices: list[str]) -> list[str]:
    return ["plan", "fits", "--model", rng.choice(choices["models"]), "--on", rng.choice(devices), "--gpus", some(rng, 4096),
            "--batch", some(rng, 64), "--context", some(rng, 1 << 15), "--stage", rng.choice("0123"),
            "--checkpoint", rng.choice(("none", "layer", "sqrt", "full")), "--optimizer", rng.choice(("adamw", "sgd", "lion", "adafactor")),
            "--precision", rng.choice(("bf16", "fp32", "bf16-master", "fp32-bf16", "bf16-offload")), "--format", "bf16"]


def training_question(rng: random.Random, choices: dict[str, Any], devices: list[str]) -> list[str]:
    words = ["plan", "train", "--model", rng.choice(choices["models"]), "--tokens", some(rng, 10**13), "--gpus", some(rng, 1 << 14),
             "--mfu", f"{rng.randint(1, 100)}%", "--on", rng.choice(devices), "--format", rng.choice(("bf16", "fp8_e4m3"))]
    return words + rng.choice(([], ["--price-per-gpu-hour", f"{rng.uniform(0.5, 9):.2f}"]))


def questions(number: int, seed: int, choices: dict[str, Any], runs: list[str]) -> list[list[str]]:
    """Random questions of all kinds; a tenth of them asks a published run."""
    rng = random.Random(seed)
    sheets = [sheet["name"] for sheet in choices["sheets"]]
    kinds = (operation_question, operation_question, serving_question, memory_question, training_question)
    asked = []
    for index in range(number):
        words = rng.choice(kinds)(rng, choices, runs if index % 10 == 0 else sheets)
        asked.append(words + rng.choice(([], ["--json"])))
    return asked


def check(browser: Any, number: int, seed: int) -> None:
    """The page answers random questions as the program does: exit code, and what is printed."""
    asked = questions(number, seed, browser.run("playground.choices"), browser.run(RUNS))
    found = browser.run(f"{json.dumps(asked)}.map(playground.ask)")
    for words, one, printed in zip(asked, found, answers(asked, LC_ALL="C.UTF-8")):  # as the page, whose letters are UTF-8
        said = "\n".join(filter(None, (one["problem"], one["text"].removesuffix("\n"))))  # warnings come first
        assert (one["code"], said) == printed, words
    codes = [one["code"] for one in found]
    assert codes.count(0) > number / 2 and codes.count(2) > 0, "some questions are refused"
