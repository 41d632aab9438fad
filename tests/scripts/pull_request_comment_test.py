"""The comment of a gate on a pull request: written once, then edited, by a made-up gh."""

import json
import os
import shutil
import subprocess

import pytest
from command_line import ROOT

MARKER = "<!-- ridgebench gate: gate -->"
GH = """#!{python} -IS
import json, os, sys
words = sys.argv[1:]
state = {state!r}
known = json.load(open(state))
with open(state + ".calls", "a") as calls:
    calls.write(json.dumps(words) + "\\n")
if os.path.exists(state + ".refuses"):
    sys.exit("gh: forbidden (HTTP 403)")
if "--jq" in words:
    for one in known:
        if one["user"]["type"] == "Bot" and one["body"].startswith(os.environ["MARKER"]):
            print(one["id"])
    sys.exit()
method = words[words.index("--method") + 1]
body = open(words[words.index("--field") + 1].partition("@")[2]).read()
if method == "POST":
    known.append(dict(id=100 + len(known), user=dict(type="Bot"), body=body))
else:
    number = int(words[words.index("--field") - 1].rpartition("/")[2])
    next(one for one in known if one["id"] == number)["body"] = body
json.dump(known, open(state, "w"))
"""


@pytest.fixture(name="github")
def github_fixture(tmp_path):
    """A repository with comments; `github.call(FILE)` runs the script."""
    folder = tmp_path / "bin"
    folder.mkdir()
    state = tmp_path / "comments.json"
    state.write_text("[]")
    (folder / "gh").write_text(GH.format(python=shutil.which("python3"), state=str(state)))
    (folder / "gh").chmod(0o755)

    class GitHub:
        path = tmp_path / "comment.md"
        calls = tmp_path / "comments.json.calls"
        refuses = tmp_path / "comments.json.refuses"

        def write(self, text: str, marker: str = MARKER):
            self.path.write_text(f"{marker}\n{text}\n")
            return self

        def comments(self) -> list[dict]:
            return json.loads(state.read_text())

        def add(self, **comment) -> None:
            state.write_text(json.dumps([*self.comments(), comment]))

        def call(self, *arguments, **variables):
            env = {"PATH": f"{folder}:{os.environ['PATH']}", "GITHUB_REPOSITORY": "owner/name", "PULL_REQUEST": "7"} | variables
            words = [ROOT / "scripts" / "pull_request_comment.sh", *(arguments or (self.path,))]
            return subprocess.run(words, env=env, capture_output=True, text=True, check=False)

    return GitHub()


def test_it_is_written_once_and_then_edited(github):
    github.add(id=1, user={"type": "User"}, body=f"{MARKER}\nof a person")
    github.add(id=2, user={"type": "Bot"}, body="of another program")
    github.add(id=3, user={"type": "Bot"}, body="<!-- ridgebench gate: other -->\nof another gate")
    for text in ("first", "second"):
        assert github.write(text).call().returncode == 0
    bodies = {one["id"]: one["body"] for one in github.comments()}
    assert bodies.pop(103) == f"{MARKER}\nsecond\n" and set(bodies) == {1, 2, 3} and "of a person" in bodies[1]
    methods = [words[words.index("--method") + 1] for line in github.calls.read_text().splitlines() if "--method" in (words := json.loads(line))]
    assert methods == ["POST", "PATCH"]
    assert all("issues/7/comments" in line or "issues/comments/103" in line for line in github.calls.read_text().splitlines())


def test_a_name_cannot_be_an_expression(github):
    hostile = '<!-- ridgebench gate: x")) or true or ("a -->'
    github.add(id=1, user={"type": "Bot"}, body="of another program")
    assert github.write("text", hostile).call().returncode == 0
    assert [one["body"] for one in github.comments()] == ["of another program", f"{hostile}\ntext\n"]


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"PULL_REQUEST": ""}, "PULL_REQUEST is ''; allowed: the number"),
        ({"PULL_REQUEST": "7/../8"}, "allowed: the number of a pull request"),
        ({"GITHUB_REPOSITORY": "x"}, "allowed: OWNER/NAME"),
    ],
)
def test_what_is_missing_is_named(variables, said, github):
    done = github.write("text").call(**variables)
    assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1


def test_a_file_without_a_marker_is_refused(github):
    github.path.write_text("### Gate: passed\n")
    done = github.call()
    assert done.returncode == 2 and "has no marker" in done.stderr and not github.calls.exists()
    assert github.call("nowhere").returncode == 2


def test_a_refusal_of_github_is_named(github):
    github.refuses.touch()
    done = github.write("text").call()
    assert done.returncode == 8 and "GitHub does not list the comments of 7" in done.stderr.splitlines()[-1]


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck is not installed")
def test_shellcheck_finds_nothing():
    done = subprocess.run(["shellcheck", ROOT / "scripts" / "pull_request_comment.sh"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
