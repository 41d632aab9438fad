"""Serves the kernels of a file of Python to the program, which started this process to verify and time them (`--load`).

The answer to the program's first command says what is wrong with the file. The program prints it, and therefore this module
imports no other package before it can answer.
"""

import os
import stat
import struct
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from ridgebench.base.command_line import USAGE, CommandError
from ridgebench.base.text import one_line

_SOCKET = 3  # kKernelSocket of harness/device/isolated/start_process.hpp
_FIRST_COMMAND = 1  # kFirstCommand of kernel_process.hpp
_ERROR = 10  # MessageKind::error of message.hpp
_LIST = (list, tuple)


def main(arguments: list[str]) -> int:
    """Serves NAME of a file: its name in messages, its path, NAME."""
    if len(arguments) != 3 or not _is_socket():
        raise CommandError("serve is for processes that `run` and `duel` start; allowed: ridgebench run --load FILE.py:NAME")
    sys.stdout.reconfigure(line_buffering=True)  # the process ends without Python's end
    file, path, name = arguments
    try:
        _serve(path, name)
    except ModuleNotFoundError as error:
        _refuse(f"--load {file}: {sys.executable} lacks {error.name}; RIDGEBENCH_PYTHON names another Python")
    except BaseException as error:
        _refuse(f"--load {file}: {error if isinstance(error, CommandError) else repr(error)}")
    return USAGE


def _is_socket() -> bool:
    try:
        return stat.S_ISSOCK(os.fstat(_SOCKET).st_mode)
    except OSError:
        return False


def _serve(path: str, name: str) -> NoReturn:
    """Imports the file and answers the program's commands. Raises where the file cannot be served."""
    from . import library
    from .callbacks import empty_launch
    from .run import Run

    library.SERVING = True
    library.library()
    kernels = _kernels_of(_imported(path), name)
    with Run() as run:
        run.add(kernels, (), "cpu")
        run.call("ridgebench_serve", empty_launch(), None)
    raise CommandError("the library ended")


def _imported(path: str) -> ModuleType:
    """The module of a file, whose folder is the last in which it finds others. No compiled file is read or left."""
    from .callbacks import raised

    module = ModuleType(f"{Path(path).stem} of --load")  # a name that no import takes
    module.__file__ = path
    sys.modules[module.__name__] = module
    sys.path.append(str(Path(path).parent))
    try:
        exec(compile(Path(path).read_bytes(), path, "exec"), module.__dict__)
    except CommandError:
        raise
    except BaseException as error:
        raise CommandError(f"it raised {raised(error, path)} while it was imported") from None
    return module


def _kernels_of(module: ModuleType, name: str) -> list[Any]:
    """The kernel, or the list of kernels, that the module calls `name`."""
    from .operation import Kernel

    def found(value: Any) -> list[Any]:
        all_of = list(value) if isinstance(value, _LIST) else [value]
        return all_of if all(isinstance(one, Kernel) for one in all_of) else []

    kernels = found(getattr(module, name, None))
    if not kernels:
        names = [known for known, value in vars(module).items() if found(value)]
        problem = "is neither a kernel nor a list of kernels" if hasattr(module, name) else "is not in the file"
        raise CommandError(f"{name} {problem}; allowed: {', '.join(names) or 'a file with what ridgebench.kernel() returned'}")
    return kernels


def _refuse(text: str) -> None:
    """Answers the first command by an error, as MessagePack's map of two texts."""
    payload = b"\x82" + b"".join(map(_packed, ("kind", "usage", "text", one_line(text))))
    os.write(_SOCKET, struct.pack("=IIQ", len(payload), _ERROR, _FIRST_COMMAND) + payload)


def _packed(text: str) -> bytes:
    data = text.encode("utf-8", "replace")
    return struct.pack(">BI", 0xDB, len(data)) + data
