"""Prints an Apptainer definition as a Containerfile, so that buildah runs its commands: %post and %test unchanged."""

import json
import re
import sys
from pathlib import Path

BASES = {"build": "BUILD", "final": "RUNTIME"}  # a stage's base image becomes an argument, as in packaging/Containerfile


def sections(stage: str) -> list[tuple[str, str, str]]:
    """(name, the rest of its line, body) of each section of a stage; the first is the header."""
    header, *rest = re.split(r"^%", stage, flags=re.MULTILINE)
    parts = [one.partition("\n") for one in rest]
    return [("header", "", header), *((*f"{line} ".split(" ", 1), body) for line, _, body in parts)]


def instructions(name: str, words: str, body: str) -> list[str]:
    lines = [line.strip() for line in body.splitlines() if line.strip() and not line.strip().startswith("#")]
    if name == "files":
        origin = [f"--from={words.split()[1]}"] if words.strip() else []
        return [f"COPY {json.dumps([source, target])}" if not origin else f"COPY {origin[0]} {source} {target}{Path(source).name}"
                for source, target in map(str.split, lines)]
    if name in ("post", "test"):
        return [f"RUN {json.dumps(['/bin/sh', '-ec', body])}"]
    if name == "environment":
        return [f"ENV {line.removeprefix('export ')}" for line in lines]
    if name == "runscript":
        return ['ENTRYPOINT ["ridgebench"]']
    raise SystemExit(f"%{name} has no translation")


def main(path: str) -> None:
    stages = re.split(r"^Bootstrap: docker$", Path(path).read_text("utf-8"), flags=re.MULTILINE)[1:]
    print("ARG BUILD\nARG RUNTIME")
    for stage in stages:
        (_, _, header), *rest = sections(stage)
        name = re.search(r"^Stage: (\w+)$", header, flags=re.MULTILINE)[1]
        print(f"FROM ${BASES[name]} AS {name}")
        # Apptainer runs %test last, in the finished image's environment.
        for section in sorted(rest, key=lambda one: one[0] == "test"):
            print("\n".join(instructions(*section)))


main(sys.argv[1])
