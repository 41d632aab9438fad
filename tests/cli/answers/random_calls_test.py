"""5,000 random calls of `predict` and `plan` agree with resource accounting in exact fractions (accounting.py).

The devices are all data sheets and made-up results folders. One process answers all calls. `predict` is compared with
the roof of every published record as well.
"""

import json
import math
import random
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
from accounting import ABOVE, DIMENSIONS, FORMATS, TENSOR, WIDTH, Refused, all_sheets, folder_device, predict, solve
from command_line import OK, ROOT, USAGE, records, strict_json
from many_calls import answers
from plans import (
    BLOCKS,
    PRECISIONS,
    STATES,
    best_mfu,
    bytes_per_parameter,
    plan_activations,
    plan_mfu,
    plan_state,
    plan_tensor,
    plan_train,
    sent_per_parameter,
)

CALLS = 5000
MADE_UP = 12  # results folders
CLOSE = 1e-12  # some roundings of doubles
SHEETS = all_sheets()
PUBLISHED = sorted(path.parent for path in (ROOT / "results").glob("*/20*/records.jsonl"))
SUFFIXES = {"k": 3, "K": 3, "M": 6, "G": 9, "B": 9, "b": 9, "T": 12}


def small(folder: Path, target: Path) -> Path:
    """A copy of published results without samples and skipped rows, which is read several times faster."""
    target.mkdir(parents=True)
    (target / "environment.json").write_text((folder / "environment.json").read_text())
    rows = [row | {"samples_s": row["samples_s"][:1], "telemetry": {}} for row in records(folder) if row["status"] == "ok"]
    lines = map(json.dumps, rows)
    (target / "records.jsonl").write_text("".join(line + "\n" for line in lines))
    return target


def spelled(rng: random.Random, value: int) -> str:
    """One of the ways in which the command line takes a whole number."""
    spellings = [str(value), f"{value}.0", f"{value}e0"]
    for suffix, power in SUFFIXES.items():
        if value % 10 ** (power - 3) == 0 and value >= 10 ** (power - 1):
            whole, rest = divmod(value, 10**power)
            spellings.append(f"{whole}.{rest:0{power}d}".rstrip("0").rstrip(".") + suffix)
            spellings.append(f"{whole}.{rest:0{power}d}e{power}")
    return rng.choice(spellings)


def some(rng: random.Random, most: int) -> int:
    """A whole number with few digits, evenly on a logarithmic scale."""
    value = int(10 ** rng.uniform(0, len(str(most)) - 1))
    digits = 10 ** max(0, len(str(value)) - rng.randint(1, 4))
    return max(1, min(most, value // digits * digits))


def row_like(template: dict, **changes) -> dict:
    return template | {"samples_s": [1.0], "telemetry": {}, "flags": [], "roof": None, "mfu": None} | changes


def made_up_rows(rng: random.Random, kernel: dict, ceiling: dict) -> list[dict]:
    """Ceilings of an arbitrary device, some rows that exceed them, and rows that count for nothing."""
    rows = []

    def add(template: dict, **changes):
        rows.append(row_like(template, id=f"row {len(rows)}", device="cuda:0", **changes))

    def add_ceiling(kind: str, form: str, rate: float, **changes):
        amounts = {"bytes": rate, "flops": 0} if kind == "memory" else {"bytes": 0, "flops": rate}
        changes = {"accumulator": "fp32", "written_fraction": 0, "burst": False} | changes
        times = dict.fromkeys([key for key in ceiling if key.startswith("time_")], rng.choice([1, 0.5]))
        times |= {"flops_per_s": 1, "bytes_per_s": 1}
        add(ceiling, saturates=kind, format=form, arithmetic=form, **amounts, **times, **changes)

    for mix in rng.sample([0, 1 / 3, 0.5, 1], rng.randint(1, 4)):
        for _ in range(rng.randint(1, 2)):
            add_ceiling("memory", "fp32", rng.uniform(1e10, 8e12), written_fraction=mix)
    if rng.random() < 0.8:
        add_ceiling("fma", "fp32", rng.uniform(1e11, 9e13))
    for form in rng.sample(sorted(WIDTH), rng.randint(0, 5)):
        engine = rng.choice(["tensor", "fma"])
        add_ceiling(engine, form, rng.uniform(1e12, 2e15), burst=rng.random() < 0.2)
        add_ceiling(engine, form, rng.uniform(1e12, 2e15), accumulator=rng.choice(["fp32", "fp16"]))
    if rng.random() < 0.5:
        for _ in range(2):  # the slower one counts
            add_ceiling("sfu", "fp32", rng.uniform(1e9, 5e12))
    for _ in range(rng.randint(0, 12)):
        operation = rng.choice(["relu", "dot", "gelu", "matmul", "matmul", "matmul_gelu"])
        form = rng.choice(FORMATS[operation])
        times = dict.fromkeys([key for key in kernel if key.startswith("time_")], 1)
        add(
            kernel, op=operation, format=form, arithmetic=rng.choice([form, "fp32", "bf16"]),
            engine=rng.choice(["fma", "tensor"]), flops=rng.uniform(1e9, 3e15), bytes=rng.uniform(1e9, 9e12),
            written_fraction=rng.choice([0, 1e-9, 0.25, 1 / 3, 0.5]), mfu=rng.choice([None, 0.25, 0.75]),
            regime=rng.choice(["steady", "steady", "cold"]), burst=False, accumulator=rng.choice(["fp32", "fp16"]),
            flops_per_s=1, bytes_per_s=1, **times,
        )  # fmt: skip
    rng.shuffle(rows)
    return rows


def made_up_folder(rng: random.Random, folder: Path) -> Path:
    h100 = next(path for path in PUBLISHED if "h100" in str(path))
    rows = records(h100)
    kernel = next(row for row in rows if row["op"] == "relu" and row["status"] == "ok")
    ceiling = next(row for row in rows if row["op"] == "dram_copy" and row["status"] == "ok")
    facts = {
        "name": "cuda:0",
        "model": f"Device {rng.randint(0, 99)}",
        "memory_bytes": some(rng, 10**12) + 10**8,
        "data_sheet": rng.choice([None, *SHEETS]),
        "launch_floor_s": rng.choice([None, rng.uniform(1e-7, 1e-5)]),
    }
    folder.mkdir(parents=True)
    (folder / "environment.json").write_text(json.dumps({"devices": [facts], "interrupted": False}))
    lines = [json.dumps(row) for row in made_up_rows(rng, kernel, ceiling)]
    (folder / "records.jsonl").write_text("\n".join(lines) + "\n")
    return folder


class Calls:
    """Draws calls. Each method returns the words and a function that computes the answer."""

    def __init__(self, rng: random.Random, devices: dict):
        self.rng = rng
        self.devices = devices  # how --on names a device -> the device
        self.folders = [on for on in devices if "/" in on]

    def device(self, rate: float = 0.8) -> tuple[list[str], object]:
        if self.rng.random() > rate:
            return [], None
        on = self.rng.choice(list(self.devices))
        shown = on.upper() if "/" not in on and self.rng.random() < 0.3 else on
        return ["--on", shown], self.devices[on]

    def form(self, allowed: list[str]) -> str:
        form = self.rng.choice(allowed)
        return "fp8" if form == "fp8_e4m3" and self.rng.random() < 0.5 else form

    def number(self, option: str, most: int) -> tuple[list[str], int]:
        value = some(self.rng, most)
        return [option, spelled(self.rng, value)], value

    def predict(self):
        operation = self.rng.choice(list(FORMATS))
        names = DIMENSIONS[operation]
        most = {1: 10**12, 2: 10**8, 3: 10**5}[len(names)]
        sizes = {name: some(self.rng, most) for name in names}
        shape = "/".join(f"{name}:{spelled(self.rng, size)}" for name, size in sizes.items())
        if self.rng.random() < 0.3:  # one number: of every dimension where it has no name or is n
            size, name = sizes[names[-1]], self.rng.choice(["", "n", *names])
            sizes = dict.fromkeys(names if name in ("", "n") else name, size)
            shape = (name and f"{name}:") + spelled(self.rng, size)
        if operation in TENSOR and self.rng.random() < 0.3:
            shape += f"/layout:{self.rng.choice(['nt', 'nn', 'tn'])}"
        form = self.form(FORMATS[operation])
        on, device = self.device(1)
        return ["predict", operation, shape, "--format", form, *on], lambda: predict(operation, sizes, form, device)

    def mfu(self, device, form: str) -> tuple[list[str], object]:
        """The option and a function that returns the share."""
        rng = self.rng
        if rng.random() < 0.25:
            folder = rng.choice(self.folders)

            def measured():
                share = best_mfu(Path(folder), form)
                if self.devices[folder].sheet is None or self.devices[folder].sheet != device.sheet:
                    raise Refused
                return share

            return ["--mfu", folder], measured
        percent = rng.randint(1, 100)
        text = rng.choice([f"{percent}%", str(percent / 100), f"{percent / 100:.3f}"])
        return ["--mfu", text], lambda: Fraction(percent, 100)

    def train(self):
        rng = self.rng
        words, amounts = ["plan", "train"], {}
        kinds = [["--parameters", "--tokens"], ["--params", "--tokens"], ["--flops"], ["--days"]]
        for option in rng.choice(kinds):
            chosen, value = self.number(option, 10**4 if option == "--days" else 10**15)
            words += chosen
            amounts["parameters" if option.startswith("--param") else option[2:]] = Fraction(value)
        form = self.form(FORMATS["matmul"])
        on, device = self.device()
        if device is None:
            return words, lambda: plan_train(amounts, 1, None, form, None)
        gpus, count = self.number("--gpus", 10**5) if rng.random() < 0.7 else ([], 1)
        option, share = self.mfu(device, form)
        words += ["--format", form, *on, *gpus, *option]
        costs = {}
        for name, words_of in (("watts", "--watts"), ("pue", "--pue"), ("price", "--price-per-gpu-hour")):
            if rng.random() < 0.3:
                costs[name] = Fraction(rng.randint(100, 2000), 100 if name == "pue" else 10)
                words += [words_of, str(float(costs[name]))]
        return words, lambda: plan_train(amounts, count, share(), form, device, costs)

    def own_mfu(self):
        rng, words, amounts = self.rng, ["plan", "mfu"], {}
        for option in rng.choice([["--parameters", "--tokens"], ["--flops"]]):
            chosen, value = self.number(option, 10**15)
            words += chosen
            amounts[option[2:]] = Fraction(value)
        form, seconds = self.form(FORMATS["matmul"]), Fraction(rng.randint(1, 10**6), 1000)
        on, device = self.device(1)
        gpus, count = self.number("--gpus", 10**5)
        words += ["--time", str(float(seconds)), "--format", form, *on, *gpus]
        return words, lambda: plan_mfu(amounts, seconds, count, form, device)

    def solve(self):
        """The size from which an operation is compute-bound on a data sheet."""
        rng = self.rng
        operation = rng.choice(list(FORMATS))
        names, form = DIMENSIONS[operation], self.form(FORMATS[operation])
        dimension = rng.choice(names)
        square = rng.random() < 0.4 or len(names) == 1
        sizes = {} if square else {name: some(rng, 10**5) for name in names if name != dimension}
        shape = ["/".join(f"{name}:{size}" for name, size in sizes.items())] if sizes else []
        name = rng.choice(list(SHEETS))
        words = ["predict", operation, *shape, "--solve", dimension, "--format", form, "--on", name]
        return words, lambda: solve(operation, sizes, dimension, form, SHEETS[name])

    def state(self, words: list[str], stage: int, ranks: int, gpus: int, on: list[str], device):
        rng = self.rng
        precision, optimizer = rng.choice(list(PRECISIONS)), rng.choice(list(STATES))
        words = [*words, "--precision", precision, "--optimizer", optimizer, *on]
        parameters = None
        if rng.random() < 0.6:
            chosen, value = self.number("--params", 10**13)
            words, parameters = words + chosen, Fraction(value)
        memory = None if device is None else device.memory_bytes * gpus
        each = bytes_per_parameter(precision, optimizer, stage, ranks)

        def reply():
            found = plan_state(each, parameters, memory)
            if words[1] != "zero":
                return found
            return found | {
                "communication_bytes": found["parameters"] * sent_per_parameter(precision, optimizer, stage, ranks)
            }

        return words, reply

    def memory(self):
        on, device = self.device()
        gpus, count = self.number("--gpus", 10**4) if device is not None else ([], 1)
        return self.state(["plan", "memory", *gpus], 0, 1, count, on, device)

    def zero(self):
        stage = self.rng.randint(0, 3)
        chosen, ranks = self.number("--ranks", 10**4)
        on, device = self.device(0.5)
        return self.state(["plan", "zero", "--stage", str(stage), *chosen], stage, ranks, 1, on, device)

    def tensor(self):
        sizes = [some(self.rng, 5000) for _ in range(self.rng.randint(1, 4))]
        form = self.form([*WIDTH, *BLOCKS])
        on, device = self.device(0.3)
        words = ["plan", "tensor", "--shape", "x".join(spelled(self.rng, size) for size in sizes)]

        def reply():
            size = plan_tensor(sizes, form)
            return {"bytes": size} | ({"fits": size <= device.memory_bytes} if device else {})

        return [*words, "--format", form, *on], reply

    def activations(self):
        rng = self.rng
        options = [self.number(option, most) for option, most in
                   (("--layers", 1000), ("--width", 10**5), ("--batch", 10**7))]  # fmt: skip
        parts, count = self.number("--micro-batches", 1000) if rng.random() < 0.5 else ([], 1)
        pre, form = rng.random() < 0.5, self.form(list(WIDTH))
        checkpoint = rng.choice(["none", "layer", "sqrt", "full"])
        words = ["plan", "activations", *(word for chosen, _ in options for word in chosen), *parts]
        words += ["--format", form, *(["--pre-activations"] if pre else [])]
        words += ["--checkpoint", checkpoint]
        layers, width, batch = (value for _, value in options)
        return words, lambda: {"bytes": plan_activations(layers, width, batch, count, pre, checkpoint, form)}

    def draw(self):
        kinds = [self.predict, self.train, self.memory, self.zero, self.tensor, self.activations, self.own_mfu, self.solve]
        return self.rng.choices(kinds, [8, 4, 2, 2, 2, 2, 1, 1])[0]()


def differences(reply: dict, expected: dict) -> list[str]:
    found = []
    for key, value in expected.items():
        there = reply[key]
        if isinstance(value, Fraction):
            same = there is not None and math.isclose(there, value, rel_tol=CLOSE)
        else:
            same = there == value
        if not same:
            found.append(f"{key}: {there}, not {float(value) if isinstance(value, Fraction) else value}")
    return found


@pytest.fixture(scope="module", name="published")
def published_fixture(tmp_path_factory) -> dict[Path, Path]:
    """Small copies of the published results."""
    base = tmp_path_factory.mktemp("published")
    return {folder: small(folder, base / folder.parent.name / folder.name) for folder in PUBLISHED}


@pytest.fixture(scope="module", name="devices")
def devices_fixture(tmp_path_factory) -> dict:
    base = tmp_path_factory.mktemp("made-up")
    rng = random.Random(39)
    folders = [made_up_folder(rng, base / str(i)) for i in range(MADE_UP)]
    return SHEETS | {str(folder): folder_device(folder, SHEETS) for folder in folders}


def test_random_calls_agree_with_exact_fractions(devices):
    draw = Calls(random.Random(2026), devices).draw
    calls = [draw() for _ in range(CALLS)]
    disagreements, outcomes = [], Counter()
    for (words, expected), (code, text) in zip(calls, answers([[*words, "--json"] for words, _ in calls]), strict=True):
        try:
            problems = differences(strict_json(text), expected()) if code == OK else []
            if code != OK:
                expected()
                problems = [text]
        except Refused:
            problems = [] if code == USAGE and text.startswith("ridgebench: ") else [f"accepted: {text}"]
        outcomes[code] += 1
        disagreements += [f"{' '.join(words)}: {problem}" for problem in problems]
    assert not disagreements, f"{len(disagreements)} of {CALLS}: " + "\n".join(disagreements[:10])
    assert outcomes[OK] > 0.8 * CALLS and outcomes[USAGE] > 100, outcomes


def shape_text(row: dict) -> str:
    return "/".join(f"{dimension}:{size}" for dimension, size in row["shape"].items())


@pytest.mark.parametrize("folder", PUBLISHED, ids=[path.parent.name for path in PUBLISHED])
def test_predict_has_the_roof_of_every_published_record(folder, published):
    """The same peak, bandwidth and so ridge, unless a verified row was faster than the ceiling.

    These records are older than the rule that CUDA cores compute in fp32, so that relu and matvec may name the
    ceiling of their technique's engine, or none. A product of a slower engine is judged by that engine.
    """
    rows = [row for row in records(folder) if row["role"] == "kernel" and row["roof"]]
    asked = sorted({(row["op"], shape_text(row), row["format"]) for row in rows})
    calls = [["predict", *key[:2], "--format", key[2], "--on", str(published[folder]), "--json"] for key in asked]
    replies = {key: strict_json(text) for key, (_, text) in zip(asked, answers(calls), strict=True)}
    compared = 0
    for row in rows:
        reply, roof = replies[row["op"], shape_text(row), row["format"]], row["roof"]
        raised = reply["bandwidth_from"] != roof["memory_ceiling"]
        assert reply["bandwidth_bytes_per_s"] == roof["bytes_per_s"] or (
            raised and reply["bandwidth_bytes_per_s"] > ABOVE * roof["bytes_per_s"]
        ), row["id"]
        if row["op"] in TENSOR and reply["peak_flops_per_s"] > (roof["flops_per_s"] or 0):
            continue  # the technique's engine is not the fastest, or its ceiling did not exist
        older = row["op"] not in TENSOR and not str(roof["compute_ceiling"]).startswith("fma_peak/")
        assert reply["peak_flops_per_s"] == roof["flops_per_s"] or older, row["id"]
        if not raised and not older:
            ridge = roof["flops_per_s"] / roof["bytes_per_s"]
            assert reply["ridge_flop_per_byte"] == pytest.approx(ridge, rel=1e-12), row["id"]
            compared += 1
    assert compared > 20
