"""The vote of a node (harness/cli/node/bits.cpp) and that of a fleet (fleet/bits.py) follow one rule."""

import json
import os
import random
import subprocess
from pathlib import Path
from typing import Any

from ridgebench.fleet.bits import Bits, bits_of, vote

VOTES = Path(os.environ["RIDGEBENCH_BUILD"]) / "tests" / "node_votes"
FLEETS = 2000
ROWS = ("unit_products/mma_sync/bf16", "relu/vec16/fp32", "matmul/wgmma/bf16")
DIFFERS = (0.0, 0.05, 0.3, 0.7)  # of the GPUs, or of their multiprocessors


def _fleet(chance: random.Random) -> list[dict[str, Any]]:
    """The bits of up to nine GPUs, of which a share has others, in up to three rows."""
    gpus, units, share = chance.randint(1, 9), chance.randint(1, 6), chance.choice(DIFFERS)
    choices = [chance.choice([None, None, "tile=128"]) for _ in range(gpus)]

    def bits(name: str) -> str:
        kind = chance.randint(1, 3) if chance.random() < share else 0
        return f"{random.Random(f'{name} {kind}').getrandbits(64):016x}"

    return [{"gpu": gpu, "row": row, "choice": choices[gpu], "fingerprint": bits(f"{row} {choices[gpu]}"),
             "units": [bits("unit") for _ in range(units)] if row == ROWS[0] else []}
            for row in ROWS[:chance.randint(1, 3)] for gpu in range(gpus) if chance.random() < 0.9]  # fmt: skip


def _of_fleet(fleet: list[dict[str, Any]]) -> dict[int, tuple[bool, bool]]:
    """For each odd GPU whether it is wrong, and whether its multiprocessors are named."""
    rows: dict[str, dict[int, Bits]] = {}
    for one in fleet:
        record = {"status": "ok", **one, "telemetry": {"unit_fingerprints": one["units"]}}
        rows.setdefault(one["row"], {})[one["gpu"]] = bits_of(record)
    return {odd.gpu: (odd.wrong, "SM" in odd.text) for odd in vote(rows, str)}


def test_both_find_the_same_gpus_in_random_fleets():
    fleets = [_fleet(random.Random(seed)) for seed in range(FLEETS)]
    text = "".join(json.dumps(fleet) + "\n" for fleet in fleets)
    done = subprocess.run([VOTES], input=text, capture_output=True, text=True, check=True)
    answers = [{gpu: (wrong, words.startswith("SM ")) for gpu, wrong, words in json.loads(line)} for line in done.stdout.splitlines()]
    assert len(answers) == FLEETS
    for seed, (fleet, answer) in enumerate(zip(fleets, answers)):
        assert _of_fleet(fleet) == answer, (seed, fleet)
    kinds = {kind for answer in answers for kind in answer.values()}
    assert kinds == {(True, True), (True, False), (False, False)}, "every kind of finding occurs"
    assert sum(not answer for answer in answers) > FLEETS // 10, "and fleets without one"
