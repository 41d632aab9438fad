"""action.yml: a valid composite action, whose script is run as GitHub runs it."""

import os
import re
import subprocess
import sys

import pytest
from golden import ROOT

yaml = pytest.importorskip("yaml", reason="scripts/setup.sh --dev installs python3-yaml")
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
STEPS = ACTION["runs"]["steps"]
JUDGE = next(step for step in STEPS if step.get("id") == "gate")
REFERENCE = re.compile(r"\$\{\{\s*(\S+)\s*\}\}")


def test_it_has_what_a_composite_action_needs():
    assert set(ACTION) == {"name", "description", "inputs", "outputs", "runs"}
    assert ACTION["runs"]["using"] == "composite"
    assert all(step["shell"] == "bash" and isinstance(step["run"], str) for step in STEPS)
    for value in ACTION["inputs"].values():
        assert set(value) <= {"description", "required", "default"}
        assert value.get("required") or value["default"] == ""


def test_every_input_is_used_as_a_variable_and_none_within_a_script():
    named = {reference for value in JUDGE["env"].values() for reference in REFERENCE.findall(value)}
    assert named == {f"inputs.{name}" for name in ACTION["inputs"]}
    assert not any("${{" in step["run"] for step in STEPS)
    assert ACTION["outputs"]["exit-code"]["value"] == "${{ steps.gate.outputs.exit-code }}"


@pytest.mark.parametrize(("change", "code"), [(0, 0), (0.05, 4)])
def test_its_script_judges(change, code, bench):
    first, second = bench.program("a"), bench.program("b", change=change)
    given = dict.fromkeys(ACTION["inputs"], "") | {"reader": "gbench", "baseline": str(first)}
    given |= {"candidate": f"'{second}'", "arguments": f"--pairs=10\n--out={bench.out}\n"}
    given |= {"junit": str(bench.folder / "j.xml")}
    env = {name: given[REFERENCE.match(value).group(1).removeprefix("inputs.")] for name, value in JUDGE["env"].items()}
    env |= {"GITHUB_ACTION_PATH": str(ROOT), "GITHUB_OUTPUT": str(bench.folder / "output"), "GITHUB_ACTIONS": "true"}
    env |= {"RUNNER_TEMP": str(bench.folder)}
    env |= {"GITHUB_STEP_SUMMARY": str(bench.folder / "summary"), "PYTHON": sys.executable}
    words = ["bash", "-e", "-o", "pipefail", "-c", JUDGE["run"]]
    done = subprocess.run(words, env=os.environ | env, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert (bench.folder / "output").read_text() == f"exit-code={code}\n"
    assert ("### Gate: passed" in (bench.folder / "summary").read_text()) == (code == 0)
    assert done.stdout.count("::error title=WORSE BM_Sort/") == (2 if code else 0) and (bench.folder / "j.xml").exists()


COMMENT = next(step for step in STEPS if step["name"] == "Comment")


@pytest.mark.parametrize("written", [None, "<!-- ridgebench gate: mine -->\n### Gate: passed\n"])
def test_its_comment_never_stands_for_an_earlier_run(written, tmp_path):
    gh = tmp_path / "gh"
    gh.write_text(f'#!/bin/sh\nfor word; do case $word in body=@*) cp "${{word#body=@}}" {tmp_path}/sent; esac; done\n')
    gh.chmod(0o755)
    if written:
        (tmp_path / "ridgebench-comment.md").write_text(written)
    given = {"COMMENT": "mine", "CODE": "6", "GH_TOKEN": "x", "PULL_REQUEST": "7"}
    assert set(COMMENT["env"]) == set(given) and COMMENT["if"].startswith("always() && inputs.comment != ''")
    env = given | {"GITHUB_ACTION_PATH": str(ROOT), "GITHUB_REPOSITORY": "owner/name", "RUNNER_TEMP": str(tmp_path), "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", COMMENT["run"]], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    sent = (tmp_path / "sent").read_text()
    assert sent == (written or "<!-- ridgebench gate: mine -->\n### Gate: no result\n\nIt ended with exit code 6. The log says why.\n")
