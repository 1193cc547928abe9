"""Functions that create tensors: from sizes, from Python data, from a range, like another.

Kept by hand: signatures do not say where rank and dtype come from.
``tests/test_torch_facts_elements.py`` calls each.
"""

from __future__ import annotations

from typing import Final

from tclint.records import record
from tclint.torch_facts.dtypes import TYPED


@record(frozen=True)
class Factory:
    """What a creating function makes when nothing else is said.

    ``source`` is ``"size"``, ``"data"``, ``"range"``, ``"like"`` or ``"array"``. ``rank`` is a
    number, ``"size"`` (as many as sizes are given), ``"data"`` (the nesting of the data) or
    ``"like"``. ``dtype`` is a dtype's name, ``"default"`` (``torch.get_default_dtype()``),
    ``"data"`` (inferred from the data), ``"fill"`` (from the fill value), ``"range"`` (int64
    unless a bound is a float) or ``"like"``. ``random`` marks draws from torch's generator.
    """

    source: str
    rank: int | str
    dtype: str
    random: bool = False


def _sized(dtype: str = "default", random: bool = False) -> Factory:
    return Factory("size", "size", dtype, random)


def _like(random: bool = False) -> Factory:
    return Factory("like", "like", "like", random)


FACTORIES: Final[dict[str, Factory]] = {
    "torch.Tensor": Factory("data", "data", "default"),
    "torch.arange": Factory("range", 1, "range"),
    "torch.as_tensor": Factory("data", "data", "data"),
    "torch.asarray": Factory("data", "data", "data"),
    "torch.bartlett_window": Factory("range", 1, "default"),
    "torch.blackman_window": Factory("range", 1, "default"),
    "torch.empty": _sized(),
    "torch.empty_like": _like(),
    "torch.empty_strided": Factory("size", "size", "default"),
    "torch.eye": Factory("size", 2, "default"),
    "torch.from_numpy": Factory("array", "data", "data"),
    "torch.frombuffer": Factory("array", 1, "data"),
    "torch.full": Factory("size", "size", "fill"),
    "torch.full_like": _like(),
    "torch.hamming_window": Factory("range", 1, "default"),
    "torch.hann_window": Factory("range", 1, "default"),
    "torch.kaiser_window": Factory("range", 1, "default"),
    "torch.linspace": Factory("range", 1, "default"),
    "torch.logspace": Factory("range", 1, "default"),
    "torch.normal": Factory("size", "size", "default", random=True),
    "torch.ones": _sized(),
    "torch.ones_like": _like(),
    "torch.rand": _sized(random=True),
    "torch.rand_like": _like(random=True),
    "torch.randint": _sized("int64", random=True),
    "torch.randint_like": _like(random=True),
    "torch.randn": _sized(random=True),
    "torch.randn_like": _like(random=True),
    "torch.randperm": Factory("range", 1, "int64", random=True),
    "torch.range": Factory("range", 1, "default"),
    "torch.scalar_tensor": Factory("data", 0, "default"),
    "torch.sparse_coo_tensor": Factory("data", "data", "data"),
    "torch.tensor": Factory("data", "data", "data"),
    "torch.tril_indices": Factory("range", 2, "int64"),
    "torch.triu_indices": Factory("range", 2, "int64"),
    "torch.zeros": _sized(),
    "torch.zeros_like": _like(),
}


def makes_memory(dotted: str) -> bool:
    """Whether a call creates a tensor with memory of its own, whatever it is given."""
    made = FACTORIES.get(dotted)
    return dotted == "torch.tensor" or (made is not None and made.source not in ("data", "array"))


def factory(dotted: str) -> Factory | None:
    """The facts of a creating function; ``torch.cuda.FloatTensor`` counts, ``x.new_zeros`` not."""
    found = FACTORIES.get(dotted)
    if found is None and dotted.startswith(("torch.", "torch.cuda.")):
        dtype = TYPED.get(dotted.removeprefix("torch.").removeprefix("cuda."))
        return Factory("data", "data", dtype) if dtype else None
    return found
