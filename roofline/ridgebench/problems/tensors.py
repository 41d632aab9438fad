"""Arrays of NumPy as tensors of a problem, of torch or of NumPy, in the type that the definition says."""

from typing import Any, Callable, Sequence

import numpy as np

from ridgebench.problems.definition import Tensor

_NUMBERS: dict[str, Callable[[float], Any]] = {"bool": bool, "float16": float, "float32": float, "float64": float, "bfloat16": float}


def number(tensor: Tensor, value: float) -> Any:
    """A scalar input as Python's bool, int or float."""
    return _NUMBERS.get(tensor.dtype, int)(value)


def in_double(array: np.ndarray, tensor: Tensor, torch: bool) -> Any:
    """An input of the reference: numbers in float64, indices and truth values in their own types."""
    exact = tensor.dtype in ("int32", "int8", "bool")
    typed = array.astype(tensor.dtype) if exact else array
    return _torch().from_numpy(typed.copy()) if torch else typed


def in_own_type(found: Any, tensor: Tensor, torch: bool) -> Any:
    """An array or a tensor in the type of the definition. Unsigned integers are the bits of a type that NumPy lacks."""
    if not torch:
        return np.asarray(found, tensor.dtype)
    library = _torch()
    dtype = getattr(library, tensor.dtype)
    if isinstance(found, np.ndarray) and found.dtype == np.uint16:
        return library.from_numpy(found.view(np.int16).copy()).view(dtype)
    if isinstance(found, np.ndarray) and found.dtype == np.uint8 and dtype != library.uint8:
        return library.from_numpy(found.copy()).view(dtype)
    return library.as_tensor(found.copy() if isinstance(found, np.ndarray) else found).to(dtype)


def as_numpy(found: Any) -> np.ndarray:
    """A result of the reference."""
    if type(found).__module__.split(".")[0] != "torch":
        return np.asarray(found)
    found = found.detach()
    return (found.double() if found.is_floating_point() else found).numpy()


def results_of(found: Any, outputs: Sequence[Tensor]) -> list[Any]:
    """The results of a function, one for each output: a tensor, a tuple of them, or a dictionary by name."""
    names = [output.name for output in outputs]
    if isinstance(found, dict) and set(names) <= set(found):
        return [found[name] for name in names]
    if isinstance(found, (tuple, list)) and len(found) == len(outputs):
        return list(found)
    if len(outputs) == 1 and found is not None and not isinstance(found, (tuple, list, dict)):
        return [found]
    raise TypeError(f"it returned {type(found).__name__}; allowed: {', '.join(names)}")


def _torch() -> Any:
    import torch

    return torch
