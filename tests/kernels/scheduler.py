"""Clocks that a loop of FFMA and LDS takes on one scheduler of a multiprocessor of compute capability 9.0: a model, not a measurement.

Warps issue in order, one instruction a clock in all. An instruction waits for the stall clocks of the one before it, for the scoreboards
in its wait mask, and, as an FFMA, for a bank of the register file. An LDS takes its turn at the pipe of shared memory, which four
schedulers share; its scoreboard is free again when the value has arrived. For ffma_tma with two lines a turn the model gives 0.813 of
the peak. Times 0.963 for the transposing warps and 0.97 for the waves that is 0.760; an H200 had 0.764 of it at 8192 cubed.
"""

from dataclasses import dataclass, field

from sass import Instruction, ffma_waits

SCOREBOARDS = 6
SCHEDULERS = 4
LATENCY = 31.0  # clocks of an LDS after its turn at the pipe
PIPE = 2.0  # clocks of the pipe for an LDS of 16 bytes a thread
SOURCES_READ = 8.0  # clocks after which an LDS has read its address
TURNS, WARM_UP = 60, 10


@dataclass
class Warp:
    ready: float
    at: int = 0
    scoreboards: list[float] = field(default_factory=lambda: [0.0] * SCOREBOARDS)

    def can_issue(self, instruction: Instruction) -> float:
        """The clock from which it can issue its next instruction."""
        awaited = [free for board, free in enumerate(self.scoreboards) if instruction.waits_for(board)]
        return max([self.ready, *awaited])


def clocks_of_turn(loop: list[Instruction], warps: int = 2) -> float:
    """Clocks in which all of the warps run the loop once, a mean over many turns."""
    waits = ffma_waits(loop)
    running = [Warp(ready=3.0 * number) for number in range(warps)]
    clock, pipe_free, previous = 0.0, 0.0, running[0]
    turn = len(loop) * warps
    start = 0.0
    for issued in range(TURNS * turn):
        if issued == WARM_UP * turn:
            start = clock
        while True:
            # The warp that issued last goes first.
            order = sorted(running, key=lambda warp: warp is not previous)
            warp = next((one for one in order if one.can_issue(loop[one.at]) <= clock), None)
            if warp is not None:
                break
            clock += 1
        instruction = loop[warp.at]
        warp.ready = clock + max(instruction.stall, 1) + waits[warp.at]
        if instruction.name == "LDS":
            pipe_free = max(pipe_free, clock) + SCHEDULERS * PIPE
            for board, after in ((instruction.write_board, LATENCY), (instruction.read_board, SOURCES_READ)):
                if board < SCOREBOARDS:
                    warp.scoreboards[board] = pipe_free + after
        clock += 1 + waits[warp.at]
        previous = warp
        warp.at = (warp.at + 1) % len(loop)
    return (clock - start) / (TURNS - WARM_UP)


def share_of_peak(loop: list[Instruction], name: str, warps: int = 2) -> float:
    """Instructions called `name` per clock of the scheduler."""
    return warps * sum(i.name == name for i in loop) / clocks_of_turn(loop, warps)
