"""Arithmetic of users: what it computes, which names it has, and that nothing else runs."""

import pytest
from ridgebench.base.arithmetic import evaluate, names_in


@pytest.mark.parametrize("text, value", [
    ("7", 7), (" 2*m + n ", 13), ("m // 2", 2), ("m / 2", 2.5), ("-(m - n) ** 2", -4), ("m % n", 2), ("1e3", 1000.0), ("+m", 5),
])
def test_it_computes(text, value):
    found = evaluate(text, {"m": 5, "n": 3})
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize("text", [
    "", "m +", "k", "m()", "m.real", "[m]", "'m'", "True", "m if m else n", "m / 0", "9**9**9", "9**9", "((9**8)**8)**8", "(-8)**0.5",
    "__import__('os')", "m\nn", "(" * 300 + "m" + ")" * 300,
])
def test_it_refuses(text):
    with pytest.raises(ValueError):
        evaluate(text, {"m": 5, "n": 3})


def test_names_are_in_their_order():
    assert names_in("2*n + m // (n - 1)") == ["n", "m"]
    assert names_in("1 / (n - 1)") == ["n"]
    assert names_in("64") == []
    with pytest.raises(ValueError):
        names_in("f(n)")
