"""The end of --minutes is a look: it finds a large change at once, and spends no more than the error rate that is left."""

import json

import numpy as np
import pytest
from gate_bench import verdicts
from ridgebench.judge import gate
from ridgebench.judge.limits import Limits
from ridgebench.judge.measure import OutOfTime
from ridgebench.judge.session import Session

LOOKS = (10, 20, 40)
TOLERANCE = np.log1p(gate.PRESETS["standard"].tolerance)


@pytest.mark.parametrize(("ends", "looks"), [
    ((), (10, 20, 40)), ((6,), (6, 10, 20, 40)), ((4,), LOOKS), ((10,), LOOKS), ((15, 30), (10, 15, 20, 30, 40)), ((7, 8, 9), (7, 8, 9, 10, 20, 40)),
    ((40,), LOOKS), ((41,), LOOKS),
])
def test_all_looks_together_spend_the_error_rate(ends, looks):
    preset = Limits(ends=ends).of_most
    assert tuple(preset.spending) == looks
    assert sum(preset.spending.values()) == pytest.approx(gate.ALPHA, rel=1e-12)


def test_the_end_spends_half_of_what_is_left():
    third = gate.ALPHA / 3
    assert Limits(ends=(15,)).of_most.spending == pytest.approx({10: third, 15: third, 20: third / 2, 40: third / 2})


@pytest.mark.parametrize("ends", [(5,), (7,), (13,), (25,), (6, 8, 15), (5, 6, 7, 8, 9, 12, 17, 27)])
def test_sessions_that_end_early_and_go_on_are_wrong_as_rarely_as_promised(ends):
    """On the tolerance itself, the worst case for a false alarm; with an end of the time after each of these pairs."""
    preset = Limits(ends=ends).of_most
    noise = np.random.default_rng(len(ends)).normal(0, 0.004 * np.sqrt(2), (40000, LOOKS[-1]))
    found = gate.judge(noise + TOLERANCE, preset)
    assert (found == gate.WORSE).mean() <= 2 * gate.ALPHA, "the trimmed mean has longer tails than Student's t"
    assert (gate.judge(noise, preset) == gate.WORSE).mean() <= 0.1 * gate.ALPHA
    cut = gate.judge(noise[:, : ends[0]] + TOLERANCE, preset)
    assert 0 < (cut == gate.WORSE).mean() <= 1.5 * gate.ALPHA


@pytest.fixture(name="end_after")
def end_after_fixture(monkeypatch):
    """Ends the time of a session after this number of pairs."""
    measure_pair = Session.measure_pair

    def end(pairs: int) -> None:
        def until(self, pair, ids):
            if pair > pairs:
                raise OutOfTime
            measure_pair(self, pair, ids)

        monkeypatch.setattr(Session, "measure_pair", until)

    return end


@pytest.mark.parametrize(("change", "pairs", "code", "verdict"), [(2.0, 5, 4, "WORSE"), (2.0, 6, 4, "WORSE"), (2.0, 4, 3, "UNDECIDED"), (0.0, 6, 3, "UNDECIDED")])
def test_the_end_of_the_time_is_a_look(change, pairs, code, verdict, bench, end_after):
    first, second = bench.program("a", noise=0.01), bench.program("b", noise=0.01, change=change)
    end_after(pairs)
    found, report = bench.gate(first, second, "--minutes", "100")
    assert (found, set(verdicts(report).values())) == (code, {verdict})
    assert json.loads((bench.out / "session.json").read_text())["ends"] == [pairs]
    again, report = bench.call("--session", bench.out, "--json", bench.folder / "report.json")
    assert (again, set(verdicts(report).values())) == (code, {verdict}), "judged again, it is the same"


def test_a_session_goes_on_after_the_end_of_its_time(bench, end_after, monkeypatch):
    first, second = bench.program("a", noise=0.01), bench.program("b", noise=0.01)
    with monkeypatch.context() as context:
        context.setattr(Session, "measure_pair", Session.measure_pair)
        end_after(7)
        assert bench.gate(first, second, "--minutes", "100")[0] == 3
    end_after(40)
    code, report = bench.call("--resume", bench.out, "--json", bench.folder / "report.json")
    assert code == 0 and set(verdicts(report).values()) == {"SAME"}
    assert report["looks"][:2] == [7, 10]


@pytest.mark.parametrize("ends", [[99], "x", [0], [True]])
def test_ends_that_are_none_are_refused(ends, bench, end_after, capsys):
    end_after(5)
    bench.gate(bench.program("a"), bench.program("b"), "--minutes", "100")
    path = bench.out / "session.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"ends": ends}))
    capsys.readouterr()
    assert bench.call("--session", bench.out)[0] == 2
    assert "ends is not a list of numbers of pairs" in capsys.readouterr().err
