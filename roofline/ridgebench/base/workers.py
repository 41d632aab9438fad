"""Tasks in processes of their own, one for each processor."""

import ctypes
import multiprocessing
import os
import re
import signal
import sys
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Callable, Sequence, TypeVar

from .children import tied
from .command_line import INTERRUPTED, CommandError
from .interruption import ENDING, held

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")
_Answers = dict[int, tuple[bool, Any]]  # of a task: whether it ended, and its result or its error
_OPENMP = re.compile(r" (/.*/lib[gi]?omp[^/\n]*\.so[^/ \n]*)$", re.MULTILINE)  # the files of its libraries that a process has loaded
_TURN_S, _TURNS = 0.05, 100  # in which a worker removes what it has half written


def _leave(*_: object) -> None:
    """Ends a worker, which removes what it has half written; the signal may come several times.

    Python drops an exception inside a finalizer and would print it. The next signal then raises it again.
    """
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.unraisablehook = lambda _: signal.signal(signal.SIGTERM, _leave)
    raise SystemExit(0)


def _compute_alone() -> None:
    """Lets OpenMP use one thread. The threads of an OpenBLAS that has used it are missing in a fork, which would wait for them."""
    for path in set(_OPENMP.findall(Path("/proc/self/maps").read_text(errors="surrogateescape"))):
        if set_threads := getattr(ctypes.CDLL(path), "omp_set_num_threads", None):
            set_threads(1)


def _serve(work: Callable[[Any], Any], tasks: Sequence[Any], pipe: Connection, tie: Callable[[], None]) -> None:
    """Answers with the results of tasks until SIGTERM. The other process decides what an interruption means."""
    tie()
    _compute_alone()
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    while True:
        index = pipe.recv()
        try:
            answer = (True, work(tasks[index]))
        except Exception as error:
            answer = (False, error)
        pipe.send(answer)


def _end(workers: list) -> None:
    """Ends the processes by SIGTERM, which one that has just begun may miss, at last by SIGKILL."""
    for _ in range(_TURNS):
        alive = [worker for worker in workers if worker.is_alive()]
        for worker in alive:
            worker.terminate()
        for worker in alive:
            worker.join(_TURN_S)
        if not alive:
            return
    for worker in workers:
        worker.kill()
        worker.join()


def _start(work: Callable[[Any], Any], tasks: Sequence[Any], workers: list) -> Connection:
    """Starts one more process, and returns its pipe."""
    context = multiprocessing.get_context("fork")  # `work` and the tasks are inherited
    here, there = context.Pipe()
    with held():
        worker = context.Process(target=_serve, args=(work, tasks, there, tied()), daemon=True)
        worker.start()
        workers.append(worker)
    there.close()
    return here


def _collect(pipes: list[Connection], count: int) -> _Answers:
    """Hands out the tasks, and collects their answers. Raises CommandError for a process that was killed."""
    answers: _Answers = {}
    left = iter(range(count))
    given = {pipe: next(left) for pipe in pipes}
    for pipe, index in given.items():
        pipe.send(index)
    while len(answers) < count:
        for pipe in wait(list(given)):
            try:
                answers[given.pop(pipe)] = pipe.recv()
                if (index := next(left, None)) is not None:
                    given[pipe] = index
                    pipe.send(index)
            except (EOFError, OSError):
                raise CommandError("a process of this command was killed; is there enough memory?", INTERRUPTED) from None
    return answers


def in_parallel(work: Callable[[_Task], _Result], tasks: Sequence[_Task]) -> list[_Result]:
    """The results of `work`, in the order of the tasks, once all have ended; raises the first one's error.

    The processes are forks of this one, and end with it. Results cross between processes.
    """
    workers: list = []
    try:
        pipes = [_start(work, tasks, workers) for _ in range(min(len(os.sched_getaffinity(0)), len(tasks)))]
        answers = _collect(pipes, len(tasks))
    finally:
        _end(workers)
    for index in range(len(tasks)):
        ended, value = answers[index]
        if not ended:
            raise value
    return [answers[index][1] for index in range(len(tasks))]
