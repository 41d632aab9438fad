"""Measures a session pair by pair until every row is decided, cannot be judged, or is given up."""

import os
import shutil
import signal
import sys
import time
from contextlib import contextmanager
from typing import Callable, Iterator, Optional

from ridgebench.base.command_line import UNDECIDED, CommandError
from ridgebench.base.interruption import comes_again
from ridgebench.base.text import one_line
from ridgebench.base.units import counted

from . import gate
from .judge import first_differences, judge
from .limits import Limits
from .report import MISSING, NOT_COMPARABLE, Comparison, Report, incomparable
from .session import NothingMatches, Session

_PROGRAM = "gate"
_QUIET_S = 15.0  # between two lines of progress, where no terminal can hold one that changes


class OutOfTime(Exception):
    """The time of --minutes is over."""


@contextmanager
def limited_to(minutes: Optional[float]) -> Iterator[None]:
    """Raises OutOfTime in the block when the time is over. A signal does it, so that no process is waited for."""

    def end(*_: object) -> None:
        raise OutOfTime

    if minutes is None:
        yield
        return
    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, 60 * minutes)
    try:
        with comes_again(OutOfTime):
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _tell(text: str, end: str = "\n") -> None:
    """Prints on stderr. A closed stderr does not end the measuring."""
    try:
        print(text, end=end, file=sys.stderr, flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def say(text: str) -> None:
    _tell(f"{_PROGRAM}: {one_line(text)}")


@contextmanager
def deaf_to_pipes() -> Iterator[None]:
    """In the block a pipe without a reader is an error that _tell() heeds; it does not end the process."""
    before = signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGPIPE, before)


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} minutes"


def _load() -> str:
    """The load under which the promise of time holds; empty where the system does not say it."""
    try:
        return f" while the load stays at {os.getloadavg()[0]:.1f} on {counted(len(os.sched_getaffinity(0)), 'processor')}"
    except OSError:
        return ""


def _announce(session: Session, limits: Limits, minutes: Optional[float], chosen: Optional[list[str]]) -> None:
    """Says before the first pair what the comparison of the chosen rows, or of all, will take."""
    pair, rows, looks = session.seconds_of_pair(chosen), len(chosen or session.kernels()), limits.looks
    least, most = (_duration(max(count - session.pairs, 0) * pair) for count in (looks[0], looks[-1]))
    limit = f"--minutes {minutes:g} ends it" if minutes else "--minutes N bounds it"
    if minutes and 60 * minutes < max(gate.FEWEST_PAIRS - session.pairs, 0) * pair:
        limit += f" perhaps before {gate.FEWEST_PAIRS} pairs: too early for a verdict"
    pairs, time_for_them = f"{looks[0]} to {looks[-1]}", f"{least} to {most}"
    if len(looks) == 1:
        pairs, time_for_them = str(looks[0]), most
    say(f"{counted(rows, 'row')}, {pairs} pairs: about {time_for_them}{_load()}; {limit}")


def progress(total: int) -> Callable[[int], None]:
    """A function that shows how far the session is: one line that changes or, elsewhere, a line now and then."""
    started = shown = time.monotonic()
    first: Optional[int] = None
    terminal = sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"

    def show(done: int) -> None:
        nonlocal shown, first
        first = done if first is None else first
        now = time.monotonic()
        left = f", about {_duration((now - started) / (done - first) * (total - done))} left" if done > first else ""
        text = f"{done}/{total} pairs{left}"
        if terminal:
            width = shutil.get_terminal_size().columns - 1
            _tell(f"\r{text[:width]:<{min(width, 40)}}\r", end="")
        elif now - shown >= _QUIET_S:
            say(text)
            shown = now

    return show


def _goes_on(row: Comparison, limits: Limits, gives_up: bool = True) -> bool:
    """True if more pairs may decide the row; `gives_up`: not if they hardly will.

    A cause from outside that struck one arm may strike the other as well, which makes them comparable again.
    """
    if row.verdict == NOT_COMPARABLE:
        return row.pairs < limits.looks[0]
    hopeless = gives_up and row.chance is not None and row.chance < gate.LEAST_CHANCE
    return row.verdict == gate.UNDECIDED and row.pairs > 0 and not hopeless


def _only_missing(session: Session, why: str) -> Report:
    """The report where the candidate has none of the rows that the unscored run measured."""
    rows = [Comparison(name, MISSING, why) for name in session.kernels()]
    return Report("interleaved", *session.sides, rows)


_Find = Callable[[Session], dict[str, list[str]]]  # state and reason of each row, by its machine code


def measure(
    session: Session, limits: Limits, allowed: list[str], minutes: Optional[float] = None, find: Optional[_Find] = None
) -> Report:
    """Measures up to each look of the gate. Rows that are decided or hopeless, or whose code is the same, are not measured on.

    Stops after the first pair if that shows that the sides must not be compared.
    """
    try:
        with limited_to(minutes):
            _prepare(session, find)
            open_rows = [name for name in session.kernels() if name not in session.same] if session.same else None
            if open_rows == []:
                return judge(session, limits, allowed)
            _announce(session, limits, minutes, open_rows)
            # The first pair shows rows that cannot be judged: those that failed, are missing, or say nothing.
            for pairs in (1, *limits.looks):
                session.extend(pairs, open_rows, progress(max(pairs, limits.looks[0])))
                if pairs == 1 and (why := first_differences(session, allowed)):
                    return incomparable("interleaved", session.sides, [], why)
                report = judge(session, limits, allowed)
                open_rows = [row.id for row in report.rows if _goes_on(row, limits, session.gives_up)]
                if not open_rows:
                    return report
                if len(open_rows) == len(report.rows):
                    open_rows = None  # a filter that names each would be long
    except NothingMatches as error:
        return _only_missing(session, str(error))
    except OutOfTime:
        return _out_of_time(session, limits, allowed, minutes)
    return report


def _prepare(session: Session, find: Optional[_Find]) -> None:
    """Measures the unscored run and compares the machine code, unless a session goes on that has done so."""
    if session.pairs > 0:
        return
    session.prepare()
    if find is not None:
        session.code = find(session)
        session.save()
        say(f"{counted(len(session.same), 'row')} of {len(session.code)} have the same code and are not measured")


def _out_of_time(session: Session, limits: Limits, allowed: list[str], minutes: Optional[float]) -> Report:
    """The report on what is there. The end of the time is a look, so that a large change is found at once."""
    over = f"--minutes {minutes:g} ended the measuring after {counted(session.pairs, 'pair')}; --resume {session.folder} goes on"
    if session.pairs == 0:
        raise CommandError(over, UNDECIDED)
    if session.pairs not in session.ends:
        session.ends.append(session.pairs)
        session.save()
    report = judge(session, limits, allowed)
    report.notes.append(over)
    return report
