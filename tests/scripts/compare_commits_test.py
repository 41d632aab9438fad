"""Two commits of a small repository whose build makes a simulated device."""

import shutil
import subprocess
import sys

import pytest
from command_line import BINARY, ROOT, environment

BUILD = """#!/bin/sh
set -e
cd "$(dirname "$0")/.."
test "$(cat speed)" != broken
mkdir -p build/release
echo built >>built
cat >build/release/ridgebench <<EOF
#!/bin/sh
n=\\$((\\$(cat {count}) + 1))
echo \\$n >{count}
exec {binary} "\\$@" --device "sim:gap=1e-9,row=0.004,seed=\\$n,slow=$(cat speed)"
EOF
chmod +x build/release/ridgebench
"""


def git(folder, *arguments) -> None:
    identity = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture(name="repository")
def repository_fixture(tmp_path):
    """Commits `first`, `slower` and `broken`."""
    root = tmp_path / "repository"
    shutil.copytree(ROOT / "scripts", root / "scripts")
    shutil.copytree(ROOT / "roofline" / "ridgebench", root / "roofline" / "ridgebench")
    shutil.copytree(ROOT / "results" / "schema", root / "results" / "schema")
    (tmp_path / "count").write_text("0")
    (root / "scripts" / "build.sh").write_text(
        BUILD.format(binary=BINARY, count=tmp_path / "count")
    )
    (root / "scripts" / "setup.sh").write_text("#!/bin/sh\n")
    (root / ".gitignore").write_text("/build/\n/built\n__pycache__/\n")
    git(root.parent, "init", "--quiet", "--initial-branch=main", root)
    for name, speed in (("first", "1"), ("slower", "1.05"), ("broken", "broken")):
        (root / "speed").write_text(speed)
        git(root, "add", ".")
        git(root, "commit", "--quiet", "-m", name)
        git(root, "tag", name)
    return root


def compare(root, *arguments) -> subprocess.CompletedProcess:
    command = [root / "scripts" / "compare_commits.sh", *arguments]
    variables = environment(PYTHON=sys.executable, OMP_NUM_THREADS="1")
    return subprocess.run(command, capture_output=True, text=True, check=False, env=variables)


def test_a_slower_commit_is_worse_and_is_built_in_its_own_tree(repository, tmp_path):
    options = ["--filter", "relu/naive/fp32", "--out", tmp_path / "session"]
    result = compare(repository, "first", "slower", *options, "--", "--budget", "0.1")
    assert result.returncode == 4, result.stderr
    assert "1 row: 1 WORSE" in result.stdout
    trees = list((repository / "build" / "commits").iterdir())
    assert {(tree / "speed").read_text() for tree in trees} == {"1", "1.05"}
    assert not (repository / "built").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([], 2, "give two commits"),
        (["first"], 2, "give two commits"),
        (["first", "--preset"], 2, "give two commits"),
        (["first", "nowhere"], 2, "'nowhere' is not a commit"),
        (["first", "broken"], 8, "broken does not build"),
    ],
)
def test_commits_that_cannot_be_compared(arguments, code, said, repository):
    result = compare(repository, *arguments)
    assert result.returncode == code
    assert said in result.stderr.splitlines()[-1] and result.stdout == ""
