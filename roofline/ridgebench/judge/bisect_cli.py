"""`gate bisect GOOD..BAD -- BUILD -- RUN`: finds the commit that made a row slower, by pairs of processes."""

import argparse
import itertools
import re
import shutil
import subprocess
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Optional

from ridgebench.base.children import answered, end, tied
from ridgebench.base.command_line import OK, ROW_FAILED, UNDECIDED, USAGE, CommandError, Parser, number_within
from ridgebench.base.files import ResultsError, malformed, parse_json, read, write_at_once
from ridgebench.base.interruption import held
from ridgebench.base.printers import aligned, json_text
from ridgebench.base.text import clean, cut, one_line
from ridgebench.base.units import counted

from . import bisect, gate
from .bisect import CommitVerdict
from .code.finding import SAME
from .code.rows import rows_of
from .command_session import CommandSession
from .limits import Limits, separating
from .measure import deaf_to_pipes, measure, say
from .output import MOST_MINUTES
from .readers import READERS, gbench_filter
from .report import Comparison, percent
from .ridgebench_session import RidgebenchSession
from .session import ARMS, Session

_PROGRAM = "gate bisect"
_OWN = "ridgebench"
_TREE = "{tree}"  # in RUN: the folder of the commit
_SCHEMA = "ridgebench.bisect/1"
_LONGEST_SUBJECT = 60
_MOST_CODE = 20  # kernels that the answer lists
_HELP = f"""\
BUILD runs in a folder of each commit, and RUN starts its benchmark: a program
with a slash is taken from that folder, and {_TREE} names the folder. A commit
that does not build, or whose benchmark fails, is skipped. The same --out goes
on with a search, and builds nothing twice.
Exit codes: 0 found, 2 usage, 3 undecided between several commits, 6 the first
or the last commit failed.

Examples:
  ridgebench gate bisect v1.2..main --reader gbench -- make bench -- ./bench"""


def _git(*words: str) -> str:
    """The output of git. Raises CommandError with its last line."""
    try:
        done = answered(["git", *words], text=True, errors="replace")
    except OSError as error:
        raise CommandError(f"cannot run git: {error.strerror}", USAGE) from None
    if done.returncode != 0:
        said = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise CommandError(f"git {words[0]}: {said}", USAGE)
    return done.stdout.strip()


def _commits(text: str) -> list[str]:
    """The commits of GOOD..BAD along first parents, from GOOD to BAD."""
    good, dots, bad = text.partition("..")
    if not (good and dots and bad) or bad.startswith(".") or text.startswith("-"):
        raise CommandError(f"'{text}' names no commits; allowed: GOOD..BAD", USAGE)
    first, last = (_git("rev-parse", "--verify", "--end-of-options", f"{name}^{{commit}}") for name in (good, bad))
    line = _git("rev-list", "--first-parent", "--reverse", f"{first}..{last}").split()
    if not line or _git("rev-parse", f"{line[0]}^1") != first:
        raise CommandError(f"{good} is not before {bad} on its line of first parents; allowed: GOOD..BAD of one line", USAGE)
    return [first, *line]


@dataclass
class _Search:
    """A folder with the trees of the commits, their sessions, and bisect.json, which holds what is known."""

    folder: Path
    commits: list[str]
    build: list[str]
    run: list[str]
    options: argparse.Namespace
    row: Optional[str] = None
    change: float = 0.0

    def __post_init__(self) -> None:
        self.tested: dict[int, CommitVerdict] = {}

    @property
    def path(self) -> Path:
        return self.folder / "bisect.json"

    @property
    def question(self) -> dict[str, Any]:
        choices = {key: getattr(self.options, key) for key in ("reader", "filter", "metric", "better", "statistic")}
        return {"commits": self.commits, "build": self.build, "run": self.run, **choices}

    def save(self) -> None:
        tested = {self.commits[number]: asdict(found) for number, found in self.tested.items()}
        document = {"schema": _SCHEMA, **self.question, "row": self.row, "change": self.change, "tested": tested}
        write_at_once(self.path, json_text(document))

    def go_on(self) -> None:
        """Reads what an earlier call found. Raises CommandError if it searched something else."""
        saved = parse_json(read(self.path, "a search of the gate"), f"{self.path}: not a search")
        try:
            for key, value in self.question.items():
                if saved[key] != value:
                    raise CommandError(f"{self.folder} is a search with another {key}; allowed: a new folder, or the same {key}", USAGE)
            self.row, self.change = saved["row"], float(saved["change"])
            self.tested = {self.commits.index(commit): CommitVerdict(**found) for commit, found in saved["tested"].items()}
        except (KeyError, TypeError, ValueError) as error:
            raise malformed(self.path, error, "not a search") from None

    def tree(self, number: int) -> Path:
        return self.folder / "trees" / self.commits[number]

    def command(self, number: int) -> list[str]:
        """The words of RUN for a commit."""
        program, *words = (word.replace(_TREE, str(self.tree(number))) for word in self.run)
        return [str(self.tree(number) / program) if "/" in program else program, *words]

    def built(self, number: int) -> bool:
        """Builds a commit once; False if it does not build. The end of the build's output is in a file beside its tree."""
        tree, log = self.tree(number), self.tree(number).with_suffix(".build.txt")
        done, failed = tree.with_suffix(".built"), tree.with_suffix(".failed")
        if not done.exists() and not failed.exists():
            say(f"building {self.named(number)}")
            self.check_out(number)
            code = self.start_build(tree, log)
            (failed if code else done).touch()
        return done.exists()

    def check_out(self, number: int) -> None:
        """Makes the tree of a commit, unless a whole one exists: a git that was killed left half of one, and its lock."""
        tree, whole = self.tree(number), self.tree(number).with_suffix(".whole")
        if whole.exists() and tree.exists():
            return
        shutil.rmtree(tree, ignore_errors=True)
        _git("worktree", "prune")
        _git("worktree", "add", "--force", "--force", "--quiet", "--detach", str(tree), self.commits[number])
        whole.touch()

    def start_build(self, tree: Path, log: Path) -> int:
        process = None
        try:
            with log.open("wb") as output, held():
                try:
                    process = subprocess.Popen(self.build, cwd=tree, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                               start_new_session=True, preexec_fn=tied())  # fmt: skip
                except OSError as error:
                    raise CommandError(f"cannot run {self.build[0]}: {error.strerror}", USAGE) from None
            return process.wait()
        except BaseException:
            if process:
                end(process)
            raise

    def named(self, number: int) -> str:
        subject = _git("log", "-1", "--format=%s", self.commits[number])
        return f"{self.commits[number][:12]} {cut(clean(subject), _LONGEST_SUBJECT)}"

    def session(self, number: int) -> Session:
        """A new session of the good commit and this one, of the row that is searched, if it is known already."""
        folder = self.folder / "sessions" / self.commits[number]
        shutil.rmtree(folder, ignore_errors=True)  # of a call that was interrupted
        commands = dict(zip(ARMS, (self.command(0), self.command(number))))
        chosen = self.options.filter if self.row is None else _only(self.row, self.options.reader)
        pairs = self.options.pairs or gate.LOOKS[-1]
        if self.options.reader == _OWN:
            made: Session = RidgebenchSession(folder, commands, chosen, most_pairs=pairs)
        else:
            made = CommandSession(folder, commands, chosen, most_pairs=pairs, reader=self.options.reader,
                                  metric_name=self.options.metric, better=self.options.better, statistic=self.options.statistic)  # fmt: skip
        folder.parent.mkdir(parents=True, exist_ok=True)
        made.create()
        return made

    def measured(self, number: int, limits: Limits) -> list[Comparison]:
        session = self.session(number)
        report = measure(session, replace(limits, pairs=session.most_pairs), [], self.options.minutes)
        if report.not_comparable:
            raise CommandError("; ".join(report.not_comparable), ROW_FAILED)
        return report.rows

    def find_row(self) -> None:
        """Measures the bad commit, and takes the row that lost most. Raises CommandError if none is worse."""
        last = len(self.commits) - 1
        for number in (0, last):
            if not self.built(number):
                raise CommandError(f"{self.named(number)} does not build: {self.tree(number)}.build.txt", ROW_FAILED)
        rows = self.measured(last, Limits(self.options.preset))
        worse = [row for row in rows if row.verdict == gate.WORSE and row.change is not None]
        if not worse:
            seen = ", ".join(sorted({row.verdict for row in rows}))
            raise CommandError(f"no row is WORSE at {self.named(last)} than at {self.named(0)}: {seen}; nothing to search", UNDECIDED)
        row = max(worse, key=lambda one: one.change or 0)
        self.row, self.change = row.id, row.change or 0
        others = f"; {counted(len(worse) - 1, 'other row')} WORSE, --filter chooses" if len(worse) > 1 else ""
        say(f"{row.id} takes {percent(row.change)} more time{others}")
        self.tested[0] = CommitVerdict(bisect.GOOD)
        self.tested[last] = _tested(row)
        self.save()

    def test(self, number: int) -> CommitVerdict:
        """The side of a commit."""
        if not self.built(number):
            return CommitVerdict(bisect.SKIPPED, reason="does not build")
        assert self.row is not None
        try:
            rows = self.measured(number, separating(self.row, bisect.halfway(self.change)))
        except CommandError as error:
            if error.code != ROW_FAILED:
                raise
            return CommitVerdict(bisect.SKIPPED, reason=str(error))
        found = next((row for row in rows if row.id == self.row), None)
        return CommitVerdict(bisect.SKIPPED, reason="does not have the row") if found is None else _tested(found)

    def search(self) -> None:
        if self.row is None:
            self.find_row()
        while (number := bisect.next_commit(self.tested, len(self.commits) - 1)) is not None:
            good, bad = bisect.limits_of(self.tested, len(self.commits) - 1)
            say(f"{counted(bad - good, 'commit')} left: testing {self.named(number)}")
            self.tested[number] = self.test(number)
            self.save()

    def changed_code(self, good: int, bad: int) -> list[str]:
        """The kernels, or the files of techniques, whose machine code may differ between the programs of two commits."""
        programs = [Path(shutil.which(program) or program) for program in (self.command(number)[0] for number in (good, bad))]
        if programs[0] == programs[1]:
            return []
        try:
            listed = rows_of(programs[0], programs[1], None).listed()
        except ResultsError as error:  # the search has its answer
            return [f"Machine code: {clean(str(error))}"]
        found = [f"  {name}: {one.text}" for name, one in listed.items() if one.state != SAME]
        if not found:
            return ["Its program has the same machine code as the one before."]
        more = [f"  and {len(found) - _MOST_CODE} more"] if len(found) > _MOST_CODE else []
        return ["Machine code against the program before:", *map(clean, found[:_MOST_CODE]), *more]

    def lines(self) -> list[str]:
        """The tested commits in the order of history, and the answer."""
        table = [["verdict", "time", "95 % interval", "pairs", "commit"]]
        for number in sorted(self.tested):
            found = self.tested[number]
            interval = "" if found.low is None else f"{percent(found.low)} .. {percent(found.high)}"
            change = "" if found.change is None else percent(found.change)
            why = f" ({one_line(found.reason)})" if found.reason else ""
            table.append([found.verdict, change, interval, str(found.pairs or ""), self.named(number) + why])
        good, bad = bisect.limits_of(self.tested, len(self.commits) - 1)
        tests = sum(found.pairs > 0 for found in self.tested.values())
        if bad - good == 1:
            answer = [f"First bad commit of {self.row}: {self.named(bad)}", *_changes(self.commits[bad]), *self.changed_code(good, bad)]
        else:
            between = ", ".join(self.commits[number][:12] for number in range(good + 1, bad + 1))
            answer = [f"The first bad commit of {self.row} is one of {bad - good}: {between}"]
        rate = percent(bisect.error_rate(tests), "")
        return [*aligned(table, right=(1, 3)), "", *answer, f"A wrong answer has a probability of at most {rate}."]


def _changes(commit: str) -> list[str]:
    """The files that a commit changed, with their numbers of lines."""
    return [f"  {clean(line.strip())}" for line in _git("show", "--stat=72", "--format=", commit).splitlines()]


def _tested(row: Comparison) -> CommitVerdict:
    return CommitVerdict(bisect.side_of(row.verdict), row.change, row.low, row.high, row.pairs, row.reason)


def _only(row: str, reader: str) -> Optional[str]:
    """The filter that lets only this row pass, in the reader's syntax."""
    return gbench_filter([row]) if reader == "gbench" else f"^{re.escape(row)}$"


def _parse(arguments: list[str]) -> argparse.Namespace:
    raw = argparse.RawDescriptionHelpFormatter
    parser = Parser(prog=_PROGRAM, description="Finds the commit that made a row slower.", epilog=_HELP, formatter_class=raw)
    parser.takes_config = False
    parser.usage = "ridgebench gate bisect GOOD..BAD --reader NAME [OPTIONS] -- BUILD -- RUN"
    parser.add_argument("commits", metavar="GOOD..BAD", help="the line of first parents between two commits")
    parser.add_argument("--reader", choices=(*READERS, _OWN), required=True, help="how the result of RUN is read")
    parser.add_argument("--filter", metavar="RE", help="rows of which one is searched; default: all")
    parser.add_argument("--metric", metavar="NAME", help="as for gate")
    parser.add_argument("--better", choices=("lower", "higher"))
    parser.add_argument("--statistic", choices=("best", "median"))
    parser.add_argument("--pairs", type=number_within(gate.FEWEST_PAIRS, gate.MOST_PAIRS, int), metavar="N",
                        help="most pairs of processes for a commit; default: 40")  # fmt: skip
    parser.add_argument("--minutes", type=number_within(1e-6, MOST_MINUTES), metavar="N", help="end the measuring of a commit after this time; the end is a look")
    parser.add_argument("--preset", choices=sorted(gate.PRESETS), default="standard", help="of the test of BAD against GOOD")
    parser.add_argument("--out", type=Path, default=Path("results/local/bisect"), metavar="DIR", help="default: results/local/bisect")
    own, *commands = [list(words) for dashes, words in itertools.groupby(arguments, lambda word: word == "--") if not dashes] or [[]]
    options = parser.parse_args(own)
    if len(commands) != 2:
        parser.error("two commands are needed: -- BUILD -- RUN")
    options.build, options.run = commands
    return options


def main(arguments: list[str]) -> int:
    options = _parse(arguments)
    search = _Search(options.out.absolute(), _commits(options.commits), options.build, options.run, options)
    if search.path.exists():
        search.go_on()
    (search.folder / "trees").mkdir(parents=True, exist_ok=True)
    with deaf_to_pipes():
        search.search()
    print(*search.lines(), sep="\n")
    good, bad = bisect.limits_of(search.tested, len(search.commits) - 1)
    return OK if bad - good == 1 else UNDECIDED
