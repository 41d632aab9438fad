"""docs/record.md and docs/commands.md list what the sources have: flags, exit codes, variables, the keys of `predict --json`."""

import json
import re
from pathlib import Path

from ridgebench.exchange.importers import records as imported

ROOT = Path(__file__).resolve().parents[2]
CODES = {".cpp", ".hpp", ".cu", ".cuh", ".py", ".h"}


def sources(*folders: str) -> str:
    paths = (path for folder in folders for path in sorted((ROOT / folder).rglob("*")))
    return "\n".join(path.read_text("utf-8") for path in paths if path.suffix in CODES)


def first_cells(page: str, heading: str) -> set[str]:
    """The names in the first column of the tables below a heading, up to the next one."""
    text = (ROOT / "docs" / page).read_text("utf-8")
    part = re.split(r"^#+ ", text[text.index(f"# {heading}\n") + 2 :], flags=re.MULTILINE)[0]
    column = [line.split(" | ")[0] for line in part.splitlines() if line.startswith("| ")]
    return {name for cell in column[2:] for name in re.findall(r"\w+", cell)}


def test_every_flag_is_explained():
    text = sources("harness", "tests/support")
    given = re.findall(r"flags\.emplace_back\((\w+|\"\w+\")\)", text)
    literal = {name.strip('"') for name in given if name.startswith('"')}
    constants = {re.search(rf"\b{name} = \"(\w+)\"", text).group(1) for name in given if not name.startswith('"')}
    injected = re.search(r"kInjectedWorkKey = \"(\w+)\"", text).group(1)
    assert len(literal) > 5 and len(constants) > 2
    assert first_cells("record.md", "Flags") == literal | constants | {imported.MEAN, imported.COUNTED, injected}


def test_every_exit_code_is_explained():
    codes = re.search(r"enum class ExitCode.*?\};", sources("kernels/common"), re.DOTALL).group()
    assert first_cells("commands.md", "Exit codes") == set(re.findall(r"= (\d+),", codes))


def test_every_variable_is_explained():
    read = set(re.findall(r"\"(RIDGEBENCH_[A-Z_]*[A-Z])\"", sources("harness", "kernels", "roofline")))
    told = {name for name in first_cells("commands.md", "Environment variables") if name.startswith("RIDGEBENCH_")}
    assert len(read) > 2 and told == read


def test_every_key_of_predict_is_explained():
    schema = json.loads((ROOT / "results/schema/predict.schema.json").read_text("utf-8"))
    assert first_cells("commands.md", "Keys of `predict --json`") == set(schema["properties"])
