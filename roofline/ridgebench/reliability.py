"""Fills the table of docs/reliability.md from what the tests of faults wrote.

    scripts/reliability.sh build/release/faults            after ctest; --check writes nothing
"""

import json
import re
from pathlib import Path

from ridgebench.command_line import OK, ROOT, STALE, USAGE, Parser, fail

PAGE = ROOT / "docs" / "reliability.md"
MARKED = re.compile(r"(<!-- faults -->\n).*(<!-- /faults -->)", re.DOTALL)
SIGNALS = {-9: "killed"}


def read_faults(folder: Path) -> dict[str, dict]:
    """One entry per fault, with the parts of a test added up."""
    faults: dict[str, dict] = {}
    for path in sorted(folder.glob("*.json")):
        part = json.loads(path.read_text("utf-8"))
        known = faults.setdefault(part["fault"], part | {"tries": 0, "lost": 0, "codes": []})
        known["tries"] += part["tries"]
        known["lost"] += part["lost"]
        known["codes"] = sorted({*known["codes"], *part["codes"]})
    return faults


def row(fault: dict) -> str:
    codes = ", ".join(SIGNALS.get(code, str(code)) for code in fault["codes"])
    cells = [fault["fault"], fault["how"], fault["tries"], fault["lost"], codes]
    return f"| {' | '.join(map(str, cells))} |"


def table(faults: dict[str, dict]) -> str:
    header = "| fault | how it is made | tries | finished rows lost | exit code |\n|" + " --- |" * 5
    return "\n".join([header, *(row(faults[name]) for name in sorted(faults))]) + "\n"


def fill(text: str, faults: dict[str, dict]) -> str:
    return MARKED.sub(lambda match: match[1] + table(faults) + match[2], text)


def main(arguments: list[str]) -> int:
    parser = Parser(prog="reliability", description=__doc__.splitlines()[0])
    parser.add_argument("faults", type=Path, help="folder that the tests of faults wrote")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if stale")
    options = parser.parse_args(arguments)
    faults = read_faults(options.faults)
    if not faults:
        return fail(f"{options.faults} holds no fault; run the tests first", USAGE, "reliability")
    before = PAGE.read_text("utf-8")
    after = fill(before, faults)
    if after != before:
        print(f"{PAGE.relative_to(ROOT)}: {'stale' if options.check else 'updated'}")
        if options.check:
            return STALE
        PAGE.write_text(after, "utf-8")
    return OK

