"""`gate bisect`: its search, its error rate, and whole searches in a made-up repository."""

import json
import shutil
import subprocess

import numpy as np
import pytest
from command_line import OK, environment, ridgebench
from ridgebench.judge import bisect, gate
from ridgebench.judge.bisect import BAD, GOOD, SKIPPED, UNDECIDED, CommitVerdict
from ridgebench.judge.limits import separating

USAGE, UNDECIDED_CODE, FAILED_CODE = 2, 3, 6


def searched(last: int, side) -> tuple[dict[int, CommitVerdict], int]:
    """What a search finds whose commits have these sides, and how many it tests."""
    tested = {0: CommitVerdict(GOOD), last: CommitVerdict(BAD)}
    while (number := bisect.next_commit(tested, last)) is not None:
        tested[number] = CommitVerdict(side(number))
    return tested, len(tested) - 2


@pytest.mark.parametrize("last", [1, 2, 3, 10, 64, 1000])
def test_each_first_bad_commit_is_found_in_few_tests(last):
    for first in range(1, last + 1) if last < 100 else (1, 2, 499, 500, 501, 1000):
        tested, tests = searched(last, lambda number: BAD if number >= first else GOOD)
        assert bisect.limits_of(tested, last) == (first - 1, first) and tests <= np.ceil(np.log2(last))


def test_commits_without_a_verdict_are_gone_round():
    tested, _ = searched(20, lambda number: SKIPPED if number % 2 else UNDECIDED if number == 10 else BAD if number >= 13 else GOOD)
    assert bisect.limits_of(tested, 20) == (12, 14) and tested[13].verdict == SKIPPED
    assert searched(9, lambda number: SKIPPED)[1] == 8, "each is tried once"


def test_a_loss_of_2_percent_among_64_commits_is_found():
    """At 0.5 % of noise, and with a change of 0.3 % among the good commits, one search of a hundred may end elsewhere."""
    generator = np.random.default_rng(63)
    wrong = open_ends = 0
    for _ in range(1500):
        first = int(generator.integers(1, 65))
        small = np.where(np.arange(65) >= generator.integers(1, 65), 0.003, 0.0)
        at_the_end = np.log1p(0.02 + small[64]) + generator.normal(0, 0.005, gate.LOOKS[0])
        loss = gate.as_share(gate.estimate(at_the_end).location)

        def side(number, first=first, small=small, loss=loss):
            change = small[number] + (0.02 if number >= first else 0)
            log_ratios = np.log1p(change) + generator.normal(0, 0.005, gate.LOOKS[-1])
            limits = separating("row", bisect.halfway(loss)).of("row")
            return bisect.side_of(str(gate.judge(log_ratios, limits)))

        good, bad = bisect.limits_of(searched(64, side)[0], 64)
        open_ends += bad - good > 1
        wrong += not good < first <= bad
    assert wrong <= 3 and open_ends <= 150
    assert bisect.error_rate(7) <= 0.01


class Repository:
    """Commits whose benchmark takes what the file `cost` says, and which do not build where it is empty."""

    def __init__(self, folder, costs):
        self.folder = folder
        folder.mkdir()
        self.git("init", "-q")
        (folder / "bench").write_text('#!/bin/sh\n[ -e "$(dirname "$0")/built" ] || exit 9\n'
                                      'printf "name,value\\nsum,%s\\nmax,2\\n" "$(cat "$(dirname "$0")/cost")"\n')  # fmt: skip
        (folder / "bench").chmod(0o755)
        self.commits = []
        for number, cost in enumerate(costs):
            (folder / "cost").write_text(f"{cost}\n" if cost else "")
            (folder / "number").write_text(f"{number}\n")
            self.git("add", "-A")
            self.git("commit", "-qm", f"change {number}")
            self.commits.append(self.git("rev-parse", "HEAD"))

    def git(self, *words):
        names = ("-c", "user.name=t", "-c", "user.email=t@example.org")
        return subprocess.run(["git", *names, *words], cwd=self.folder, check=True, capture_output=True, text=True).stdout.strip()

    def bisect(self, *words, build="test -s cost && touch built", run=("./bench",), text=None):
        text = text or f"{self.commits[0]}..{self.commits[-1]}"
        return ridgebench("gate", "bisect", text, "--reader", "csv", "--out", "search", *words,
                          "--", "sh", "-c", build, "--", *run, cwd=self.folder)  # fmt: skip


@pytest.fixture(name="repository")
def repository_fixture(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    costs = ["1.00", "1.001", None, "1.00", "1.00", "1.06", "1.06", None, "1.05"]
    return Repository(tmp_path / "repository", costs)


def test_the_commit_is_found_and_the_search_goes_on_where_it_was(repository):
    done = repository.bisect()
    assert done.returncode == OK, done.stderr
    assert f"First bad commit of sum: {repository.commits[5][:12]} change 5" in done.stdout and "cost" in done.stdout
    assert "wrong answer has a probability of at most 0." in done.stdout
    saved = json.loads((repository.folder / "search/bisect.json").read_text())
    verdicts = {repository.commits.index(commit): found["verdict"] for commit, found in saved["tested"].items()}
    assert verdicts[0] == verdicts[4] == "GOOD" and verdicts[5] == verdicts[8] == "BAD" and 2 not in verdicts
    again = repository.bisect()
    assert (again.returncode, again.stdout, again.stderr) == (OK, done.stdout, "")
    assert repository.bisect("--filter", "max").returncode == USAGE, "another question"


def test_the_answer_lists_the_code_that_changed(tmp_path):
    repository = Repository(tmp_path / "repository", ["1.00", "1.10"])
    source = '#include <stdio.h>\nint main(void) { printf("name,value\\nsum,%s\\n", '
    build = f"printf '%s' '{source}' >bench.c && echo \"\\\"$(cat cost)\\\"); return 0; }}\" >>bench.c && ${{CC:-cc}} bench.c -o program"
    done = repository.bisect(build=build, run=("./program",))
    assert done.returncode == OK, done.stderr
    assert "Machine code against the program before:\n  program: unknown: " in done.stdout and "differs" in done.stdout


def test_a_search_that_was_interrupted_builds_and_measures_nothing_twice(repository):
    assert repository.bisect().returncode == OK
    path = repository.folder / "search/bisect.json"
    saved = json.loads(path.read_text())
    whole = dict(saved["tested"])
    del saved["tested"][repository.commits[5]]
    path.write_text(json.dumps(saved))
    done = repository.bisect()
    assert done.returncode == OK and "building" not in done.stderr and done.stderr.count("testing") == 1
    assert list(json.loads(path.read_text())["tested"]) == [commit for commit in whole if commit != repository.commits[5]] + [repository.commits[5]]


def test_half_a_tree_of_a_git_that_was_killed_is_made_anew(repository):
    """A commit whose tree lacks files does not build, and the search would go round it."""
    for number, commit in enumerate(repository.commits):
        tree = repository.folder / "search" / "trees" / commit
        repository.git("worktree", "add", "--quiet", "--detach", str(tree), commit)
        (tree / "cost").unlink()
        (repository.folder / ".git" / "worktrees" / commit / "locked").write_text("initializing\n")
        if number % 2:
            shutil.rmtree(tree)
            tree.with_suffix(".whole").touch()  # of a tree that somebody removed
    done = repository.bisect()
    assert done.returncode == OK and "does not build" not in done.stdout, done.stderr


def test_commits_that_do_not_build_leave_a_range(tmp_path):
    repository = Repository(tmp_path / "repository", ["1.00", None, None, "1.10"])
    done = repository.bisect()
    assert done.returncode == UNDECIDED_CODE and "is one of 3: " in done.stdout and done.stdout.count("does not build") == 2


def test_what_cannot_be_searched_is_one_line(repository, tmp_path):
    commits = repository.commits
    for words, code, part in (
        ({"text": commits[0]}, USAGE, "allowed: GOOD..BAD"),
        ({"text": f"{commits[0]}...{commits[8]}"}, USAGE, "allowed: GOOD..BAD"),
        ({"text": f"{commits[8]}..{commits[0]}"}, USAGE, "allowed: GOOD..BAD of one line"),
        ({"text": f"nothing..{commits[0]}"}, USAGE, "git rev-parse: "),
        ({"text": f"{commits[0]}..{commits[3]}"}, UNDECIDED_CODE, "no row is WORSE"),
        ({"text": f"{commits[0]}..{commits[7]}"}, FAILED_CODE, "does not build"),
        ({"run": ("./absent",)}, USAGE, "absent"),
    ):
        done = repository.bisect("--out", tmp_path / str(len(part) + code), **words)
        assert done.returncode == code and done.stdout == "" and part in done.stderr.splitlines()[-1], (words, done.stderr)
    done = ridgebench("gate", "bisect", "a..b", "--reader", "csv", "--", "make", cwd=repository.folder)
    assert done.returncode == USAGE and "two commands are needed" in done.stderr
    done = ridgebench("gate", "bisect", "a..b", "--reader", "csv", "--", "make", "--", "./bench", cwd=tmp_path, env=environment(GIT_DIR="/nowhere"))
    assert done.returncode == USAGE and "not a git repository" in done.stderr and done.stderr.count("\n") == 1
