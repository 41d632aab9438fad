"""One folder's facts about one GPU, before copies, age and attempts are judged."""

from dataclasses import dataclass
from typing import Any, Iterable, Optional, Union

from .gpu import DONE, FAILED, STARTED, Gpu
from .health import Health
from .results_folder import Results

# The worse one of two passes counts.
_WORSE = {DONE: 0, STARTED: 1, FAILED: 2}


@dataclass
class GpuFacts:
    """A Gpu with the values that distinguish copies."""

    gpu: Gpu
    origins: dict[tuple[str, ...], str]  # what no other GPU's file has: a run, or a GPU with its time; the folder's name
    started: list[str]  # RFC 3339
    own: bool = True  # the files name the GPU that node.json has in this place
    identity: str = ""  # of a results folder without a node: distinguishes the GPUs of a node
    pass_name: str = ""


def origins_of(results: Results, pass_name: str, where: str) -> dict[tuple[str, ...], str]:
    """The number of a run identifies it. GPU and time of start identify a run whose number somebody changed."""
    keys = {("run", results.run_id): where}
    if results.uuid_hash is not None:
        keys[(pass_name, results.uuid_hash, results.started)] = where
    return keys


def worst(states: list[tuple[str, Optional[str]]]) -> tuple[str, Optional[str]]:
    """The worst state with its reason; the first one of equals."""
    return max(states, key=lambda state: _WORSE[state[0]])


def health_of_parts(parts: Iterable[Union[Results, Gpu]], doctors: tuple[Health, ...] = ()) -> dict[str, Any]:
    """The keys of a Gpu that are about its health: doctor's findings before the run, and what its parts say, each once."""
    parts = list(parts)
    texts = {key: [one for part in parts for one in getattr(part, key)] for key in ("health", "doubted", "recorded")}
    texts["health"] = [*doctors, *texts["health"]]
    return {key: tuple(dict.fromkeys(each)) for key, each in texts.items()}
