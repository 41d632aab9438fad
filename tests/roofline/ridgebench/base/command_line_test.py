"""Numbers of options: the one grammar of the program, kernels/common/number.hpp."""

import argparse

import pytest

from ridgebench.__main__ import main
from ridgebench.base.command_line import number_of


@pytest.mark.parametrize(("text", "value"), [
    ("4096", 4096), ("0.5", 0.5), (".5", 0.5), ("5.", 5), ("1e6", 1e6), ("2.5e-3", 0.0025), ("4k", 4000), ("0.3k", 300), ("2M", 2e6),
    ("70B", 70e9), ("3G", 3e9), ("15T", 15e12), ("-1", -1),
])  # fmt: skip
def test_a_number(text, value):
    assert number_of(text, -1e300, 1e300) == value


@pytest.mark.parametrize("text", ["", " 5", "5 ", "+5", "1_000", "0x10", "inf", "nan", "1e400", "1e", "1e3k", "4kk", "4m", "5,0", "\u0665", "1e-", "."])
def test_a_text_that_is_no_number(text):
    with pytest.raises(argparse.ArgumentTypeError, match="is not a number from -1e\\+300 to 1e\\+300"):
        number_of(text, -1e300, 1e300)


def test_a_whole_number():
    assert number_of("1e3", 1, 2000, int) == 1000 and type(number_of("1e3", 1, 2000, int)) is int
    for text in ("1.5", "0", "3k"):
        with pytest.raises(argparse.ArgumentTypeError, match="is not a whole number from 1 to 2000"):
            number_of(text, 1, 2000, int)


@pytest.mark.parametrize("words", [
    ("exercises", "--seed", "1_0"), ("exercises", "--level", "9"), ("fleet", "plan", "--out", "x", "--gpus", "1_0"),
    ("fleet", "plan", "--out", "x", "--gpus", "0"), ("fleet", "plan", "--out", "x", "--limit", "nan"), ("gate", "--minutes", "1_0"),
])  # fmt: skip
def test_a_command_refuses_another_number_in_one_line(capsys, words):
    assert main(list(words)) == 2
    error = capsys.readouterr().err
    assert f"argument {words[-2]}: {words[-1]!r} is not a " in error and error.count("\n") == 1


@pytest.mark.parametrize("words", [("plot",), ("compare",), ("fleet",), ("fleet", "plan"), ("baseline",), ("roofline-energy",), ("stream",)])
def test_every_command_has_all_its_help(capsys, words):
    assert main([*words, "--help-all"]) == 0 and capsys.readouterr().out.startswith("usage: ")
