"""The gate's use of machine code: rows whose code is the same are not measured."""

import shutil
from pathlib import Path
from typing import Optional

from ridgebench.base.command_line import USAGE, CommandError
from ridgebench.base.patterns import Pattern
from ridgebench.base.text import quoted

from . import gate
from .code.finding import SAME, UNKNOWN, Finding
from .code.rows import of_objects, rows_of
from .report import Comparison, Report, with_words
from .session import ARMS, Session

_OWN, _LOAD = "ridgebench", "--load"
_TRUST = (
    "Same code: the machine code of the kernels and of the host, the libraries and the flags are equal. The gate does not "
    "compare a library that a program loads by itself (dlopen), except those that rows of ridgebench call."
)


def _programs(session: Session) -> list[Path]:
    """The files that the commands of a session start."""
    return [Path(shutil.which(session.commands[arm][0]) or session.commands[arm][0]) for arm in ARMS]


def _without_loads(words: list[str]) -> tuple[list[str], list[Path]]:
    """The words of a command `ridgebench run` without the files of --load, and these files."""
    kept: list[str] = []
    files = []
    for before, word in zip(["", *words], words):
        if before == _LOAD or word.startswith(f"{_LOAD}="):
            files.append(Path(word.removeprefix(f"{_LOAD}=")))
            word = "" if before == _LOAD else _LOAD
        kept.append(word)
    return kept, files


def _of_loads(one: list[Path], other: list[Path]) -> Finding:
    """The finding on the files that the commands load: any row may run their code."""
    for pair in zip(one, other):
        found = Finding(SAME) if pair[0] == pair[1] else of_objects(*pair)
        if found.state != SAME:
            return Finding(found.state, f"{_LOAD} {pair[1]}: {found.reason}")
    return Finding(SAME)


def find(session: Session, programs: list[Path], launches: Optional[Path]) -> dict[str, list[str]]:
    """State and reason of each row of the unscored process. Commands whose arguments differ leave every row unknown.

    The place of a program that --code names is no argument: `taskset 1 old/bench` is like `taskset 1 new/bench`. Neither is the
    file of `ridgebench run --load`, whose code is compared.
    """
    places = [str(path) for path in programs] or ["", ""]
    arguments = [["" if word == place else word for word in session.commands[arm][1:]] for arm, place in zip(ARMS, places)]
    loads: list[list[Path]] = [[], []]
    if session.reader == _OWN:
        arguments, loads = map(list, zip(*map(_without_loads, arguments)))
    names = set(session.kernels())
    rows = [row for row in session.load(session.reference).rows if row.id in names]
    if arguments[0] != arguments[1]:
        found = {row.id: Finding(UNKNOWN, "the commands have other arguments") for row in rows}
    else:
        known, loaded = rows_of(*(programs or _programs(session)), launches), _of_loads(*loads)
        found = {row.id: one if (one := known.of_row(row)).state != SAME else loaded for row in rows}
    return {name: [one.state, one.reason] for name, one in found.items()}


def describe(programs: list[Path], launches: Optional[Path], pattern: Optional[str]) -> Report:
    """The report on two programs, of which nothing is measured: SAME, or UNDECIDED with the reason to measure."""
    chosen = Pattern(pattern, "--filter") if pattern is not None else None
    listed = {name: one for name, one in rows_of(*programs, launches).listed().items() if chosen is None or chosen.search(name)}
    if not listed:
        raise CommandError(f"no row matches --filter {quoted(pattern or '')}", USAGE)
    rows = [_verdict_on(name, one) for name, one in listed.items()]
    return Report("code", *map(str, programs), rows, notes=[_TRUST] if any(one.state == SAME for one in listed.values()) else [])


def _verdict_on(name: str, one: Finding) -> Comparison:
    """The verdict on a row that is not measured."""
    verdict = gate.SAME if one.state == SAME else gate.UNDECIDED
    return Comparison(name, verdict, one.text, code=one.state)


def with_code(report: Report, session: Session) -> Report:
    """The report of a session with the rows that were not measured, and with the findings on the others."""
    measured = {row.id: row for row in report.rows}
    for name, (state, reason) in (session.code or {}).items():
        if name in measured:
            measured[name].code = state
            measured[name].reason = with_words(measured[name].reason, Finding(state, reason).text)
        elif state == SAME:
            report.rows.append(_verdict_on(name, Finding(state)))
    if session.same:
        report.notes.append(_TRUST)
        report.notes.append("A row that only the candidate has is not listed where rows with the same code were left out.")
    report.sort()
    return report
