"""docs/reliability.md says what the tests of faults saw; ctest runs those first."""

import json
import os
from pathlib import Path

from ridgebench.pages import tables

ROOT = Path(__file__).resolve().parents[2]

# A build with sanitizers needs too much address space to be limited.
MAY_BE_SKIPPED = {"out of host memory"}


def row(fault: dict) -> str:
    return f"| {' | '.join(tables.fault_cells(fault))} |"


def test_the_page_is_current_and_no_row_was_lost():
    faults = tables.read_faults(Path(os.environ["RIDGEBENCH_BUILD"]) / "faults")
    page = (ROOT / "docs" / "reliability.md").read_text()
    for fault in faults.values():
        assert row(fault) in page, "scripts/python.sh -m ridgebench tables --faults BUILD/faults renews it"
        assert fault["lost"] == 0 and fault["tries"] > 0
    told = {line.split(" | ")[0].removeprefix("| ") for line in page.splitlines() if " | " in line}
    assert told - {"fault", "---"} - MAY_BE_SKIPPED == set(faults) - MAY_BE_SKIPPED


def write_fault(folder: Path, name: str, **changes) -> None:
    fault = {"fault": "flood", "how": "water", "tries": 2, "lost": 0, "codes": [3]} | changes
    (folder / name).write_text(json.dumps(fault))


def test_parts_of_a_fault_are_added_up(tmp_path):
    write_fault(tmp_path, "a.json")
    write_fault(tmp_path, "b.json", lost=1, codes=[-9, 0])
    faults = tables.read_faults(tmp_path)
    assert row(faults["flood"]) == "| flood | water | 4 | 1 | killed, 0, 3 |"


def test_a_stale_page_is_found_and_renewed(tmp_path, capsys):
    (tmp_path / "faults").mkdir()
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text("no markers\n")
    page = tmp_path / "docs" / "page.md"
    page.write_text("before\n<!-- faults -->\nold\n<!-- /faults -->\nafter\n")
    options = ["--faults", str(tmp_path / "faults")]
    assert tables.main(options, tmp_path) == 2
    write_fault(tmp_path / "faults", "a.json")
    assert tables.main([*options, "--check"], tmp_path) == 1
    assert tables.main([], tmp_path) == 0
    assert "old" in page.read_text(), "without the folder the table stays"
    assert tables.main(options, tmp_path) == 0
    assert "| flood | water | 2 | 0 | 3 |" in page.read_text() and "old" not in page.read_text()
    assert tables.main([*options, "--check"], tmp_path) == 0
    assert capsys.readouterr().err.count("\n") == 1
