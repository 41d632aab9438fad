"""Gates a change: runs two benchmark commands in turn and judges whether the second is slower."""

import argparse
import itertools
import textwrap
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Iterator, Optional

from ridgebench.base.command_line import OK, CommandError, Parser, number_within
from ridgebench.base.files import ResultsError, malformed, write_named
from ridgebench.base.text import one_line
from ridgebench.base.units import counted

from . import bisect_cli, code_rows, gate, history, instructions
from .command_session import OUTPUT, CommandSession
from .judge import judge
from .limits import Limits, read_limits
from .measure import deaf_to_pipes, measure, say
from .output import MOST_MINUTES, add_verdict_options, finish, require_writable
from .publish import COMMENT_NAME, show, step_summary, write_files
from .readers import READERS
from .report import Report
from .ridgebench_session import PROCESS, SAMPLES, RidgebenchSession
from .session import ARMS, Session, read_session
from .commands import split_commands

_PROGRAM = "gate"
_KEPT = "finished pairs are kept, --resume DIR adds more"
_OWN = "ridgebench"
_HELP = f"""\
A command is one quoted text, or words up to the next option of the gate. The
gate adds to both what follows --. A command that holds {OUTPUT} writes its result
into the file of that name. To any other command the reader adds its option for
a file; without a file the gate reads standard output.
Exit codes: 0 fine, 2 usage, 3 undecided or interrupted, 4 worse or missing,
5 not comparable, 6 a process or a row failed, 7 device lost, 8 internal error.

Examples:
  ridgebench gate --reader gbench --baseline old/bench --candidate new/bench
  ridgebench gate --reader ridgebench --baseline 'old/ridgebench run' \\
    --candidate 'new/ridgebench run' -- --budget 20
  ridgebench gate --reader csv --baseline ./old.sh --candidate ./new.sh
  ridgebench gate --code old/bench new/bench    says whose machine code changed
  ridgebench gate history FILE.jsonl -o FIGURE  draws what --history collected
  ridgebench gate bisect --help                 finds the commit"""
_LONGEST_TIMEOUT = 86400.0  # seconds
_TEXTS = {"filter", "metric_name", "better", "statistic", "turns"}  # of session.json; each may be null
_KINDS, _PAGE = ("svg", "png", "pdf"), "html"  # of the figure, and of the page, of a history
_CHOICES = {"better": (None, "lower", "higher"), "statistic": (None, "best", "median")}


def _make_parser() -> Parser:
    raw = argparse.RawDescriptionHelpFormatter
    # Without abbreviations: an option of a command could be one.
    parser = Parser(prog=_PROGRAM, description=textwrap.fill(__doc__, 80), epilog=_HELP, formatter_class=raw, allow_abbrev=False)
    parser.takes_config = False  # the commands that it runs may have such an option
    add = parser.add_argument
    add("--baseline", metavar="COMMAND", help="what the other one is measured against")
    add("--candidate", metavar="COMMAND")
    add("--reader", choices=(*READERS, _OWN), help="how the result of a process is read")
    add("--filter", metavar="RE", help="rows to compare")
    add("--metric", metavar="NAME", help="gbench: real_time (default), cpu_time or a counter; nvbench: time or the tag "
        "of a summary; csv: a column, by default value; without a reader: "
        "instructions, of whole processes")
    add("--better", choices=("lower", "higher"), help="which values of the metric are better; default: lower")
    add("--statistic", choices=("best", "median"), help="what counts of the repetitions of a row in a process; default: "
        "best for times and Google Benchmark's own rates, else median")
    add("--code", nargs="*", type=Path, metavar="PROGRAM", help="leave out rows whose machine code is the same; two "
        "programs or builds without commands: only say which")
    add("--launches", type=Path, metavar="FILE", help="with --code: CSV of the kernels that rows launch; default: all")
    add("--pairs", type=number_within(gate.FEWEST_PAIRS, gate.MOST_PAIRS, int), metavar="N",
        help=f"most pairs of processes; default: {gate.LOOKS[-1]}")
    add("--minutes", type=number_within(1e-6, MOST_MINUTES), metavar="N", help="end the measuring after this time")
    add("--timeout", type=number_within(1e-3, _LONGEST_TIMEOUT), metavar="SECONDS",
        help=f"of a process; default: {CommandSession.timeout:g}")
    add("--turns", choices=(PROCESS, SAMPLES),
        help="of ridgebench on a host: what one side measures before the other's turn")
    add("--tolerances", type=Path, metavar="FILE", help="TOML: tolerances of rows, and losses that are allowed")
    add("--out", type=Path, metavar="DIR", help="session; default: results/local/gate-<time>")
    add("--resume", nargs="?", const=True, metavar="DIR", help="finish a session; without DIR the one of --out")
    add("--session", type=Path, metavar="DIR", help="judge a session again")
    add("--md", type=Path, metavar="FILE", help="write a summary in Markdown")
    add("--comment", type=Path, metavar="FILE", help="write the comment of a pull request, with a hidden marker")
    add("--comment-name", default="gate", metavar="TEXT", help="in the marker: comments of several gates differ by it")
    add("--junit", type=Path, metavar="FILE", help="write the verdicts as JUnit XML")
    add("--history", type=Path, metavar="FILE", help="add a line per row to this file")
    add("--label", metavar="TEXT", help="of this run in the history, such as a commit")
    add_verdict_options(parser)
    parser.list_apart("--metric", "--label", "--better", "--statistic", "--timeout", "--turns", "--tolerances", "--launches", "--session", "--minutes", "--comment", "--comment-name", "--allow-mismatch", "--preset")
    return parser


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = _make_parser()
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    commands, rest = split_commands(arguments[:cut], parser._option_string_actions)
    options = parser.parse_args(rest)
    if not COMMENT_NAME.fullmatch(options.comment_name) or "--" in options.comment_name:
        parser.error("--comment-name has characters that a marker cannot have; allowed: up to 60 letters, digits, spaces and ._/-")
    options.passed = arguments[cut + 1 :]
    options.commands = {arm: [*words, *options.passed] for arm, words in commands.items()}
    if options.resume is True:
        if options.out is None:
            parser.error("--resume needs a folder, or --out DIR")
        options.resume = options.out if (options.out / "session.json").exists() else None
    elif options.resume is not None:
        options.resume = Path(options.resume)
    _check_code(parser, options, bool(commands))
    if options.code and not commands:
        return options
    if options.metric == instructions.METRIC and options.reader is None:
        return _of_instructions(parser, options, commands)
    stored = options.session or options.resume
    given = (*map(commands.get, ARMS), options.reader)
    if any(given) and not all(given):
        parser.error("--baseline, --candidate and --reader go together")
    if options.session and (options.resume or any(given) or options.minutes or options.pairs):
        parser.error("--session takes no command, --resume, --minutes or --pairs: it judges what was measured")
    choices = (options.metric, options.better, options.statistic)
    if not any(given) and (options.filter or any(choices) or options.passed):
        parser.error("--filter, --metric, --better, --statistic and arguments after -- go with two commands")
    if not stored and not all(given):
        parser.error("--baseline, --candidate and --reader are needed, or --session or --resume")
    own = options.reader == _OWN
    if own and (any(choices) or options.timeout):
        parser.error(f"--metric, --better, --statistic and --timeout are not for --reader {_OWN}")
    if options.session and options.timeout:
        parser.error("--timeout is not for --session")
    if options.turns and not own:
        parser.error(f"--turns needs --reader {_OWN}")
    return options


def _check_code(parser: Parser, options: argparse.Namespace, has_commands: bool) -> None:
    if options.code is None:
        if options.launches:
            parser.error("--launches needs --code")
        return
    if len(options.code) not in (0, 2):
        parser.error(f"--code has {counted(len(options.code), 'program')}; allowed: two, or none where the commands start them")
    if options.session:
        parser.error("--code is not for --session, which keeps what was found")
    if options.code and not has_commands:
        others = [name for name in ("reader", "pairs", "minutes", "timeout", "turns", "out", "resume", "history") if getattr(options, name)]
        if others or options.passed:
            parser.error(f"--{others[0] if others else ' ARGUMENTS'} needs two commands: --code with two programs measures nothing")


def _of_instructions(parser: Parser, options: argparse.Namespace, commands: dict[str, list[str]]) -> argparse.Namespace:
    """The options of a gate that counts instructions, which has no session."""
    if not all(map(commands.get, ARMS)):
        parser.error(f"--metric {instructions.METRIC} needs --baseline and --candidate")
    others = [f"--{name}" for name in ("filter", "better", "statistic", "pairs", "minutes", "turns", "out", "resume", "session", "code")
              if getattr(options, name) is not None]
    if others:
        parser.error(f"{others[0]} is not for --metric {instructions.METRIC} without a reader: it counts two whole processes a side")
    return options


def _names(out: Optional[Path]) -> Iterator[Path]:
    """The folders that a session may have; without --out the next one, where another session took the first."""
    if out is not None:
        return iter((out,))
    first = Path("results/local") / time.strftime("gate-%Y%m%dT%H%M%SZ", time.gmtime())
    return itertools.chain((first,), (first.with_name(f"{first.name}-{number}") for number in itertools.count(2)))


def _make_session(folder: Path, options: argparse.Namespace) -> Session:
    """The session that the options describe, before its folder is made."""
    pairs = options.pairs or gate.LOOKS[-1]
    if options.reader == _OWN:
        return RidgebenchSession(folder, options.commands, options.filter, most_pairs=pairs, turns=options.turns)
    more = {"reader": options.reader, "metric_name": options.metric, "better": options.better}
    more |= {"statistic": options.statistic}
    session = CommandSession(folder, options.commands, options.filter, most_pairs=pairs, **more)
    session.timeout = options.timeout or session.timeout
    return session


def _new_session(options: argparse.Namespace) -> Session:
    for folder in _names(options.out):
        session = _make_session(folder, options)
        if session.create():
            return session
    raise ResultsError(f"{options.out} exists; allowed: a new folder, or --resume {options.out}")


def _open_session(folder: Path) -> Session:
    """A session that is there already. Raises ResultsError."""
    saved = read_session(folder)
    kind = RidgebenchSession if saved["reader"] == _OWN else CommandSession
    keys = (*kind.KEYS, *kind.OWN_KEYS)
    try:
        if saved["reader"] not in (_OWN, *READERS):
            raise ValueError(f"unknown reader {saved['reader']!r}")
        for key in set(keys) & _TEXTS:
            if not isinstance(saved[key], (str, type(None))):
                raise ValueError(f"{key} is not a text")
            if saved[key] not in _CHOICES.get(key, (saved[key],)):
                raise ValueError(f"{key} is {saved[key]!r}")
        more = {key: saved[key] for key in keys}
        if "timeout" in keys:
            more["timeout"] = float(saved["timeout"])
        return kind(folder, {arm: saved[arm] for arm in ARMS}, **more)
    except (KeyError, TypeError, ValueError) as error:
        raise malformed(folder / "session.json", error, "not a session") from None


def _reopened(options: argparse.Namespace) -> Session:
    """An interrupted session without the pair that was cut short."""
    session = _open_session(options.resume)
    if options.commands:
        asked = _make_session(options.resume, options)
        for key in ("commands", "reader", "filter", "metric"):
            if getattr(asked, key) != getattr(session, key):
                raise ResultsError(f"{options.resume} is a session of other {key}; allowed: {getattr(session, key)}")
    session.own()
    session.drop_pair(session.pairs + 1)
    session.most_pairs = options.pairs or session.most_pairs
    if options.timeout:
        if not isinstance(session, CommandSession):
            raise CommandError(f"--timeout is not for a session of --reader {_OWN}")
        session.timeout = options.timeout
    session.save()
    return session


def _make_report(options: argparse.Namespace, limits: Limits) -> Report:
    """The report, with the losses marked that the limits allow."""

    def within(session: Session) -> Limits:
        return replace(limits, pairs=session.most_pairs)

    if options.metric == instructions.METRIC and options.reader is None:
        report = instructions.compare_instructions(options.commands, limits, options.timeout or CommandSession.timeout, say)
    elif options.code and not options.commands:
        report = code_rows.describe(options.code, options.launches, options.filter)
    elif options.session:
        session = _open_session(options.session)
        report = judge(session, within(session), options.allow_mismatch)
    else:
        with deaf_to_pipes():
            session = _reopened(options) if options.resume else _new_session(options)
            if not session.has_locks:
                say(f"the file system of {session.folder} has no locks: no other comparison is kept out of it")
            find = None if options.code is None else partial(code_rows.find, programs=options.code, launches=options.launches)
            report = measure(session, within(session), options.allow_mismatch, options.minutes, find)
            say(f"session: {session.folder}")
    limits.allow(report)
    return report


def _draw_history(arguments: list[str]) -> int:
    """Draws a history."""
    parser = Parser(prog=f"{_PROGRAM} history", description="Draws how the rows of a gate changed from run to run.")
    parser.add_argument("history", type=Path, metavar="FILE.jsonl")
    parser.add_argument("-o", "--out", type=Path, required=True, metavar="FIGURE", help=f"a file: {', '.join(_KINDS)}; {_PAGE}: a page of all rows")
    parser.add_argument("--filter", metavar="RE", help="rows to draw")
    options = parser.parse_args(arguments)
    kind = options.out.suffix.removeprefix(".").lower()
    if kind not in (*_KINDS, _PAGE):
        parser.error(f"{options.out} has an unknown kind; allowed: {', '.join((*_KINDS, _PAGE))}")
    from . import history_page, trend  # Matplotlib takes long to import

    rows = trend.series(history.read_history(options.history), options.filter)
    if kind == _PAGE:
        write_named(options.out, history_page.page(rows, one_line(options.history.name)))
    else:
        trend.save(rows, options.history.name, options.out, kind)
    print(f"{one_line(str(options.out))}: {counted(len(rows), 'row')}")
    return OK


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["history"]:
        return _draw_history(arguments[1:])
    if arguments[:1] == ["bisect"]:
        return bisect_cli.main(arguments[1:])
    options = _parse(arguments)

    def make() -> Report:
        for path in (options.md, options.comment, options.junit, options.history, step_summary()):
            require_writable(path)
        history.require_history(options.history)
        return _make_report(options, read_limits(options.tolerances, options.preset))

    return finish(make, options, _PROGRAM, show, lambda report: write_files(report, options), _KEPT)
