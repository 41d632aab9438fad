"""The files of all nodes together: copies, results that are too old, repeated attempts, and what is missing."""

from collections import defaultdict
from dataclasses import replace
from datetime import timedelta
from typing import Optional

from ridgebench.base.text import one_line

from .gpu_facts import GpuFacts
from .gpu import DUPLICATE, MISSING, STALE, Gpu
from .manifest import Manifest, Node, time_of
from .places import natural

# The clocks of a node and of the machine that planned may differ by this; a fleet keeps its clocks within a second.
_CLOCK_SKEW = timedelta(seconds=60)


def _name_of(gpu: Gpu) -> str:
    return gpu.node if gpu.index is None else f"{gpu.node} GPU {gpu.index}"


def _order(gpu: Gpu) -> tuple:
    return natural(gpu.node), -1 if gpu.index is None else gpu.index


def _mark_stale(gpus: list[GpuFacts], manifest: Manifest) -> None:
    """STALE where a file is older than the manifest."""
    for one in gpus:
        try:
            oldest = min(map(time_of, one.started), default=None)
        except ValueError:
            continue  # a time that cannot be read says nothing about its age
        if oldest is not None and oldest < manifest.planned - _CLOCK_SKEW:
            reason = f"started {oldest:%Y-%m-%dT%H:%M:%SZ}, before the manifest of {manifest.planned:%Y-%m-%dT%H:%M:%SZ}"
            one.gpu = replace(one.gpu, state=STALE, reason=reason)


def _mark_copies(gpus: list[GpuFacts]) -> None:
    """DUPLICATE for every GPU whose files another one has, too.

    The one whose files name the GPU that node.json has there is not a copy; of several, the first one in order.
    """
    first: dict[tuple[str, ...], GpuFacts] = {}
    for one in sorted(gpus, key=lambda one: (not one.own, _order(one.gpu), one.gpu.attempt)):
        copied = next((key for key in one.origins if key in first), None)
        if copied is None:
            first.update(dict.fromkeys(one.origins, one))
            continue
        origin = first[copied]
        reason = f"{one.origins[copied]} is the run of {_name_of(origin.gpu)}, {origin.origins[copied]}"
        one.gpu = replace(one.gpu, state=DUPLICATE, reason=one_line(reason))


def _take(earlier: list[Gpu], gpu: Gpu) -> Optional[Gpu]:
    """Takes the same GPU out of those of the attempt before: by its UUID, and where one is unknown by its number."""
    same = next((one for one in earlier if one.uuid_hash is not None and one.uuid_hash == gpu.uuid_hash), None)
    if same is None:
        same = next((one for one in earlier if one.index == gpu.index and None in (one.uuid_hash, gpu.uuid_hash)), None)
    if same is not None:
        earlier.remove(same)
    return same


def _missing(node: Node, seen: list[Gpu], earlier: list[Gpu], attempt: int) -> list[Gpu]:
    """GPUs that the manifest expects on the node and that no file shows. Only an earlier attempt identifies such a GPU."""
    count = node.gpus - len(seen)
    if not seen:
        note = f"; it was {node.note} when the fleet was planned" if node.note else ""
        reason = f"no result of {node.node}{note}"
    else:
        reason = f"{node.node} shows {len(seen)} of {node.gpus} GPUs"
    used = {gpu.index for gpu in seen}
    free = iter([index for index in range(node.gpus) if index not in used])
    told = [replace(gpu, state=MISSING, reason=reason, attempt=attempt, readings={}, earlier=gpu) for gpu in earlier[: max(count, 0)]]
    which = "; which one is missing is unknown" if seen else ""
    rest = range(count - len(told))
    return told + [Gpu(node.node, next(free, None), None, None, MISSING, reason + which, attempt, {}, {}) for _ in rest]


def _gpus_of(node: Node, gpus: list[GpuFacts], complete: bool) -> list[Gpu]:
    """The GPUs of a node in its last attempt, each with its attempt before; `complete` adds those that are missing."""
    by_attempt: dict[int, list[Gpu]] = defaultdict(list)
    for one in gpus:
        by_attempt[one.gpu.attempt].append(one.gpu)
    gpus: list[Gpu] = []
    for attempt in sorted(by_attempt) or [0]:
        earlier = list(gpus)
        gpus = [replace(gpu, earlier=_take(earlier, gpu)) for gpu in by_attempt[attempt]]
        gpus += _missing(node, gpus, earlier, attempt) if complete else earlier
    return gpus


def together(gpus: list[GpuFacts], manifest: Optional[Manifest]) -> list[Gpu]:
    """All GPUs, sorted. Without a manifest nothing is missing and nothing is old."""
    if manifest is not None:
        _mark_stale(gpus, manifest)
    _mark_copies(gpus)
    by_node: dict[str, list[GpuFacts]] = defaultdict(list)
    for one in gpus:
        by_node[one.gpu.node].append(one)
    planned = {node.node: node for node in manifest.nodes} if manifest else {}
    gpus = []
    for name in dict.fromkeys([*planned, *by_node]):
        node = planned.get(name, Node(name, 0))
        gpus += _gpus_of(node, by_node[name], name in planned)
    return sorted(gpus, key=_order)
