"""Results folders of a tree without node.json: each device in one is a GPU's reading, and the path names the pass."""

from collections import defaultdict
from dataclasses import replace
from typing import Optional

from ridgebench.data.records import BROKEN

from .gpu_facts import GpuFacts, health_of_parts, origins_of, worst
from .gpu import DONE, FAILED, STARTED, Gpu
from .node_folder import PASSES, Setting, all_alike
from .places import Place, natural
from .results_folder import MALFORMED, Results, read_results, reason_of

_HOST = "cpu"  # the name of the host as a device


def _state_of(results: Results) -> tuple[str, Optional[str]]:
    if results.unfinished:
        return STARTED, results.unfinished
    if results.torn or not results.readings:
        return FAILED, "records.jsonl: the last record was cut off" if results.torn else "records.jsonl: holds no record"
    broken = next((name for name, one in results.readings.items() if one.status in BROKEN), None)
    return (FAILED, f"{broken}: {results.readings[broken].status}") if broken else (DONE, None)


def index_of(device: str) -> Optional[int]:
    """The number in the name of a device: 3 of cuda:3."""
    number = device.rpartition(":")[2]
    return int(number) if number.isascii() and number.isdecimal() and len(number) < 6 else None


def read_results_tree(place: Place, setting: Setting) -> list[GpuFacts]:
    """The GPUs of one results folder, each with one pass. A malformed folder is one GPU that is FAILED."""
    pass_name = "loaded" if "loaded" in place.folder.parts[-3:] else "isolated"
    try:
        devices = read_results(place.folder)
    except MALFORMED as error:
        failed = all_alike(place, setting, place.node or "node", FAILED, reason_of(error, place.folder.parent), None)
        return [replace(one, identity=str(place.folder), pass_name=pass_name) for one in failed]
    gpus = []
    for results in devices:
        state, reason = _state_of(results)
        readings = {(pass_name, row): reading for row, reading in results.readings.items()}
        node = place.node or results.hostname_hash or "node"
        gpu = Gpu(node, index_of(results.device), results.uuid_hash, results.model, state, reason, place.attempt,
                  results.facts, readings, versions=results.versions, health=results.health, doubted=results.doubted,
                  recorded=results.recorded,
                  host=results.device == _HOST)  # fmt: skip
        gpus.append(GpuFacts(gpu, origins_of(results, pass_name, place.folder.name), [results.started],
                             identity=_identity_of(place, results), pass_name=pass_name))  # fmt: skip
    return gpus


def _identity_of(place: Place, results: Results) -> str:
    """The identity of a GPU or a host, which its runs share.

    The path without the name of the pass identifies a GPU that has no UUID. The name of a folder that lies directly in
    the tree may be that of a run and not of a node, and is not a part of the identity.
    """
    own = results.uuid_hash or (results.hostname_hash if results.device == _HOST else None)
    if own is None:
        return "/".join([*(part for part in place.folder.parts if part not in PASSES), results.device])
    return own if place.folder.name == place.node else f"{place.node}/{own}"


def merged(loose: list[GpuFacts]) -> list[GpuFacts]:
    """The passes of one GPU as one, and its n-th run of a pass as attempt n. Copies stay apart."""
    by_gpu: dict[str, dict[str, list[GpuFacts]]] = defaultdict(lambda: defaultdict(list))
    nodes: dict[str, str] = {}
    for one in sorted(loose, key=lambda one: natural(one.gpu.node)):
        node = nodes.setdefault(one.identity, one.gpu.node)
        by_gpu[one.identity][one.pass_name].append(replace(one, gpu=replace(one.gpu, node=node)))
    gpus = []
    for passes in by_gpu.values():
        for runs in passes.values():
            runs.sort(key=lambda one: one.started)
        for turn in range(max(map(len, passes.values()))):
            gpus.append(_joined([runs[turn] for runs in passes.values() if turn < len(runs)], turn + 1))
    return _with_indices(gpus)


def _joined(parts: list[GpuFacts], attempt: int) -> GpuFacts:
    state, reason = worst([(part.gpu.state, part.gpu.reason) for part in parts])
    readings = {key: reading for part in parts for key, reading in part.gpu.readings.items()}
    health = health_of_parts(part.gpu for part in parts)
    gpu = replace(parts[0].gpu, state=state, reason=reason, readings=readings, attempt=attempt, **health)
    origins = {key: where for part in parts for key, where in part.origins.items()}
    return replace(parts[0], gpu=gpu, origins=origins, started=[time for part in parts for time in part.started])


def _with_indices(gpus: list[GpuFacts]) -> list[GpuFacts]:
    """Numbers the GPUs of a node anew where two have the same number: each process may have seen one GPU alone."""
    by_node: dict[str, dict[str, Optional[int]]] = defaultdict(dict)
    for one in sorted(gpus, key=lambda one: natural(one.identity)):
        by_node[one.gpu.node].setdefault(one.identity, one.gpu.index)
    for numbers in by_node.values():
        if len(set(numbers.values())) < len(numbers):
            numbers.update(zip(numbers, range(len(numbers))))
    return [replace(one, gpu=replace(one.gpu, index=by_node[one.gpu.node][one.identity])) for one in gpus]
