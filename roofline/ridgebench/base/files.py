"""Files that come from elsewhere are read within limits; files of this project are replaced at once or not at all."""

import codecs
import json
import os
import secrets
import stat
import sys
from collections import Counter
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Callable, Iterator, Optional, Union

from .errors import CommandError
from .text import cut, quoted

# In bytes, as in the binary. A run of thousands of rows with all their samples has tens of MiB.
LARGEST_FILE = 2**28
LONGEST_LINE = 2**26
_RESULTS = "a results directory"
_MOST_DIGITS = 400  # of a whole number; more are beyond double precision
_LONGEST_ERROR = 300  # characters of what is wrong with a file
_DEEPEST = 100  # levels of JSON, as in the binary


class ResultsError(CommandError):
    """A file that cannot be read or is not what it should be; the text is one line that names the file."""


def wrong(error: Exception) -> str:
    """The fault of a file by a reader's exception, in words: 'the key 'id' is missing'."""
    if isinstance(error, KeyError):
        return f"the key {error.args[0]!r} is missing"
    if isinstance(error, (TypeError, AttributeError)):
        return f"a value of another type ({error})"
    return str(error)


def malformed(origin: Any, error: Exception, what: str = "") -> ResultsError:
    """The error of a reader about a file or its line: 'FILE: no manifest: the key 'id' is missing'."""
    return ResultsError(cut(f"{origin}: {f'{what}: ' if what else ''}{wrong(error)}", _LONGEST_ERROR))


def open_regular(path: Path, largest: int, kind: str = _RESULTS) -> BinaryIO:
    """Opens a file for reading. Raises ResultsError for a device, a pipe or a folder: those may never end."""
    try:
        # Without O_NONBLOCK the opening of a pipe waits for a writer.
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise ResultsError(f"{path}: not found; is this {kind}?") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise ResultsError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    status = os.fstat(number)
    if stat.S_ISREG(status.st_mode) and status.st_size <= largest:
        return open(number, "rb")
    os.close(number)
    if not stat.S_ISREG(status.st_mode):
        raise ResultsError(f"{path}: is not a regular file")
    raise ResultsError(f"{path}: {status.st_size} bytes; allowed: up to {largest}")


def real(path: Path) -> Path:
    """The absolute path without links, as far as there are files. A loop of links stays, and whoever opens it finds no file.

    Path.resolve() would raise a RuntimeError for a loop.
    """
    return Path(os.path.realpath(path))


def decoded(data: bytes, origin: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ResultsError(f"{origin}: not UTF-8: {error.reason} at byte {error.start}") from None


def read(path: Path, kind: str = _RESULTS) -> str:
    """The text of a file without a byte order mark. Raises ResultsError."""
    with open_regular(path, LARGEST_FILE, kind) as file:
        data = file.read(LARGEST_FILE + 1)
    return decoded(data.removeprefix(codecs.BOM_UTF8), str(path))


def lines_of(path: Path, kind: str = _RESULTS) -> Iterator[tuple[str, bytes]]:
    """Every line that is not empty with its place, FILE:LINE; the last one may lack its end. Raises ResultsError."""
    with open_regular(path, LARGEST_FILE, kind) as file:
        number = 0
        while line := file.readline(LONGEST_LINE + 1):
            number += 1
            if len(line) > LONGEST_LINE:
                raise ResultsError(f"{path}:{number}: the line is longer than {LONGEST_LINE} bytes")
            if number == 1:
                line = line.removeprefix(codecs.BOM_UTF8)
            if line.strip():
                yield f"{path}:{number}", line


def _reject_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _checked(parse: Callable[[str], float], text: str) -> float:
    """A number that a double can hold."""
    value = parse(text) if len(text) < _MOST_DIGITS else float(text)
    if not abs(value) <= sys.float_info.max:
        raise OverflowError
    return value


class _KeyTwice(ValueError):
    """An object with a key twice, of which Python would keep the last value."""


def _whole_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        ((repeated, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise _KeyTwice(f"the key {quoted(repeated)} comes twice")
    return found


_STRICT = json.JSONDecoder(parse_constant=_reject_constant, parse_float=partial(_checked, float), parse_int=partial(_checked, int),
                           object_pairs_hook=_whole_object)
_QUICK = json.JSONDecoder(parse_constant=_reject_constant, object_pairs_hook=_whole_object)
_LENIENT = json.JSONDecoder(parse_constant=lambda _: None, object_pairs_hook=_whole_object)


def _too_deep(value: Any, levels: int = _DEEPEST) -> bool:
    """True if a list or object has more levels than these."""
    if levels == 0:
        return True
    inner = value.values() if isinstance(value, dict) else value
    return any(_too_deep(one, levels - 1) for one in inner if isinstance(one, (dict, list)))


def _json_of(decoder: json.JSONDecoder, text: str, origin: str) -> Any:
    """JSON without a key twice in an object. Raises ResultsError."""
    try:
        return decoder.decode(text)
    except OverflowError:
        raise ResultsError(f"{origin}: holds a number beyond double precision") from None
    except RecursionError:
        raise ResultsError(f"{origin}: nested more than {_DEEPEST} levels deep") from None
    except _KeyTwice as error:
        raise ResultsError(f"{origin}: {error}") from None
    except ValueError as error:
        raise ResultsError(f"{origin}: not JSON: {error}") from None


def parse_json(text: str, origin: str) -> Any:
    """Strict JSON: no NaN, no number beyond double precision, at most _DEEPEST levels. Raises ResultsError."""
    value = _json_of(_STRICT, text, origin)
    if isinstance(value, (dict, list)) and _too_deep(value):
        raise ResultsError(f"{origin}: nested more than {_DEEPEST} levels deep")
    return value


def parse_quickly(text: str, origin: str) -> Any:
    """JSON, without the limits of parse_json() on numbers and levels, which cost most of the time. Raises ResultsError."""
    return _json_of(_QUICK, text, origin)


def parse_lenient(text: str, origin: str) -> Any:
    """An object of JSON in which NaN and Infinity, which Google Benchmark writes for counters, are null. Raises ResultsError."""
    value = _json_of(_LENIENT, text, origin)
    if not isinstance(value, dict) or _too_deep(value):
        raise ResultsError(f"{origin}: no object of at most {_DEEPEST} levels")
    return value


def parse_toml(text: str, origin: str) -> dict[str, Any]:
    """Raises ResultsError."""
    try:
        import tomllib
    except ModuleNotFoundError:
        try:
            import tomli as tomllib
        except ModuleNotFoundError:
            raise ResultsError(f"{origin}: TOML needs Python 3.11, or `pip install tomli`") from None
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # TOMLDecodeError is a ValueError
        raise ResultsError(f"{origin}: no TOML: {error}") from None


def output_folder(out: Optional[Path], results: Optional[Path], name: str) -> Path:
    """The folder for a command's files, which is made: that of --out, else the one of this name below the results.

    Raises ResultsError where that one is a symbolic link: a folder from elsewhere must not choose where files go.
    """
    folder = out if out is not None else (results or Path()) / name
    if out is None and results is not None and folder.is_symlink():
        raise ResultsError(f"{folder}: is a symbolic link; allowed: a folder, or another one by --out")
    with naming(folder):
        folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Names the file in an OSError of the block. Writing to a full disk raises one without a name."""
    try:
        yield
    except OSError as error:
        error.filename = str(path)
        raise


def _flush(path: Path) -> None:
    """Waits until the file is on the disk."""
    number = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(number)
    finally:
        os.close(number)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Gives the block a file to write, which then replaces `path`: whatever ends this process leaves the whole old file or
    the whole new one.

    The temporary file is a new one with a random name, so that no link can wait in its place.
    """
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        with naming(path):
            open(fresh, "x").close()
            yield fresh
            _flush(fresh)
            fresh.replace(path)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise


def _as_bytes(data: Union[str, bytes]) -> bytes:
    """A text in UTF-8. A byte of a file's name that is not UTF-8 becomes a question mark."""
    return data.encode("utf-8", "replace") if isinstance(data, str) else data


def write_at_once(path: Path, data: Union[str, bytes]) -> None:
    """Replaces a file by these data, or leaves the old one."""
    with replacing(path) as fresh:
        fresh.write_bytes(_as_bytes(data))


def write_named(path: Path, data: Union[str, bytes]) -> None:
    """Writes a file that the user named: at once, or in place where it is a link or a device such as /dev/stdout, or where
    its folder takes no new file.
    """
    replaceable = not path.is_symlink() and (not path.exists() or path.is_file())
    if replaceable and (not path.exists() or os.access(path.parent, os.W_OK | os.X_OK)):
        write_at_once(path, data)
        return
    with naming(path):
        path.write_bytes(_as_bytes(data))
