"""Reads a tensor of a safetensors file: eight bytes with the length of a header of JSON, which has type, shape and place.

Source: "Format", https://github.com/huggingface/safetensors.
"""

import math
from pathlib import Path

import numpy as np

from ridgebench.base.files import ResultsError, open_regular, parse_json
from ridgebench.base.text import quoted

_LARGEST = 2**34  # bytes of a file
_LARGEST_HEADER = 100_000_000
# Types by the name in a file; NumPy has the bits of BF16 and F8 only.
_TYPES = {"F64": np.float64, "F32": np.float32, "F16": np.float16, "BF16": np.uint16, "F8_E4M3": np.uint8, "F8_E5M2": np.uint8,
          "I64": np.int64, "I32": np.int32, "I16": np.int16, "I8": np.int8, "U8": np.uint8, "BOOL": np.bool_}


def read_tensor(path: Path, key: str) -> np.ndarray:
    """Raises ResultsError."""
    with open_regular(path, _LARGEST, "tensors") as file:
        length = int.from_bytes(file.read(8), "little")
        header = parse_json(file.read(length).decode("utf-8", "replace"), str(path)) if length <= _LARGEST_HEADER else {}
        entry = header.get(key) if isinstance(header, dict) else None
        try:
            first, end = entry["data_offsets"]
            shape, dtype = tuple(entry["shape"]), np.dtype(_TYPES[entry["dtype"]])
            if not all(isinstance(n, int) and n >= 0 for n in (first, end, *shape)) or end - first != math.prod(shape) * dtype.itemsize:
                raise ValueError
            file.seek(8 + length + first)
            return np.frombuffer(file.read(end - first), dtype).reshape(shape)
        except (KeyError, TypeError, ValueError):
            raise ResultsError(f"{path}: no tensor {quoted(key)} of a known type; allowed: {', '.join(_TYPES)}") from None
