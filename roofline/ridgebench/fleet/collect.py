"""Reads a whole fleet into its collected form. A malformed file is the failure of its GPU and never ends the collection."""

import os
from dataclasses import replace
from datetime import datetime, timezone
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Callable, Mapping, Optional

from ridgebench.base.command_line import CommandError
from ridgebench.base.files import ResultsError
from ridgebench.base.workers import in_parallel

from . import manifest as manifests
from .attempts import together
from .gpu_facts import GpuFacts
from .gpu import Fleet, Gpu
from .health import judge_recorded
from .results_tree import merged, read_results_tree
from .node_folder import Setting, read_node
from .places import OF_RESULTS, Place, planned_places, walked_places

FEWEST_FOR_A_POOL = 64  # folders; to start processes takes as long as to read some
_TOGETHER = 8  # places of a task


def _read_place(place: Place, expected: Mapping[str, int], now: datetime) -> list[GpuFacts]:
    setting = Setting(expected.get(place.node or ""), now)
    return read_node(place, setting) if place.has_node else read_results_tree(place, setting)


def _read_all(places: list[Place], read: Callable[[Place], list[GpuFacts]]) -> list[list[GpuFacts]]:
    """Reads each place; many places are read by a process for each processor."""
    processors = len(os.sched_getaffinity(0))
    if processors == 1 or len(places) < FEWEST_FOR_A_POOL:
        return [read(place) for place in places]
    parts = [places[first : first + _TOGETHER] for first in range(0, len(places), _TOGETHER)]
    return list(chain.from_iterable(in_parallel(lambda part: [read(place) for place in part], parts)))


def _sharer() -> Callable[[Gpu], Gpu]:
    """A function that replaces what equals an object of an earlier GPU by that object; processes copy everything."""
    known: dict[Any, Any] = {}
    known_facts: dict[tuple, Mapping[str, Any]] = {}

    def same(value: Any) -> Any:
        return known.setdefault(value, value)

    def same_facts(facts: Mapping[str, Any]) -> Mapping[str, Any]:
        return known_facts.setdefault(tuple(facts.items()), facts)

    def share(gpu: Gpu) -> Gpu:
        readings = {
            same(key): one._replace(status=same(one.status), unit=same(one.unit), events=same(one.events))
            for key, one in gpu.readings.items()
        }
        return replace(gpu, model=same(gpu.model), facts=same_facts(gpu.facts), versions=same_facts(gpu.versions),
                       readings=readings)  # fmt: skip

    return share


def collect(folder: Path, now: Optional[datetime] = None, rules: Optional[Path] = None, may_be_empty: bool = False) -> Fleet:
    """The fleet of a folder that `fleet plan` made, or of any tree with results; `now` is in UTC. rules: a file (rules.py).

    Raises ResultsError for a malformed manifest, CommandError where there is nothing to collect and `may_be_empty` is false.
    """
    if not folder.is_dir():
        raise CommandError(f"{folder}: {'is not a folder' if folder.exists() else 'not found'}; allowed: the folder of a fleet")
    if (folder / OF_RESULTS).is_file():
        raise CommandError(f"{folder}: is the results folder of one run; allowed: the folder of a fleet, or a tree with results folders "
                           "(`ridgebench report` shows one run)")  # fmt: skip
    now = now or datetime.now(timezone.utc)
    manifest = manifests.load(folder)
    places = planned_places(folder) if manifest else walked_places(folder, may_be_empty)
    expected = {node.node: node.gpus for node in manifest.nodes} if manifest else {}
    read = _read_all(places, partial(_read_place, expected=expected, now=now))
    share = _sharer()
    gpus, loose = [], []
    for place, each in zip(places, read):
        for one in each:
            one.gpu = share(one.gpu)
        (gpus if place.has_node else loose).extend(each)
    judged = _add_recorded(gpus + loose, rules)
    return Fleet(folder, manifest, together(gpus + (merged(loose) if loose else []), manifest), judged)


def _add_recorded(gpus: list[GpuFacts], rules: Optional[Path]) -> bool:
    """Adds what doctor says of the recorded health; False without a program that has doctor, which rules need. Raises ResultsError."""
    try:
        health = judge_recorded((text for one in gpus for text in one.gpu.recorded), rules)
    except ResultsError:
        if rules:
            raise
        return False
    for one in gpus:
        every = dict.fromkeys(one.gpu.health)
        every |= dict.fromkeys(each for text in one.gpu.recorded for each in health.get(text, ()))
        one.gpu = replace(one.gpu, health=tuple(every))
    return True
