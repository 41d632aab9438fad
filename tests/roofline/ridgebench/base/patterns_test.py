"""Regular expressions of users: every search ends, in every command."""

import signal

import pytest

from ridgebench.base import patterns
from ridgebench.base.command_line import CommandError
from ridgebench.exchange.importers import mapping
from ridgebench.exchange.importers.point import Point
from ridgebench.judge import limits
from ridgebench.judge import command_session, trend
from ridgebench.judge.past import check_run
from ridgebench.judge.past.baseline_store import Baseline

HOSTILE = "(([a-z/_0-9:]+)+)+#"
NAME = "dot/accumulators/fp32/n:524288/steady@cpu" * 3


@pytest.fixture(autouse=True)
def short(monkeypatch):
    monkeypatch.setattr(patterns, "LIMIT_S", 0.02)  # of processor time; the search itself would take years


@pytest.mark.parametrize("text", [HOSTILE, "([a-z/_0-9:@]|[^#])*#", ".*.*.*.*.*.*.*.*.*.*#"])
def test_a_search_that_backtracks_for_ever_is_refused(text):
    with pytest.raises(CommandError) as error:
        patterns.Pattern(text, "--filter").search(NAME)
    assert str(error.value).startswith(f"--filter '{text}' takes more than 0.02 s to search; allowed: ") and error.value.code == 2


def test_the_limit_is_that_of_all_searches_of_an_expression(monkeypatch):
    left = []
    monkeypatch.setattr(signal, "setitimer", lambda which, seconds: left.append(seconds) or (0.005 if not seconds else 0, 0))
    pattern = patterns.Pattern("dot", "--filter")
    assert pattern.search(NAME) and pattern.search(NAME)
    assert left == [0.02, 0, 0.005, 0]


def test_the_signal_is_free_again():
    before = signal.getsignal(signal.SIGVTALRM)
    assert patterns.Pattern("relu", "--filter").search(NAME) is None
    assert signal.getsignal(signal.SIGVTALRM) is before


@pytest.mark.parametrize("text", ["(", "a{2,1}", "[z-a]"])
def test_what_is_no_expression(text):
    with pytest.raises(CommandError, match="--filter '.*' is not a regular expression: "):
        patterns.Pattern(text, "--filter")


def of_baseline():
    check_run.chosen(Baseline.__new__(Baseline), HOSTILE, False)


def of_map():
    mapping.apply(Point("here", NAME, [1.0]), [mapping.entry({"name": HOSTILE}, "here: point 1")])


def of_tolerances():
    limits.Limits(tolerances=[limits.tolerance(HOSTILE, 0.03)]).of(NAME)


def of_history():
    trend.series([trend.Entry.__new__(trend.Entry)], HOSTILE)


def of_gate():
    session = command_session.CommandSession.__new__(command_session.CommandSession)
    object.__setattr__(session, "filter", HOSTILE)
    object.__setattr__(session, "reader", "csv")
    session.pattern.search(NAME)


@pytest.mark.parametrize("search", [of_baseline, of_map, of_tolerances, of_history, of_gate])
def test_every_command_has_the_limit(monkeypatch, search):
    monkeypatch.setattr(Baseline, "rows", {NAME: 0}, raising=False)
    monkeypatch.setattr(trend.Entry, "row", NAME, raising=False)
    with pytest.raises(CommandError, match="to search; allowed: an expression without repeats within repeats"):
        search()


def test_quick_searches_leave_the_limit_as_it_is():
    """The system adds a tick to what it says is left of a timer."""
    quick = patterns.Pattern("relu", "--filter")
    for _ in range(2000):
        quick.search(NAME)
    assert quick._left_s <= patterns.LIMIT_S
