"""Prints a sheet of exercises for a class, its answers with the commands that show them, or the marks of a student."""

import argparse
import shlex
from pathlib import Path
from typing import Union

from ridgebench.base.command_line import OK, USAGE, CommandError, Parser, number_within
from ridgebench.base.printers import aligned
from ridgebench.base.text import markdown, quoted
from ridgebench.base.units import counted, rate, seconds

from .grading import mark, read_answers
from .questions import LEVELS, Question, draw_questions

_LONGEST_NAME = 80


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = Parser(prog="exercises", description=__doc__)
    parser.add_argument("--seed", type=number_within(0, 2**53, int), default=1, help="number that draws the sheet of a class (1)")
    parser.add_argument("--student", default="", metavar="NAME", help="draw numbers of their own for this student")
    parser.add_argument("--level", type=number_within(1, max(LEVELS), int), action="append", choices=sorted(LEVELS), default=[],
                        help="; ".join(f"{level}: {what}" for level, what in LEVELS.items()) + "; default: all")
    parser.add_argument("--on", metavar="SHEET", default="h100-sxm", help="data sheet of the device (h100-sxm)")
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--answers", action="store_true", help="print the answers too, with their commands")
    output.add_argument("--grade", type=Path, metavar="FILE", help="grade a student's answers: lines such as 3: 1.67 ms")
    chosen = parser.parse_args(arguments)
    if len(chosen.student) > _LONGEST_NAME or not chosen.student.isprintable():
        raise CommandError(f"--student is {quoted(chosen.student)}; allowed: up to {_LONGEST_NAME} printable characters", USAGE)
    return chosen


def _shown(question: Question) -> str:
    """The right answer as text."""
    answer: Union[float, str] = question.answer
    if isinstance(answer, str):
        return answer
    if question.unit in ("B", "FLOP"):
        return rate(answer, question.unit) if answer < 1e15 else f"{answer:.4g} {question.unit}"
    if question.unit == "s":
        return seconds(answer)
    if not question.unit and answer <= 1:
        return f"{answer:.3g} ({answer:.1%})"
    return f"{answer:,.4g} {question.unit}".rstrip() if answer < 1e4 else f"{answer:,.0f} {question.unit}".rstrip()


def _sheet(chosen: argparse.Namespace, questions: list[Question]) -> str:
    """Markdown of the questions, with or without their answers."""
    whose = f" for {markdown(chosen.student)}" if chosen.student else ""
    total = counted(sum(question.points for question in questions), "point")
    lines = [f"# Exercises {chosen.seed}{whose}", ""]
    lines += [f"{counted(len(questions), 'question')}, {total}. A number counts if it is right within 2 %. All sizes are in SI "
              "units: 1 GB is 1e9 bytes.", ""]  # fmt: skip
    for number, question in enumerate(questions, 1):
        allowed = f" ({' or '.join(question.choices)})" if question.choices else ""
        lines += [f"**{number}.** [{counted(question.points, 'point')}] {question.text}{allowed}", ""]
        if chosen.answers:
            how = f", {question.how}" if question.how else ""
            lines += [f"Answer: {_shown(question)}{how}", "", "```", f"ridgebench {shlex.join(question.command)}", "```", ""]
    return "\n".join(lines)


def _marks(questions: list[Question], answers: dict[int, str]) -> str:
    """A line for each question, and the sum."""
    marks = [mark(question, answers.get(number, "")) for number, question in enumerate(questions, 1)]
    table = [["question", "answer", "right", "points", ""]]
    for number, (question, one) in enumerate(zip(questions, marks), 1):
        table.append([str(number), one.given or "-", _shown(question), f"{one.points} of {question.points}", one.why])
    total = sum(question.points for question in questions)
    return "\n".join([*aligned(table, right={0}), f"{sum(one.points for one in marks)} of {counted(total, 'point')}"])


def main(arguments: list[str]) -> int:
    chosen = _parse(arguments)
    answers = read_answers(chosen.grade) if chosen.grade else {}
    levels = tuple(sorted(set(chosen.level))) or tuple(LEVELS)
    questions = draw_questions(f"{chosen.seed}/{chosen.student}", chosen.on, levels)
    beyond = [number for number in answers if not 1 <= number <= len(questions)]
    if beyond:
        raise CommandError(f"{chosen.grade} answers question {beyond[0]}; allowed: 1 to {len(questions)}", USAGE)
    print(_marks(questions, answers) if chosen.grade else _sheet(chosen, questions))
    return OK
