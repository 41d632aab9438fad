"""attempt-N.job.json: what the script of a node's job writes first and last. Its presence shows that a job began."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Optional

from ridgebench.base.files import malformed, parse_json, read
from ridgebench.base.text import one_line

from ..manifest import time_of
from ..places import JOB_END

SCHEMA = "ridgebench.fleet_job/1"


@dataclass(frozen=True)
class Job:
    """`ended` and `exit` are None until the command has ended."""

    node: str
    job: Optional[str]  # the scheduler's number
    started: datetime
    ended: Optional[datetime]
    exit: Optional[int]


def load(folder: Path) -> Optional[Job]:
    """The job of an attempt's folder, None if none began. Raises ResultsError."""
    path = folder.with_name(folder.name + JOB_END)
    if not path.exists():
        return None
    value = parse_json(read(path, "a job's record"), str(path))
    try:
        if value["schema"] != SCHEMA:
            raise ValueError(f"schema is {value['schema']!r}; allowed: {SCHEMA}")
        ended, code = value["ended"], value["exit"]
        if code is not None and type(code) is not int:
            raise ValueError(f"exit is {code!r}")
        number = None if value["job"] is None else one_line(str(value["job"]))[:60]
        return Job(str(value["node"]), number, time_of(value["started"]), None if ended is None else time_of(ended), code)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise malformed(path, error, "no job's record") from None
