"""predict(), plan() and roofline(): what the commands of the same name print with --json. The C++ library computes it."""

import os
from typing import Any, Optional, Union

from ridgebench.base import native
from ridgebench.base.errors import RequestError
from ridgebench.peaks.matching import sheet_of
from ridgebench.peaks.sheets import Device

_COMMANDS = ("model", "table")  # of predict, with options of their own
_NOT_DIMENSIONS = ("format", "solve")  # options of predict OPERATION
_On = Union[str, "os.PathLike[str]", Device, Any]


def _text(name: str, value: Any) -> str:
    """A value as a command line writes it: numbers with all their digits, lists with commas."""
    if isinstance(value, (list, tuple)):
        return ",".join(_text(name, one) for one in value)
    if isinstance(value, (str, int, float, os.PathLike)):
        return str(os.fspath(value)) if isinstance(value, os.PathLike) else str(value)
    raise RequestError(f"{name} has the type {type(value).__name__}; allowed: a text, a number, a path or a list of them")


def _options(options: dict[str, Any]) -> list[str]:
    """Options of a command line. None and False leave an option out, and True is an option without a value."""
    words = []
    for key, value in options.items():
        name = f"--{key.replace('_', '-')}"
        if value is True:
            words.append(name)
        elif value is not None and value is not False:
            words.append(f"{name}={_text(key, value)}")
    return words


def _on(device: _On) -> str:
    """The word that names a device: a text and a path as they are, an object by its data sheet. Raises RequestError."""
    if isinstance(device, (str, os.PathLike)):
        return os.fspath(device)
    found = sheet_of(device)
    if isinstance(found, str):
        raise RequestError(found)
    return found.name


def predict(operation: str, *words: str, on: _On, **options: Any) -> dict[str, Any]:
    """The answer of `ridgebench predict`, by the schema `predict`, `predict_solve`, `predict_model` or `predict_table`.

    predict("matmul", m=4096, n=4096, k=4096, format="bf16", on="h100") names the dimensions; predict("matmul", "n:4096", ...)
    takes them as one text. predict("model", "llama-3-8b", batch=64, on="h100") and predict("table", on="h100") take the options
    of these commands, with _ for -. `on` is a data sheet, the path of a sheet's file or of a results folder, or an object that
    peak() takes. Raises RequestError with the line and the exit code of the command.
    """
    own = dict(options) if operation in _COMMANDS else {key: options.pop(key) for key in _NOT_DIMENSIONS if key in options}
    shape = "" if operation in _COMMANDS else "/".join(f"{name}:{_text(name, size)}" for name, size in options.items())
    if shape and words:
        raise RequestError(f"{operation} has the shape {' '.join(words)} and the dimensions {shape}; allowed: one of them")
    return native.answer(["predict", operation, *words, *filter(None, [shape]), *_options({**own, "on": _on(on)})])


def plan(question: str, *words: str, on: Optional[_On] = None, **options: Any) -> dict[str, Any]:
    """The answer of `ridgebench plan QUESTION`, by the schema `plan`: plan("train", params="7e9", tokens="1e12", gpus=8, on="h100").

    The options are those of the command, with _ for -. `on` and errors are as in predict().
    """
    device = {} if on is None else {"on": _on(on)}
    return native.answer(["plan", question, *words, *_options({**options, **device})])


def roofline(on: _On) -> dict[str, Any]:
    """The answer of `ridgebench info --on`, by the schema `info`: the peaks and the memory of a data sheet, or the measured roofs
    of a results folder. `on` and errors are as in predict()."""
    return native.answer(["info", f"--on={_on(on)}"])
