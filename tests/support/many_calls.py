"""Answers many command lines in one process."""

import json
import os
import subprocess

from command_line import environment


def answers(calls: list[list[str]], **variables: str) -> list[tuple[int, str]]:
    """The exit code and the text of each call, with these environment variables."""
    text = "".join(json.dumps(words) + "\n" for words in calls)
    done = subprocess.run(
        [os.environ["RIDGEBENCH_CALLS"]], input=text, capture_output=True, check=True, encoding="utf-8",
        env=environment(**variables),
    )  # fmt: skip
    found, printed = [], []
    for line in done.stdout.split("\n"):
        if line.startswith("\x1e"):
            found.append((int(line[1:]), "\n".join(printed)))
            printed = []
        else:
            printed.append(line)
    assert len(found) == len(calls)
    return found
