"""Element types: their names and kinds, and what converts to them.

Kept by hand: torch does not list its own spellings. ``tests/test_torch_facts_elements.py`` holds
every entry against torch.
"""

from __future__ import annotations

from typing import Final

DTYPES: Final[dict[str, str]] = {
    "bool": "bool",
    **dict.fromkeys(("uint8", "int8", "int16", "int32", "int64", "short", "int", "long"), "int"),
    **dict.fromkeys(("float16", "bfloat16", "float32", "float64"), "float"),
    **dict.fromkeys(("half", "float", "double"), "float"),
    **dict.fromkeys(("complex64", "complex128", "cfloat", "cdouble"), "complex"),
}
"""The kind of each element type, by its name behind ``torch.``."""
SYNONYMS: Final[dict[str, str]] = {
    "short": "int16", "int": "int32", "long": "int64", "half": "float16", "float": "float32",
    "double": "float64", "cfloat": "complex64", "cdouble": "complex128",
}  # fmt: skip
CASTS: Final[dict[str, str]] = {
    "bfloat16": "bfloat16", "bool": "bool", "byte": "uint8", "double": "float64",
    "float": "float32", "half": "float16", "int": "int32", "long": "int64", "short": "int16",
}  # fmt: skip
"""The element type that a tensor's method of that name converts to."""
TYPED: Final[dict[str, str]] = {
    "BFloat16Tensor": "bfloat16",
    "BoolTensor": "bool",
    "ByteTensor": "uint8",
    "CharTensor": "int8",
    "DoubleTensor": "float64",
    "FloatTensor": "float32",
    "HalfTensor": "float16",
    "IntTensor": "int32",
    "LongTensor": "int64",
    "ShortTensor": "int16",
}
"""The element type of each of torch's older classes of tensors."""
PARTS: Final[dict[str, str]] = {"complex64": "float32", "complex128": "float64"}
"""The element type of the real and the imaginary part."""
WHOLES: Final[dict[str, str]] = {part: whole for whole, part in PARTS.items()}
_BITS: Final = {"bool": 1, "bfloat16": 16, "complex64": 32, "complex128": 64}
_CATEGORIES: Final = ("bool", "int", "float", "complex")


def promoted(left: str, right: str) -> str:
    """The element type of what is computed of two tensors with as many dimensions.

    Names are those of `DTYPES`, no synonyms.
    """
    low, high = sorted(
        (left, right), key=lambda name: (_CATEGORIES.index(DTYPES[name]), _bits(name))
    )
    if DTYPES[low] == DTYPES[high] and low != high and _bits(low) == _bits(high):
        return "float32" if DTYPES[low] == "float" else "int16"
    if DTYPES[high] == "complex" and DTYPES[low] == "float":
        return "complex128" if _bits(low) > 32 else high
    return high


def _bits(name: str) -> int:
    return _BITS.get(name) or int("".join(filter(str.isdigit, name)))
