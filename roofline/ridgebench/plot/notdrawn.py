"""What a figure does not show, and why: no row disappears silently."""

from dataclasses import dataclass

from ridgebench.records import Row
from ridgebench.view import ORDER, View, ordered

GRAVITY = ("wrong", "invalid", "failed", "skipped")


@dataclass(frozen=True)
class Group:
    """Rows that are not drawn for one reason."""

    head: str  # "skipped 8"
    reason: str
    names: str  # "matmul/onednn fp16, tf32; ..."


def row_names(rows: list[Row]) -> str:
    """op/technique once, with all its formats."""
    formats: dict[str, set[str]] = {}
    for row in rows:
        formats.setdefault(f"{row.op}/{row.technique}", set()).add(row.format)
    return "; ".join(f"{name} {', '.join(ordered(f, ORDER))}" for name, f in formats.items())


def row_groups(rows: list[Row]) -> list[Group]:
    """Gravest status first, then the most frequent reason."""
    causes: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        causes.setdefault((row.status, row.reason or "no reason recorded"), []).append(row)

    def rank(item: tuple[tuple[str, str], list[Row]]) -> tuple:
        (status, reason), members = item
        return (GRAVITY.index(status), -len(members), reason)

    return [
        Group(f"{status} {len(members)}", reason, row_names(members))
        for (status, reason), members in sorted(causes.items(), key=rank)
    ]


def groups(view: View) -> list[Group]:
    """Everything that a figure leaves out."""
    found = row_groups(view.not_ok)
    others = [row for row in view.selected if row.drawable and row.regime != "steady"]
    if others:
        reason = "verified, but only the steady regime is drawn"
        found.append(Group(f"cold, warm {len(others)}", reason, row_names(others)))
    if view.torn:
        found.append(Group("cut off 1", "unfinished last line", "records.jsonl"))
    return found


def family(name: str) -> str:
    """fp8 for all formats of 8 bits and their pairs, which are computed alike."""
    return "fp8" if name.startswith("fp8") else name


def storage_note(view: View) -> str:
    """Which formats are only stored so, and what they are computed in."""
    used: dict[str, set[str]] = {}
    for row in view.points:
        native = row.arithmetic == row.format
        used.setdefault(family(row.format), set()).add("" if native else row.arithmetic)
    stored: dict[str, list[str]] = {}
    for name in dict.fromkeys(family(name) for name in view.formats):
        for arithmetic in ordered(used[name] - {""}, ORDER):
            stored.setdefault(arithmetic, []).append(name + "*" * (len(used[name]) > 1))
    parts = [f"{', '.join(names)} computed in {wide}" for wide, names in stored.items()]
    text = "Storage formats: " + "; ".join(parts) if parts else ""
    return text + " (* some rows)" * ("*" in text)
