"""Finds the GPU that computes other bits than its peers, and its multiprocessor: a vote over the fingerprints of the rows.

GPUs of one model that run one program with the same inputs leave the same bits in each row whose technique adds in one
order. The product of each multiprocessor (`run --fingerprint`) has one result for each of them, and all are equal.
"""

from collections import Counter
from typing import Any, Callable, Iterable, Mapping, NamedTuple, Optional, Sequence

from ridgebench.base.units import and_more, counted
from ridgebench.judge.comparable import HARD, VARIABLES
from ridgebench.judge.past.known_bits import majority

# The properties that GPUs of one model must share for their bits to be equal. Power, clocks and ECC change no bits.
PROGRAM = ("version", "commit")
INPUTS = ("driver", "cuda", "cublas", "isa", "threads", VARIABLES, *HARD)
_MOST_UNITS = 8  # that a text lists


class Bits(NamedTuple):
    """The bits of a row on one GPU."""

    fingerprint: str
    choice: Optional[str]  # of the technique: another tile adds in another order
    unit: Optional[str] = None  # fingerprint of most multiprocessors; None for a row that does not tell them apart
    odd_units: tuple[tuple[int, str], ...] = ()  # number and fingerprint of the others
    units: int = 0  # multiprocessors


class _Odd(NamedTuple):
    """A GPU whose bits are not those of the majority. wrong: the vote has a majority that differs."""

    gpu: int
    wrong: bool
    text: str
    silent: bool = False  # its multiprocessors are outvoted, so that the GPU has no vote on others


def bits_of(record: Mapping[str, Any]) -> Optional[Bits]:
    """The bits of a record; None without a fingerprint. Raises ValueError and TypeError for malformed ones."""
    fingerprint = _fingerprint(record.get("fingerprint"))
    if fingerprint is None or record["status"] not in ("ok", "wrong"):
        return None
    choice = record.get("choice")
    units = (record["telemetry"] or {}).get("unit_fingerprints")
    if not units:
        return Bits(fingerprint, None if choice is None else str(choice))
    known = [str(_fingerprint(unit)) for unit in units]
    most = Counter(known).most_common(1)[0][0]
    return Bits(fingerprint, None if choice is None else str(choice), most,
                tuple((number, unit) for number, unit in enumerate(known) if unit != most), len(known))  # fmt: skip


def _fingerprint(value: Any) -> Optional[str]:
    if value is None:
        return None
    if not (isinstance(value, str) and len(value) == 16 and set(value) <= set("0123456789abcdef")):
        raise ValueError(f"fingerprint is {value!r}; allowed: null or 16 hexadecimal digits")
    return value


def _units_text(units: Sequence[int]) -> str:
    shown = ", ".join(map(str, units[:_MOST_UNITS]))
    return f"SM {shown}{and_more(len(units) - _MOST_UNITS)}"


def _outvotes_its_own(bits: Bits) -> bool:
    """True if most multiprocessors of the GPU, of three at least, have bits that others of it lack."""
    return bool(bits.odd_units) and bits.units > 2 and 2 * len(bits.odd_units) < bits.units


def _vote_on_units(row: str, of_row: Mapping[int, Bits]) -> Iterable[_Odd]:
    """The multiprocessors of all GPUs vote together, because their inputs are the same; then those of each GPU."""
    votes: Counter = Counter()
    by_unit = {index: bits for index, bits in of_row.items() if bits.unit is not None}
    for bits in by_unit.values():
        votes[bits.unit] += bits.units - len(bits.odd_units)
        votes.update(unit for _, unit in bits.odd_units)
    right = majority(votes) if votes else None
    for index, bits in by_unit.items():
        if right is not None and bits.unit != right:
            yield _Odd(index, True, f"most SMs compute other bits than those of the other GPUs in {row}", True)
        elif bits.odd_units if right is not None else _outvotes_its_own(bits):
            yield _Odd(index, True, f"{_units_text([number for number, _ in bits.odd_units])} computes other bits in {row}", True)


def _vote_on_gpus(row: str, of_row: Mapping[int, Bits], name_of: Callable[[int], str], silent: frozenset[int]) -> Iterable[_Odd]:
    voters = [index for index in of_row if index not in silent]
    votes = Counter(of_row[index].fingerprint for index in voters)
    right = majority(votes) if votes else None
    for index, bits in of_row.items():
        if right is not None:
            if bits.fingerprint != right:
                yield _Odd(index, True, f"other bits than {votes[right]} of {counted(len(voters), 'GPU')} in {row}")
        elif len(votes) < 2 or index in silent:
            continue
        elif len(voters) == 2:
            other = next(name_of(one) for one in voters if one != index)
            yield _Odd(index, False, f"other bits than {other} in {row}: two GPUs cannot vote")
        else:
            yield _Odd(index, False, f"{counted(len(voters), 'GPU')} have different bits in {row}, and no bits have a majority")


def vote(rows: Mapping[str, Mapping[int, Bits]], name_of: Callable[[int], str]) -> list[_Odd]:
    """One finding for each GPU whose bits differ. rows: the bits by row and number of the GPU, of comparable GPUs.

    name_of: the name of a GPU in a text.
    """
    comparable = [(row, {index: bits for index, bits in all_bits.items() if bits.choice == choice})
                  for row, all_bits in sorted(rows.items()) for choice in sorted({bits.choice for bits in all_bits.values()}, key=str)]  # fmt: skip
    by_units = [list(_vote_on_units(row, of_row)) for row, of_row in comparable]
    silent = frozenset(one.gpu for odd in by_units for one in odd)
    found: dict[int, list[_Odd]] = {}
    for (row, of_row), odd in zip(comparable, by_units):
        known = {one.gpu for one in odd}
        odd += [one for one in _vote_on_gpus(row, of_row, name_of, silent) if one.gpu not in known]
        for one in odd:
            found.setdefault(one.gpu, []).append(one)
    return [_first_of(all_odd) for _, all_odd in sorted(found.items())]


def _first_of(odd: list[_Odd]) -> _Odd:
    """The gravest finding of a GPU, one with a multiprocessor if there is any, and the number of the others."""
    order = sorted(odd, key=lambda one: (not one.wrong, "SM" not in one.text))
    return order[0]._replace(text=order[0].text + and_more(len(odd) - 1, "in "))
