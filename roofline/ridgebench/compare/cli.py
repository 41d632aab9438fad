"""Compares two binaries (verdicts) or two stored runs (a description)."""

import argparse
import errno
import itertools
import json
import shutil
import sys
import time
from pathlib import Path
from typing import Callable, Iterator, Optional

from ridgebench.command_line import INTERNAL, OK, UNDECIDED, USAGE, CommandError, Parser, fail, what_failed
from ridgebench.files import ResultsError
from ridgebench.records import load_run

from . import gate
from .comparable import ALLOWED
from .consistent import load
from .judge import judge
from .measure import deaf_to_pipes, measure, say
from .report import Report, text
from .session import PROCESS, SAMPLES, Session, listen_for_termination, refuse_own_options
from .side_by_side import side_by_side
from .stored import describe

PROGRAM = "compare"
HELP = """\
Four ways to call it:
  compare BASELINE_DIR CANDIDATE_DIR                describes two stored runs: not a verdict
  compare --describe DIR DIR                        prints two runs side by side, also of two devices
  compare --baseline-bin A --candidate-bin B [-- ARGUMENTS OF ridgebench run]
                                                    measures both in turn, 10 to 40 pairs: verdicts
  compare --session DIR                             judges the runs of such a session again
Exit codes: 0 fine, 2 usage, 3 undecided or interrupted, 4 worse or missing, 5 not comparable,
6 a row went wrong, 7 device lost, 8 internal error."""
MOST_MINUTES = 10080  # a week


def add_report_options(parser: argparse.ArgumentParser) -> None:
    """Adds what every comparison has: its limits, and where its report goes."""
    add = parser.add_argument
    add("--preset", choices=sorted(gate.PRESETS), default="standard")
    add("--allow-mismatch", action="append", default=[], choices=ALLOWED, metavar="KEY",
        help="compare although this key differs")
    add("--json", type=Path, metavar="FILE", help="write the report here as well")


def minutes(text: str) -> float:
    """An argument of --minutes."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= MOST_MINUTES:
        raise argparse.ArgumentTypeError(f"'{text}' is no number of minutes above 0, up to {MOST_MINUTES}")
    return value


def parse(arguments: list[str]) -> tuple[argparse.Namespace, list[str]]:
    """The options, and what follows `--`: arguments of ridgebench run."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = Parser(prog=PROGRAM, description=__doc__, epilog=HELP, formatter_class=raw)
    add = parser.add_argument
    add("results", nargs="*", type=Path, metavar="DIR", help="two results directories")
    add("--baseline-bin", metavar="A", help="binary that the other is measured against")
    add("--candidate-bin", metavar="B")
    add("--session", type=Path, metavar="DIR", help="judge a session that --out keeps")
    add("--resume", type=Path, metavar="DIR", help="finish a session that was interrupted")
    add("--filter", metavar="RE", help="rows to compare, as in `ridgebench run`")
    add("--turns", choices=(PROCESS, SAMPLES),
        help="what one side measures before the other's turn; default: on a host a few samples")
    add("--minutes", type=minutes, metavar="N", help="end the measuring after this time; what is undecided stays so")
    add("--describe", action="store_true", help="print two results directories, perhaps of two devices, side by side")
    add("--out", type=Path, metavar="DIR", help="session; default: results/local/compare-<time>")
    add_report_options(parser)
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    options, passed = parser.parse_args(arguments[:cut]), arguments[cut + 1 :]
    binaries = [options.baseline_bin, options.candidate_bin]
    ways = [bool(options.results), any(binaries), bool(options.session), bool(options.resume)]
    if sum(ways) != 1:
        parser.error("give two results directories, two binaries, --session or --resume")
    if options.results and len(options.results) != 2:
        parser.error(f"{len(options.results)} results directories; allowed: two")
    if any(binaries) and not all(binaries):
        parser.error("--baseline-bin and --candidate-bin go together")
    if not any(binaries) and (passed or options.filter or options.out or options.turns):
        parser.error("--filter, --out, --turns and arguments after -- need --baseline-bin")
    if options.minutes and not (any(binaries) or options.resume):
        parser.error("--minutes needs --baseline-bin or --resume")
    if options.describe and (not options.results or options.json or options.allow_mismatch):
        parser.error("--describe takes two results directories and no other option")
    return options, passed


def require_writable(path: Optional[Path]) -> None:
    """Raises ResultsError for a report that cannot be written, before anything is measured."""
    if path is None:
        return
    known = path.exists()
    try:
        path.open("a", encoding="utf-8").close()
        if not known:
            path.unlink()
    except OSError as error:
        allowed = "allowed is a file in a folder that exists, which may be written"
        raise ResultsError(f"{path}: {error.strerror}; {allowed}") from None


def names(out: Optional[Path]) -> Iterator[Path]:
    """The folders that a session may have; without --out the next one, where another session took the first."""
    if out is not None:
        return iter((out,))
    first = Path("results/local") / time.strftime("compare-%Y%m%dT%H%M%SZ", time.gmtime())
    return itertools.chain((first,), (first.with_name(f"{first.name}-{number}") for number in itertools.count(2)))


def new_session(options: argparse.Namespace, passed: list[str]) -> Session:
    refuse_own_options(passed)
    binaries = {"baseline": options.baseline_bin, "candidate": options.candidate_bin}
    for folder in names(options.out):
        session = Session(folder, binaries, passed, options.filter, turns=options.turns)
        if session.create():
            return session
    raise ResultsError(f"{options.out} exists; allowed: a new folder, or --resume {options.out}")


def reopened(folder: Path) -> Session:
    """An interrupted session without the pair that was cut short."""
    session = Session.open(folder)
    session.own()
    for arm in session.binaries:
        shutil.rmtree(session.run_folder(session.pairs + 1, arm), ignore_errors=True)
    return session


def make_report(options: argparse.Namespace, passed: list[str]) -> Report:
    if options.results:
        return describe(*map(load, options.results), options.allow_mismatch)
    if options.session:
        return judge(Session.open(options.session), options.preset, options.allow_mismatch)
    listen_for_termination()
    with deaf_to_pipes():
        session = reopened(options.resume) if options.resume else new_session(options, passed)
        report = measure(session, options.preset, options.allow_mismatch, options.minutes)
        say(f"session: {session.folder}")
    return report


def finish(make: Callable[[], Report], options: argparse.Namespace, program: str = PROGRAM) -> int:
    """Makes and writes a report; every failure is one line and its exit code."""
    try:
        require_writable(options.json)
        report = make()
        if options.json is not None:  # first: writing the text fails on a closed pipe
            options.json.write_text(json.dumps(report.as_json(), indent=1, allow_nan=False) + "\n", "utf-8")
        sys.stdout.write(text(report))
    except CommandError as error:
        return fail(str(error), error.code, program)
    except OSError as error:
        if error.filename is None:  # standard output: the caller knows what to do
            raise
        code = UNDECIDED if error.errno == errno.ENOSPC else USAGE
        return fail(what_failed(error), code, program)
    except KeyboardInterrupt:
        return fail("interrupted; finished pairs are kept, --resume DIR adds more", UNDECIDED, program)
    except Exception as error:  # anything else: one line and the code that says so
        return fail(f"internal error: {type(error).__name__}: {error}", INTERNAL, program)
    if report.not_comparable:
        why = "; ".join(report.not_comparable)
        return fail(f"NOT_COMPARABLE: {why} (--allow-mismatch KEY compares all the same)", report.exit_code, program)
    return report.exit_code


def show_both(folders: list[Path]) -> int:
    """Prints two runs side by side: no verdict, so any two may be given."""
    try:
        sys.stdout.write(side_by_side(*map(load_run, folders)))
    except CommandError as error:
        return fail(str(error), error.code, PROGRAM)
    return OK


def main(arguments: list[str]) -> int:
    options, passed = parse(arguments)
    if options.describe:
        return show_both(options.results)
    return finish(lambda: make_report(options, passed), options)
