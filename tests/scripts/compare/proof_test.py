"""The proof of the gate: what it sums up and writes; one that was ended goes on."""

import json

import pytest
from compare import gate, proof, proof_page
from synthetic_session import GOLDEN

ENVIRONMENT = json.loads((GOLDEN / "environment.json").read_text())


def session(name: str, asked: float, *verdicts: str, bound: str = "compute") -> dict:
    rows = [
        {"id": f"r{i}", "verdict": v, "change": asked, "spread": 0.005, "pairs": 20, "bound": bound}
        for i, v in enumerate(verdicts)
    ]
    return {"name": name, "asked": asked, "share": asked, "rows": rows, "environment": ENVIRONMENT}


def test_groups_by_work_added_and_limit_without_calibrations():
    sessions = [
        session("identical-01", 0, "SAME", "SAME", "WORSE"),
        session("identical-02", 0, "NOT_GATED", bound="memory"),
        session("calibration-0.02-0-x", 0.02, "SAME"),
        session("injected-0.02-01-x", 0.02, "WORSE"),
    ]
    summary = proof_page.summarise(sessions)
    groups = {(g["asked"], g["bound"]): g for g in summary["groups"]}
    assert set(groups) == {(0, "compute"), (0, "memory"), (0.02, "compute")}
    assert (groups[0, "compute"]["tries"], groups[0, "compute"]["WORSE"]) == (3, 1)
    assert groups[0.02, "compute"]["tries"] == 1


def test_the_table_gives_bounds_and_its_source():
    sessions = [session(f"identical-{i:03}", 0, "SAME") for i in range(300)]
    sessions += [session(f"injected-0.05-{i:03}-x", 0.05, "WORSE") for i in range(60)]
    text = proof_page.table(proof_page.summarise(sessions))
    none = f"0.0%, at most {gate.most_failures(0, 300):.1%}"
    all_found = f"100.0%, at least {1 - gate.most_failures(0, 60):.1%}"
    assert none in text and all_found in text
    assert "0.0%, at most 1.0%" in text and "at least 95.1%" in text
    assert "scripts/prove_gate.sh" in text and ENVIRONMENT["started"][:10] in text


def test_the_newest_proof_is_shown(tmp_path):
    assert proof_page.newest(tmp_path) is None
    for device, date in (("a", "2026-01-02"), ("b", "2026-01-01")):
        (tmp_path / device / "gate").mkdir(parents=True)
        (tmp_path / device / "gate" / f"{date}.json").write_text(json.dumps({"from": device}))
    assert proof_page.newest(tmp_path) == {"from": "a"}


@pytest.fixture(name="started")
def started_fixture(tmp_path, monkeypatch):
    """A proof whose sessions cost nothing, and the names of those that were really made."""
    made = []

    def compare(self, name, asked, share, pattern, rows):
        if name not in self.finished():
            made.append(name)
            told = session(name, asked, "WORSE" if asked else "SAME") | {"share": share}
            told["rows"][0]["change"] = 2 * share
            with self.lines.open("a") as file:
                file.write(json.dumps(told) + "\n")
        return self.finished()[name]

    monkeypatch.setattr(proof.Proof, "compare", compare)
    monkeypatch.setattr(proof.Proof, "single_look", compare)
    plan = proof.Plan(identical=2, gates=2, injected=(0.02,), rows=1)
    return proof.Proof(tmp_path / "ridgepoint", tmp_path / "out", "sim", plan), made


def test_work_is_calibrated_before_it_is_judged(started):
    the_proof, made = started
    the_proof.run()
    names = [name.split("-")[0] for name in made]
    assert names == ["identical"] * 2 + ["calibration"] * 2 + ["injected"] * 2
    told = the_proof.finished()
    assert told["injected-0.02-01-r0"]["share"] == pytest.approx(0.01), "twice as slow as asked"


def test_a_proof_goes_on_where_it_stopped(started):
    the_proof, made = started
    the_proof.run()
    count = len(made)
    lines = the_proof.lines.read_text().splitlines(keepends=True)
    the_proof.lines.write_text("".join(lines[:-1]))
    the_proof.run()
    assert len(made) == count + 1 and made[-1] == made[-2]
