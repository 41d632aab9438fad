"""Problems of FlashInfer-trace and SOL-ExecBench as operations, and their solutions as kernels that run isolated.

The names below are found when they are used: `import problem` needs no NumPy before.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ridgebench.problems.problem import Problem as Problem
    from ridgebench.problems.problem import open_problem as open_problem
    from ridgebench.problems.problem import open_solution as open_solution

_LAZY = ("Problem", "open_problem", "open_solution")


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'ridgebench.problems' has no attribute {name!r}")
    return getattr(import_module("ridgebench.problems.problem"), name)
