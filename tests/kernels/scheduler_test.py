"""The model of a scheduler, on loops whose clocks follow by hand."""

import pytest
from sass import Instruction
from scheduler import LATENCY, PIPE, SCHEDULERS, clocks_of_turn, share_of_peak

FFMA, LDS = 0x223, 0x984
NO_BOARD = 7
STALL_AT, WRITE_AT, READ_AT, WAIT_AT = 105, 110, 113, 116


def instruction(opcode: int, sources=(255, 255, 255), stall=1, write=NO_BOARD, wait=None) -> int:
    word = opcode | sources[0] << 24 | sources[1] << 32 | sources[2] << 64 | stall << STALL_AT | write << WRITE_AT | NO_BOARD << READ_AT
    return word if wait is None else word | 1 << WAIT_AT + wait


def loop_of(*words: int) -> list[Instruction]:
    return [Instruction(16 * i, word) for i, word in enumerate(words)]


def test_multiply_adds_without_a_wait_issue_one_a_clock():
    assert clocks_of_turn(loop_of(*[instruction(FFMA)] * 10)) == pytest.approx(20, rel=0.02)
    assert share_of_peak(loop_of(*[instruction(FFMA)] * 10), "FFMA") == pytest.approx(1, rel=0.02)


def test_two_warps_hide_a_stall_of_two_clocks_and_one_does_not():
    loop = loop_of(*[instruction(FFMA, stall=2)] * 10)
    assert clocks_of_turn(loop, warps=2) == pytest.approx(20, rel=0.05)
    assert clocks_of_turn(loop[:1], warps=1) == pytest.approx(2, rel=0.05)


def test_a_conflict_takes_a_clock():
    conflict = instruction(FFMA, sources=(2, 4, 255))
    assert clocks_of_turn(loop_of(*[conflict] * 10)) == pytest.approx(40, rel=0.02)


def test_a_value_that_is_used_at_once_costs_its_latency():
    loop = loop_of(instruction(LDS, write=0), instruction(FFMA, wait=0))
    assert clocks_of_turn(loop, warps=1) == pytest.approx(1 + SCHEDULERS * PIPE + LATENCY, rel=0.05)


def test_a_value_that_is_used_a_turn_later_costs_none():
    work = [instruction(FFMA)] * 60
    at_once = loop_of(instruction(LDS, write=0), instruction(FFMA, wait=0), *work)
    later = loop_of(instruction(FFMA, wait=0), instruction(LDS, write=0), *work)
    assert clocks_of_turn(later, warps=1) == pytest.approx(len(later), rel=0.02)
    assert clocks_of_turn(at_once, warps=1) > len(at_once) + LATENCY
