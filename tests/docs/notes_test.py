"""results/<machine>/NOTES.md: every table says what the committed file that its marker names holds."""

import json
import re
import statistics
from pathlib import Path

import pytest

RESULTS = Path(__file__).resolve().parents[2] / "results"
MARKED = re.compile(r"<!-- record: (\S+)(?: (\S+))? -->\n(.*?)\n<!-- /record -->", re.DOTALL)
NO_BREAK = "\u00a0"  # a space at which no cell of a table is wrapped
COMMON_FORMATS = ("fp32", "bf16", "fp8_e4m3")


def lines(header: list[str], rows: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in [header, ["---"] * len(header), *rows])


def label(name: str) -> str:
    """A row's id in words: 'matmul packed fp32, 1024³'; a program's name stays."""
    parts = name.removesuffix("@cpu").removesuffix("/steady").split("/")
    if len(parts) < 4:
        return name
    sizes = [part.partition(":")[2] for part in parts[3:] if re.fullmatch("(m|n|k):[0-9]+", part)]
    regime = ", warm" if parts[-1] == "warm" else ""
    cube = len(sizes) > 1 and len(set(sizes)) == 1
    size = f"{sizes[0]}{' ²³'[len(sizes) - 1]}" if cube else " × ".join(sizes)
    return f"{' '.join(parts[:3])}, {size}{regime}"


def speed(value: float, unit: str) -> str:
    digits = max(0, 2 - len(str(int(value))) + 1)
    return f"{value:,.{digits}f}{NO_BREAK}{unit}"


def chosen(pair: dict, part: str) -> bool:
    """All programs; of the pairs those of three formats and of matmul itself, the others repeat them."""
    if pair.get("part") != part:
        return False
    return part == "programs" or pair["a"].split("/")[2] in COMMON_FORMATS and not pair["a"].startswith("matmul_gelu")


def pairs_table(path: Path, part: str) -> str:
    pairs = [pair for pair in json.loads(path.read_text("utf-8"))["pairs"] if chosen(pair, part)]
    rows = [
        [label(p["a"]), label(p["b"]), speed(p["a_speed"], p["unit"]), speed(p["b_speed"], p["unit"]), f"{p['ratio']:.2f}",
         f"{p['low']:.2f}{NO_BREAK}to{NO_BREAK}{p['high']:.2f}"]
        for p in pairs
    ]  # fmt: skip
    return lines(["A", "B", "speed of A", "speed of B", "A / B", "range"], rows)


def share(values: list[float], limit: float) -> str:
    return f"{sum(value <= limit for value in values) / len(values):.0%}"


def spread_rows(path: Path) -> list[list[str]]:
    result = json.loads(path.read_text("utf-8"))
    time = f"{result['budget_s']:g} s" if result.get("budget_s") else "quick"
    rows = []
    for bound in ("compute", "memory"):
        found = [row for row in result["spread"] if row["bound"] == bound]
        spreads = [row["spread"] for row in found]
        cycles = [row["spread_in_cycles"] for row in found if "spread_in_cycles" in row]
        rows.append([
            f"[{result['started'][:10]}, {result['commit'][:7]}](crosscheck/{path.name})", time, bound, str(len(found)),
            share(spreads, 0.01), share(cycles, 0.01) if cycles else "–", share(spreads, 0.05),
            f"{statistics.median(spreads):.1%}", f"{max(spreads):.0%}",
        ])  # fmt: skip
    return rows


def spread_table(paths: list[Path]) -> str:
    header = ["session, commit", "time of a run", "rows bound by", "rows", "within 1 %", "within 1 % in cycles", "within 5 %",
              "median", "largest"]  # fmt: skip
    results = {path: json.loads(path.read_text("utf-8")) for path in paths}
    measured = sorted((path for path in paths if results[path]["spread"]), key=lambda path: results[path]["started"])
    return lines(header, [row for path in measured for row in spread_rows(path)])


def table(machine: Path, pattern: str, part: str) -> str:
    paths = sorted(machine.glob(pattern))
    assert paths, f"{machine.name}: nothing matches {pattern}"
    return spread_table(paths) if part == "spread" else pairs_table(*paths, part)


def refreshed(page: Path) -> str:
    return MARKED.sub(
        lambda m: f"<!-- record: {m[1]} {m[2]} -->\n{table(page.parent, m[1], m[2])}\n<!-- /record -->", page.read_text("utf-8")
    )


@pytest.mark.parametrize("page", sorted(RESULTS.glob("*/NOTES.md")), ids=lambda page: page.parent.name)
def test_tables_are_those_of_the_records(page):
    text = page.read_text("utf-8")
    assert text.count("<!-- record: ") == len(MARKED.findall(text)) == text.count("<!-- /record -->")
    assert refreshed(page) == text


def test_every_machine_with_published_results_has_notes():
    machines = {path.parents[1] for path in RESULTS.glob("*/*/records.jsonl")} - {RESULTS / "local"}
    assert machines and [m.name for m in sorted(machines) if not (m / "NOTES.md").exists()] == []


def test_numbers_keep_three_digits_and_no_exponent():
    assert [speed(v, "GB/s") for v in (1850.0, 352.4, 48.46, 4.149)] == [f"{n}{NO_BREAK}GB/s" for n in ("1,850", "352", "48.5", "4.15")]
    assert label("matmul/packed/fp32/m:1024/n:1024/k:1024/layout:nt/steady@cpu") == "matmul packed fp32, 1024³"
    assert label("stream.c copy") == "stream.c copy"


if __name__ == "__main__":  # fills the marked parts
    for each in RESULTS.glob("*/NOTES.md"):
        each.write_text(refreshed(each), "utf-8")
