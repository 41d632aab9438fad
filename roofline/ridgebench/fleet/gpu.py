"""The collected form of a fleet: one Gpu for each GPU, or host without one, with the readings of its rows.

All units are SI base units. Equal texts and equal facts of different GPUs are the same object, so that 10,000 GPUs fit
into memory.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Mapping, NamedTuple, Optional

from .bits import Bits
from .health import Health
from .manifest import Manifest

# States of a GPU by its files. `fleet report` adds the verdicts that need a comparison.
DONE = "DONE"  # both passes ended, and their files can be read
FAILED = "FAILED"  # a pass ended with an exit code of its own for failures, or a file is malformed
STARTED = "STARTED"  # a pass began and did not end: it hung, was killed, or still runs
MISSING = "MISSING"  # the manifest expects it, and no file is there
DUPLICATE = "DUPLICATE"  # its files are a copy of another GPU's
STALE = "STALE"  # its files are older than the manifest
STATES = (DONE, FAILED, STARTED, MISSING, DUPLICATE, STALE)


class Reading(NamedTuple):
    """One row of one GPU in one pass."""

    status: str  # ok, wrong, suspect, invalid, failed, skipped, or unverified for a row of another tool
    seconds: Optional[float]  # median time of a launch
    rate: Optional[float]  # in `unit`
    unit: str  # FLOP/s, or byte/s where the row has few or no FLOPs to a byte
    cycles: Optional[float]  # median cycles of a launch
    clock_hz: Optional[float]
    watts: Optional[float]
    celsius: Optional[float]
    events: tuple[str, ...]  # clock events, as NVML names them
    reason: Optional[str]  # why the status is not ok
    power_state: Optional[str] = None  # full_clock, capped or mixed; None if it was not counted
    bits: Optional[Bits] = None  # of its outputs; None if the row may have others each time
    cached: bool = False  # caches may have served the row


@dataclass(frozen=True)
class Gpu:
    """A GPU, or the place of one that the manifest expects."""

    node: str
    index: Optional[int]
    uuid_hash: Optional[str]
    model: Optional[str]
    state: str  # one of STATES
    reason: Optional[str]  # one line, for every state but DONE
    attempt: int  # 1 for the first one; 0 if nothing was submitted
    facts: Mapping[str, Any]  # keys that must agree (HARD and HARD_OF_DEVICE of compare/comparable.py), values hashable
    readings: Mapping[tuple[str, str], Reading]  # by (pass, row id without "@device")
    earlier: Optional["Gpu"] = None  # the attempt before, of a GPU that was measured once more
    versions: Mapping[str, Any] = field(default_factory=dict)  # what may differ: exact driver, VBIOS, kernel; hashable
    health: tuple[Health, ...] = ()  # what is not well beside rates
    examined: bool = False  # doctor looked at the GPU before its run
    doubted: tuple[str, ...] = ()  # ceilings whose controls moved in a pass, with their changes
    recorded: tuple[str, ...] = ()  # what environment.json of each pass says of its health (health.recorded_of)
    host: bool = False  # a host without GPU, of a tree of results folders


@dataclass(frozen=True)
class Fleet:
    """All GPUs of a folder."""

    folder: Path
    manifest: Optional[Manifest]  # None: the number of GPUs that should be there is unknown
    gpus: list[Gpu]  # sorted by node in natural order, then by index
    judged: bool = False  # doctor judged what the runs recorded of the GPUs' health
