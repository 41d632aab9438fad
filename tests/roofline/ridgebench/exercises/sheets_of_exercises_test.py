"""`ridgebench exercises`: sheets, answers that hold, and marks."""

import re

import pytest

from ridgebench.base.command_line import CommandError
from ridgebench.base.files import ResultsError
from ridgebench.data import program
from ridgebench.data.data_sheets import find_sheet
from ridgebench.exercises import cli
from ridgebench.exercises.grading import mark, read_answers
from ridgebench.exercises.questions import LEVELS, Question, draw_questions
from ridgebench.peaks.rates import peak

BITS = {"fp32": 32, "fp16": 16, "bf16": 16, "fp8_e4m3": 8}
ALL = tuple(LEVELS)


def printed(capsys, *arguments: str) -> str:
    assert cli.main(list(arguments)) == 0
    return capsys.readouterr().out


def numbers(text: str) -> list[float]:
    return [float(each.replace(",", "")) for each in re.findall(r"\d[\d,]*(?:\.\d+)?", text)]


def question(answer, unit: str = "", choices: tuple[str, ...] = ()) -> Question:
    return Question(2, "?", answer, unit, ("number", "1"), choices, "")


def test_a_seed_and_a_student_draw_the_same_sheet_each_time(capsys):
    sheets = {(seed, name): printed(capsys, "--seed", seed, "--student", name) for seed in "12" for name in ("", "Ada", "Bo")}
    assert len(set(sheets.values())) == 6
    assert printed(capsys, "--seed", "1", "--student", "Ada") == sheets["1", "Ada"]
    assert "# Exercises 1 for Ada\n\n13 questions, 26 points." in sheets["1", "Ada"]
    assert "Answer" not in sheets["1", "Ada"]


@pytest.mark.parametrize("seed", range(12))
def test_answers_follow_from_the_numbers_of_the_question(seed):
    sheet = find_sheet("h100-sxm")
    for one in draw_questions(str(seed), "h100-sxm", (1, 2)):
        drawn = numbers(one.text)
        format_ = next((name for name in BITS if f" {name}" in one.text), "")
        if "matrix of" in one.text and one.unit == "B":
            assert one.answer == drawn[0] * drawn[1] * BITS[format_] / 8
        elif one.unit == "FLOP":
            assert one.answer == 2 * drawn[0] * drawn[1] * drawn[3]
        elif one.unit == "FLOP/B":
            flops, arrays = {"relu": (1, 2), "gelu": (20, 2), "dot": (2, 2)}[one.command[1]]
            assert one.answer == pytest.approx(flops / (arrays * BITS[format_] / 8))
        elif one.unit == "s":
            moved = numbers(one.text)[0] * 1e6 * 2 * BITS[format_] / 8
            assert one.answer == pytest.approx(moved / sheet.bytes_per_s, rel=1e-6)
        elif "cubed" in one.text:
            assert float(one.command[3]) == 2 * drawn[0] ** 3
            assert one.answer == pytest.approx(float(one.command[3]) / float(one.command[5]) / sheet.peaks["bf16"][1])


def leaves(told) -> list:
    """The numbers and words of an answer of the program."""
    if isinstance(told, (dict, list)):
        return [leaf for each in (told.values() if isinstance(told, dict) else told) for leaf in leaves(each)]
    return [told]


@pytest.mark.parametrize("device", ["h100-sxm", "t4"])
@pytest.mark.parametrize("seed", range(16))
def test_the_command_of_an_answer_prints_it(seed, device):
    for one in draw_questions(str(seed), device, ALL):
        told = program.ask(*one.command)
        if one.command[0] == "number":
            zero = {each["format"]: each["decoded"] == 0 for each in told["formats"]}
            assert one.answer == ("yes" if zero[one.text.split()[-1].rstrip("?")] else "no")
        elif one.how:
            batch, context = numbers(one.how)
            assert one.how.startswith("the KV cache per token x ")
            assert one.answer == told["kv_cache_bytes_per_token"] * batch * context
        else:
            assert one.answer in leaves(told), one.text


@pytest.mark.parametrize("seed", range(16))
def test_the_state_of_training_has_the_bytes_of_its_precision(seed):
    """The bytes per parameter of docs/napkin.md."""
    [one] = [each for each in draw_questions(str(seed), "h100-sxm", (3,)) if "AdamW" in each.text]
    precision = one.command[one.command.index("--precision") + 1]
    assert one.answer == numbers(one.text)[0] * 1e9 * {"bf16": 12, "fp32": 16, "bf16-master": 16}[precision]


@pytest.mark.parametrize("device", ["h100-sxm", "l4", "b200", "t4", "v100-16-sxm2", "mi300x", "tpu-v5e"])
def test_a_slip_names_sparsity_only_where_the_device_has_it(device):
    [one] = [each for each in draw_questions("3", device, (2,)) if "Find the error" in each.text]
    format_ = one.command[one.command.index("--format") + 1]
    assert ("2:4 sparsity" in one.text) == bool(peak(device, format_, sparse=True))
    shown = float(re.search(r"MFU of ([\d.]+)%", one.text)[1]) / 100
    assert 2 * shown == pytest.approx(one.answer, rel=0.01)


@pytest.mark.parametrize("device", ["h200", "a100-80-sxm", "tpu-v5e", "mi300x", "t4", "v100-16-sxm2"])
def test_a_device_is_asked_for_the_formats_that_it_has(device, capsys):
    text = printed(capsys, "--on", device, "--answers")
    assert text.count("Answer: ") == text.count("```\nridgebench ") == 13


def test_levels_choose_questions(capsys):
    assert "4 questions, 4 points." in printed(capsys, "--level", "1", "--level", "1")
    assert {one.level for one in draw_questions("1", "h200", (1, 3))} == {1, 3}


@pytest.mark.parametrize(
    ("answer", "unit", "given", "right"),
    [
        (604e6, "B", "604 MB", True),
        (604e6, "B", "576 MiB", True),
        (604e6, "B", "604,000,000", True),
        (604e6, "B", "604 GB", False),
        (134.2e6, "B", "134 MBytes", True),
        (134.2e6, "B", "128 MiBytes", True),
        (17.18e9, "FLOP", "17.2 GFLOPs", True),
        (17.18e9, "FLOP", "17.2e9 FLOPs", True),
        (2.0, "FLOP/B", "2 FLOPs/B", True),
        (4.275e19, "FLOP", "42.7 EFLOP", True),
        (4.275e19, "FLOP", "4.3e19", True),
        (611e-6, "s", "0.611 ms", True),
        (611e-6, "s", "611", False),
        (0.49, "", "49 %", True),
        (0.49, "", "0.5", False),
        (377.0, "", "377", True),
        (377.0, "", "300", False),
        (1.485, "days", "1.5 days", True),
        (2.0, "FLOP/B", "2 FLOP/byte", True),
    ],
)
def test_a_number_counts_within_two_per_cent_and_in_any_prefix(answer, unit, given, right):
    assert mark(question(answer, unit), given).points == (2 if right else 0)


def test_what_cannot_be_read_says_what_is_allowed():
    assert mark(question("yes", choices=("yes", "no")), "Yes").points == 2
    assert mark(question("yes", choices=("yes", "no")), "perhaps").why == "allowed: yes, no"
    assert mark(question(1.0, "B"), "much").why == "allowed: a number in B"
    assert mark(question(1.0, "B"), "1 parsec").why == "allowed: a number in B"
    assert mark(question(0.5), "").why == "no answer"


def test_a_sheet_of_right_answers_gets_all_points(tmp_path, capsys):
    drawn = draw_questions("5/Ada", "h100-sxm", ALL)
    answers = tmp_path / "answers.txt"
    lines = [f"{number}: {one.answer if isinstance(one.answer, str) else f'{one.answer:.4g}'}" for number, one in enumerate(drawn, 1)]
    answers.write_text("# Ada\n\n" + "\n".join(lines), encoding="utf-8")
    assert printed(capsys, "--seed", "5", "--student", "Ada", "--grade", str(answers)).endswith("\n26 of 26 points\n")
    answers.write_text(lines[0], encoding="utf-8")
    assert printed(capsys, "--seed", "5", "--student", "Ada", "--grade", str(answers)).endswith("\n1 of 26 points\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("one: 3", "answers.txt:1: 'one: 3'; allowed: NUMBER: ANSWER"),
        ("1: 3\n1: 4", "answers.txt:2: question 1 has a second answer"),
    ],
)
def test_a_line_that_is_no_answer_is_named(text, said, tmp_path):
    answers = tmp_path / "answers.txt"
    answers.write_text(text, encoding="utf-8")
    with pytest.raises(CommandError) as error:
        read_answers(answers)
    assert said in str(error.value)


def test_an_answer_beyond_the_sheet_is_refused(tmp_path):
    answers = tmp_path / "answers.txt"
    answers.write_text("14: 3", encoding="utf-8")
    with pytest.raises(CommandError, match="answers question 14; allowed: 1 to 13"):
        cli.main(["--grade", str(answers)])


@pytest.mark.parametrize("arguments", [["--on", "nothing"], ["--grade", "nowhere.txt"]])
def test_an_unknown_device_and_a_missing_file_are_errors(arguments):
    with pytest.raises(ResultsError):
        cli.main(arguments)


def test_a_name_with_control_characters_is_refused():
    with pytest.raises(CommandError, match="printable"):
        cli.main(["--student", "a\x1bb"])
