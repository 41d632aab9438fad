"""Compares the fingerprint of a row with the fingerprints that a baseline has of machines with the same program and inputs."""

from collections import Counter
from typing import Any, Iterable, Mapping, NamedTuple, Optional

from ridgebench.base.units import counted
from ridgebench.data.records import Row

_FEWEST_VOTES = 3  # two that differ cannot vote


class KnownBits(NamedTuple):
    """The fingerprint of a row, and what must be equal for two of them to be compared."""

    fingerprint: str
    choice: Optional[str]  # of the technique: another tile adds in another order
    program: str  # version and commit


class Differing(NamedTuple):
    """Other bits than the baseline has. wrong: most machines have others, or the machine itself had others before."""

    wrong: bool
    text: str


def program_of(versions: Mapping[str, Any]) -> str:
    return f"{versions.get('version')} {versions.get('commit')}"


def bits_of(row: Optional[Row], environment: Mapping[str, Any]) -> Optional[KnownBits]:
    """The bits of a row that is ok; None of a row without a fingerprint."""
    if row is None or row.status != "ok" or row.fingerprint is None:
        return None
    return KnownBits(row.fingerprint, row.choice, program_of(environment))


def majority(votes: Counter) -> Optional[str]:
    """The fingerprint of more than half of the votes, of three at least."""
    total = sum(votes.values())
    first, count = votes.most_common(1)[0]
    return first if total >= _FEWEST_VOTES and 2 * count > total else None


def differing(known: Iterable[tuple[Optional[str], Optional[KnownBits]]], machine: str, own: Optional[KnownBits]) -> Optional[Differing]:
    """The difference between a machine's bits and the baseline; None if they agree, or if no machine ran the same program.

    known: the machines of a row's entries with their bits, the oldest first.
    """
    if own is None:
        return None
    of_machines = {name: bits.fingerprint for name, bits in known if bits is not None and bits[1:] == own[1:]}
    before = of_machines.pop(machine, own.fingerprint)
    if before != own.fingerprint:
        return Differing(True, "other bits than the same machine had in the baseline")
    votes = Counter([*of_machines.values(), own.fingerprint])
    right = own.fingerprint if len(votes) == 1 else majority(votes)
    if right == own.fingerprint:
        return None
    if right is not None:
        return Differing(True, f"other bits than {votes[right]} of {counted(len(of_machines), 'machine')} of the baseline")
    if len(of_machines) == 1:
        return Differing(False, "other bits than the only machine of the baseline: two machines cannot vote")
    return Differing(False, f"other bits than machines of the baseline, of whose {counted(len(votes), 'fingerprint')} none has a majority")
