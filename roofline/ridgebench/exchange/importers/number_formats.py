"""Names of number formats, as ridgebench and as other tools write them."""

import re
from functools import cache
from typing import Optional

from ridgebench.data.records import schema_of

_ALIASES = {"f32": "fp32", "float": "fp32", "f16": "fp16", "half": "fp16", "f64": "fp64", "double": "fp64", "s8": "int8",
            "i8": "int8", "fp8": "fp8_e4m3", "e4m3": "fp8_e4m3", "fe4m3": "fp8_e4m3", "e5m2": "fp8_e5m2", "fe5m2": "fp8_e5m2",
            "f8e4m3": "fp8_e4m3", "f8e5m2": "fp8_e5m2", "float8_e4m3fn": "fp8_e4m3", "float8_e5m2": "fp8_e5m2", "bfloat16": "bf16",
            "float16": "fp16", "float32": "fp32", "float64": "fp64", "signed char": "int8"}
_PREFIX = re.compile(r"([a-z]\w*\.)*_*(nv_)?")  # torch.bfloat16, np.float16, __half, __nv_bfloat16
# Words of a name that mean a format anywhere in it, and C++ types between the brackets of a template or of parameters.
_STATED = {"fp64", "fp32", "tf32", "fp16", "bf16", "bfloat16", "f64", "f32", "f16", "e4m3", "e5m2", "float64", "float32", "float16"}
_TYPE = re.compile(r"(?<=[<(,])\s*(?:const\s+)?_*(float|double|half)(?=\s*(?:const\s*)?[*&>,)])")
# cuBLAS's kernels, such as sm90_xmma_gemm_f32f32_tf32f32_f32_tn: A with C, B with D, and the sums. The second has the format of the products.
_PART = "(?:tf32|bf16|f16|f32|f64|e4m3|e5m2|i8|i32)"
_XMMA = re.compile(rf"_{_PART}{{2}}_({_PART}){_PART}_{_PART}(?![a-z0-9])")
# The instruction m16n8k8 with sums in fp32 multiplies tf32 unless the name has another format: s1688gemm_f16.
_TF32 = re.compile("s1688(tf32)?gemm(?![a-z0-9])")
# Kernels of cuBLAS 12.8 and newer: nvjet_tst_128x256..., nvjet_sm100_qqtst_..., nvjet_sm90_sss_tf32_... The letters are the types of A, of B
# where there are five of them, of C, of the sums, and of D. libcublasLt.so.13 of CUDA 13.0 has the list of them: bii, bsb, hss, tss, sss_tf32,
# qqtst, qrtsr, oosss, ...; the pairs of q and r with each result are those of E4M3 and E5M2 in the documentation of cublasLtMatmul().
_NVJET = re.compile("(?<![a-z0-9])nvjet_(?:sm[0-9]+[a-z]?_)?([a-z]+)(_tf32)?(?![a-z0-9])")
_NVJET_INPUTS = {"t": "bf16", "h": "fp16", "q": "fp8_e4m3", "r": "fp8_e5m2"}
_NVJET_CODES = {"sss_tf32": "tf32", "bii": "int8", "bsb": "int8"}
_SUMS = {"fp64": "fp64", "int8": "int32"}


@cache
def _names() -> list[str]:
    """The formats that ridgebench has, from the schema of a record; int32 is one of sums only."""
    return [name for name in schema_of("record")["properties"]["accumulator"]["enum"] if name != "int32"]


def of_kernels(name: str) -> bool:
    """True if kernels of the suite have the format: only ceilings and own operations compute in fp64 and int8."""
    return name not in _SUMS


def sums(name: str) -> str:
    """The format of the running sums, as far as the format of the inputs says it."""
    return _SUMS.get(name, "fp32")


def find(text: str) -> Optional[str]:
    """The name that ridgebench has for a format or a mixed pair; None for one that it does not have."""
    parts = [_ALIASES.get(part, part) for part in re.split(r"x(?=[a-z])", _PREFIX.sub("", text.lower(), count=1))]
    known = all(part in _names() for part in parts) and len(parts) <= 2
    return "x".join(dict.fromkeys(parts)) if known else None


def _of_nvjet(code: str) -> Optional[str]:
    """The format in which a kernel nvjet_* multiplies, by its letters. sss without tf32 may emulate fp32, and o has 4 bits: both have none."""
    inputs = [_NVJET_INPUTS.get(letter, "") for letter in (code[:2] if len(code) == 5 else code[:1])]
    return _NVJET_CODES.get(code) or (find("x".join(dict.fromkeys(inputs))) if len(code) in (3, 5) else None)


def of_name(name: str) -> Optional[str]:
    """The format that the name of a kernel or a benchmark states: gemm_bf16, BM_Sum<float>/8, add(const double*, int).

    None if it states none or several. `float`, `double` and `half` count as types only: a kernel may be double-buffered.
    """
    lower = name.lower()
    if jet := _NVJET.search(lower):
        return _of_nvjet("".join(jet.groups("")))
    if product := _XMMA.search(lower):
        return find(product[1])
    words = [word for word in re.split(r"[^a-z0-9]+", lower) if word in _STATED]
    types = _TYPE.findall(name)
    found = {find(word) for word in (*words, *types)} or {"tf32" if _TF32.search(lower) else None}
    return found.pop() if len(found) == 1 else None


def multiplied(stored: Optional[str], kernel: str) -> Optional[str]:
    """The format in which a kernel multiplies: that of the tensors, but a kernel whose name says tf32 multiplies floats in it.

    None for other kernels nvjet_* on floats: their names do not say how they multiply.
    """
    named = of_name(kernel)
    if stored and find(stored) == "fp32" and (named == "tf32" or "nvjet_" in kernel.lower()):
        return named if named == "tf32" else None
    return stored or named


def width(text: Optional[str]) -> Optional[int]:
    """The bytes of a stored element; None for a format that is unknown or a pair of them."""
    name = find(text) if text else None
    digits = re.fullmatch(r"[a-z]+([0-9]+)(_e[0-9]m[0-9])?", name) if name else None
    return int(digits[1]) // 8 if digits else None


def allowed() -> str:
    return ", ".join(_names())
