"""What the tests of faults saw, for docs/reliability.md: a file per test in the build's folder."""

import json
import os
import re
from pathlib import Path

FOLDER = "faults"


def tell_fault(
    fault: str, how: str, tries: int, lost: int, codes: set[int], part: str = ""
) -> None:
    """`lost`: finished rows that were there before the fault and are not after it, of all tries.

    Tests of the same fault have a `part` each; their tries are added up.
    """
    folder = Path(os.environ["RIDGEBENCH_BUILD"]) / FOLDER
    folder.mkdir(exist_ok=True)
    name = re.sub(r"\W+", "-", f"{fault} {part}").strip("-")
    told = {"fault": fault, "how": how, "tries": tries, "lost": lost, "codes": sorted(codes)}
    (folder / f"{name}.json").write_text(json.dumps(told), encoding="utf-8")


def rows_lost(before: list[str], after: list[str]) -> int:
    """Finished lines of records.jsonl that are gone."""
    return len(set(before) - set(after))
