"""The signals that end a command: it ends what it started, keeps what is finished, and says so in one line."""

import signal
import sys
import time
from contextlib import contextmanager
from types import FrameType
from typing import Any, Iterator, Optional

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGXCPU)  # as in harness/base/process.hpp
_AGAIN_S = 0.01  # in which a callback ends, mostly
_TOGETHER_S = 0.5  # `timeout` signals a process and then its group: both are one interruption
first_s: Optional[float] = None  # when the first signal came
_raised: set[type] = {KeyboardInterrupt}  # by handlers of signals
_lost: type = KeyboardInterrupt  # which of them comes again


def interrupt(number: int, frame: Optional[FrameType] = None) -> None:
    """Raises KeyboardInterrupt for the first signal. A later one ends the process at once."""
    global first_s
    now = time.monotonic()
    if first_s is None:
        first_s = now
        raise KeyboardInterrupt
    if now - first_s > _TOGETHER_S and number != signal.SIGXCPU:  # the system repeats SIGXCPU each second
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)


def _interrupt_again(lost: Any) -> None:
    """Hook of exceptions that reach no caller. An interruption within a weak reference's callback is one, and comes again after it."""
    global _lost
    if lost.exc_type not in _raised or (lost.exc_type is KeyboardInterrupt and first_s is None):
        sys.__unraisablehook__(lost)
        return
    _lost = lost.exc_type
    signal.signal(signal.SIGALRM, _after_hook)
    signal.setitimer(signal.ITIMER_REAL, _AGAIN_S, _AGAIN_S)


def _after_hook(number: int, frame: Optional[FrameType]) -> None:
    """Interrupts, unless the hook has not ended: then the timer comes again."""
    while frame:
        if frame.f_code is _interrupt_again.__code__:
            return
        frame = frame.f_back
    signal.setitimer(signal.ITIMER_REAL, 0)
    raise _lost


@contextmanager
def comes_again(kind: type) -> Iterator[None]:
    """In the block an exception of this type, which a handler of a signal raises, comes again if a callback loses it."""
    before, sys.unraisablehook = sys.unraisablehook, _interrupt_again
    _raised.add(kind)
    try:
        yield
    finally:
        _raised.discard(kind)
        sys.unraisablehook = before


def came() -> bool:
    """True if a signal interrupted this command: an error may then be what a library made of the exception."""
    return first_s is not None


def listen() -> None:
    """Makes each of the signals an interruption, except those that the caller ignores, as nohup and a shell's & do.

    The program blocks them while Python starts.
    """
    global first_s
    first_s = None
    sys.unraisablehook = _interrupt_again
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, interrupt)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)


def ignore() -> None:
    """Ignores the signals from now on: the command has ended, and its exit code is final."""
    signal.setitimer(signal.ITIMER_REAL, 0)
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)


@contextmanager
def held() -> Iterator[None]:
    """Handles signals at the end of the block: an exception within Popen would leave the child to itself."""
    arrived: list[int] = []
    handlers = {number: signal.getsignal(number) for number in (*ENDING, signal.SIGALRM)}
    caught = {number: handler for number, handler in handlers.items() if callable(handler)}  # a child inherits the others
    for number in caught:
        signal.signal(number, lambda number, _: arrived.append(number))
    try:
        yield
    finally:
        for number, handler in caught.items():
            signal.signal(number, handler)
        for number in arrived:
            signal.raise_signal(number)
