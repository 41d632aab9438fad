"""The finding on the machine code of a row."""

from dataclasses import dataclass

SAME, CHANGED, UNKNOWN = "same code", "changed", "unknown"


@dataclass(frozen=True)
class Finding:
    """The state and, unless it is SAME, its reason. A row that is changed or unknown is measured."""

    state: str
    reason: str = ""

    @property
    def text(self) -> str:
        return f"{self.state}: {self.reason}" if self.reason else self.state
