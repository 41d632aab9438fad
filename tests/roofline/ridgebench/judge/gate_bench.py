"""Two made-up programs and a gate between them."""

import json

from jsonschema import Draft202012Validator
from made_up_benchmark import make_benchmark
from ridgebench.__main__ import run
from ridgebench.data.records import schema_of

SCHEMA = Draft202012Validator(schema_of("comparison"))
ROWS = {f"BM_Sort/{n}": 1e-3 for n in (1, 2)}


class Bench:
    """Two programs and a gate between them."""

    def __init__(self, folder) -> None:
        self.folder, self.out = folder, folder / "session"

    def program(self, arm: str, **how):
        return make_benchmark(self.folder / arm, how.pop("rows", ROWS), seed=arm, **how)

    def words(self, first, second, *arguments, kind="gbench") -> list[str]:
        given = ["--reader", kind, "--baseline", first, "--candidate", second, "--out", self.out]
        return list(map(str, [*given, "--json", self.folder / "report.json", *arguments]))

    def gate(self, *arguments, **how) -> tuple[int, dict]:
        return self.call(*self.words(*arguments, **how))

    def call(self, *arguments) -> tuple[int, dict]:
        path = self.folder / "report.json"
        path.unlink(missing_ok=True)
        code = run("gate", list(map(str, arguments)))
        if not path.exists():
            return code, {}
        report = json.loads(path.read_text(), parse_constant=ValueError)
        SCHEMA.validate(report)
        return code, report


def verdicts(report: dict) -> dict[str, str]:
    return {row["id"]: row["verdict"] for row in report["rows"]}
