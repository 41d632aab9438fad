"""Looks for files that break a reader in Python, with atheris (libFuzzer for Python): readers.py KIND [LIBFUZZER OPTIONS]

The kinds are the formats of `ridgebench import` and the files of FILES. Each file is read, or refused with one line
and a documented exit code. run.sh starts it with its limits and corpora; atheris writes the file that breaks a reader.
"""

import contextlib
import io
import os
import random
import shutil
import sys
import tempfile
import warnings
import zlib
from pathlib import Path

if __name__ == "__main__":
    import atheris

    watched = atheris.instrument_imports(include=["ridgebench"])
else:
    watched = contextlib.nullcontext()
with watched:
    import imports
    from ridgebench import __main__ as program
    from ridgebench.judge import compare_cli as _compare  # noqa: F401
    from ridgebench.judge.limits import ResultsError, read_limits
    from ridgebench.exchange.export import cli as _export  # noqa: F401
    from ridgebench.exchange.importers import cli as _importers  # noqa: F401
    from ridgebench.data.duels import load_duels
    from ridgebench.data.judged import Judgement, judged
    from ridgebench.data.records import load_run
    from ridgebench.fleet import summary as _collect  # noqa: F401

GOLDEN = imports.ROOT / "tests" / "data" / "golden_results"
# Kind: the words of the command. {} is the damaged file, or a folder with it in place of the golden results' own file.
FILES = {
    "environment_py": ["export", "{}", "--csv"],
    "records_py": ["export", "{}", "--csv"],
    "compared": ["compare", str(GOLDEN), "{}"],
    "tolerances": ["read_limits", "{}"],  # no command: all that have --tolerances measure
    "configs_py": ["export", str(GOLDEN), "--config", "{}"],
    "judged": ["judged", "{}"],  # no command, because commands that read it draw
    "duels_py": ["load_duels", "{}"],  # no command but `tables`, which reads what is published
    "node_py": ["fleet", "collect", "{}"],
}
JUDGED_ROWS = 3  # of the golden results: their judgement is a file that libFuzzer can change
DAMAGED = {"environment_py": "environment.json", "records_py": "records.jsonl", "compared": "records.jsonl", "judged": "judged.json",
           "duels_py": "duels.jsonl", "node_py": "node.json"}  # fmt: skip
OF_PASS = Path("isolated", "cpu")  # the folder of the pass that the seeds of node_py have
CORPUS = imports.ROOT / "tests" / "fuzz" / "corpus"
# Kind: folders and files that changes start from; those of an import are in imports.SEEDS.
SEEDS = {
    "environment_py": [CORPUS / "environment"],
    "records_py": [CORPUS / "records"],
    "compared": [CORPUS / "records"],
    "tolerances": [CORPUS / "tolerances"],
    "configs_py": [CORPUS / "configs"],
    "judged": [CORPUS / "judged"],
    "duels_py": [CORPUS / "duels"],
    "node_py": [CORPUS / "nodes"],
}
DOCUMENTED = range(0, 7)  # exit codes; 7 is of devices, 8 of internal errors


def words_for(kind: str, data: bytes, folder: Path) -> list[str]:
    """The command that reads the file, which is written into the folder."""
    path = folder / "file"
    if kind in DAMAGED:
        path = folder / "results"
        shutil.copytree(GOLDEN, path / OF_PASS if kind == "node_py" else path, dirs_exist_ok=True)
        if kind == "judged":
            rows = (path / "records.jsonl").read_text("utf-8").splitlines(keepends=True)
            (path / "records.jsonl").write_text("".join(rows[:JUDGED_ROWS]), "utf-8")
        (path / DAMAGED[kind]).write_bytes(data + b"\n")  # the reader drops a last line that was cut off
    else:
        path.write_bytes(data)
    if kind in imports.SEEDS:
        return imports.command(kind, path, folder / "out", random.Random(zlib.crc32(data)))
    return [str(path) if word == "{}" else word for word in FILES[kind]]


def judgement(folder: str) -> Judgement | None:
    """The judgement in judged.json; None if the reader does not accept the file, and the program has to judge."""
    with contextlib.suppress(ResultsError), imports.limit_of_time():
        return judged(load_run(Path(folder))).judgement
    return None


def duels(folder: str) -> int:
    """The number of duels in duels.jsonl; 0 if the reader refuses the file."""
    with contextlib.suppress(ResultsError), imports.limit_of_time():
        return len(load_duels(Path(folder)).duels)
    return 0


def fault(words: list[str]) -> str:
    """What is wrong with how a command ended; empty if nothing is."""
    if words[0] == "read_limits":
        with contextlib.suppress(ResultsError), imports.limit_of_time():
            read_limits(Path(words[1]))
        return ""
    if words[0] == "judged":
        judgement(words[1])
        return ""
    if words[0] == "load_duels":
        duels(words[1])
        return ""
    shown, errors = io.StringIO(), io.StringIO()
    with imports.limit_of_time(), contextlib.redirect_stdout(shown), contextlib.redirect_stderr(errors):
        code = program.run(words[0], words[1:])
    lines = errors.getvalue().splitlines()
    if code not in DOCUMENTED:
        return f"exit code {code}: {errors.getvalue()}"
    if code == 2 and len([line for line in lines if not line.startswith("usage:")]) != 1:
        return f"not one line: {lines}"
    return "" if all(line.isprintable() for line in lines) else f"raw characters: {lines}"


def corpus(kind: str) -> list[Path]:
    """The files that changes start from."""
    begin = SEEDS.get(kind) or [imports.FILES / name for name in imports.SEEDS[kind][0]]
    places = [*begin, CORPUS / kind]
    return sorted({file for place in places for file in (place.iterdir() if place.is_dir() else [place]) if file.exists()})


def copies(kind: str) -> str:
    """A folder with the corpus, as libFuzzer wants it."""
    folder = imports.ROOT / "build" / "fuzzed" / "seeds" / kind
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for file in corpus(kind):
        shutil.copyfile(file, folder / file.name)
    return str(folder)


def try_file(kind: str, data: bytes) -> str:
    """What is wrong with how the kind's command takes this file; empty if nothing is."""
    with tempfile.TemporaryDirectory(prefix="ridgebench-fuzz-") as name:
        folder = Path(name)
        os.chdir(folder)  # a file of options may name another file to write
        words = words_for(kind, data, folder)
        wrong = imports.outcome(words, folder / "out") if kind in imports.SEEDS else fault(words)
        os.chdir(imports.ROOT)
    return wrong


def search(kind: str, options: list[str]) -> None:
    """Runs until a file breaks the reader, or as long as libFuzzer's options say."""
    def one(data: bytes) -> None:
        wrong = try_file(kind, data)
        if wrong:
            raise AssertionError(wrong)

    warnings.simplefilter("ignore")  # as ridgebench.base.streams does for every command
    imports.replace_program()
    folders = [] if any(Path(option).is_file() for option in options) else [copies(kind)]
    one(corpus(kind)[0].read_bytes())  # compiles the schemas
    atheris.Setup([sys.argv[0], *options, *folders], one)
    atheris.Fuzz()


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in {**imports.SEEDS, **FILES}:
        print(f"readers.py: allowed: {', '.join({**imports.SEEDS, **FILES})}", file=sys.stderr)
        sys.exit(2)
    search(sys.argv[1], sys.argv[2:])
