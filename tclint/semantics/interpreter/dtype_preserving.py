"""Calls that hand on the elements of their tensors: the element type stays, the rank may change."""

from __future__ import annotations

import ast

from tclint.semantics.interpreter.operators import binary, elements
from tclint.semantics.lattice import tensor_in
from tclint.semantics.values import Sequence, Tensor, Value
from tclint.torch_facts.elements import JOINING, REARRANGING, REARRANGING_FUNCTIONS, SPLITTING


def rearranged(tensor: Tensor, name: str) -> Tensor:
    """The tensor that a call such as ``unsqueeze`` gives."""
    shift = REARRANGING.get(name)
    rank = None if tensor.rank is None or shift is None else tensor.rank + shift
    return Tensor(
        rank,
        tensor.dtype,
        None,
        assumed=tensor.assumed,
        random=tensor.random,
        why=tensor.why,
        guess=tensor.guess,
    )


def dtype_preserved(name: str, operands: tuple[Value, ...]) -> Value | None:
    """What a function of torch gives that hands elements on; None for all others.

    Methods that split are known as well, by their bare names.
    """
    first = tensor_in(operands[0]) if operands else None
    if name in JOINING:
        return _joined(name, operands)
    if name == "torch.where" and len(operands) == 3:
        return _chosen(*operands)
    if first is None:
        return None
    if name.startswith("torch."):
        first = first.changed(assumed=False)  # torch's functions take nothing else
    if name in REARRANGING_FUNCTIONS:
        return rearranged(first, name.rpartition(".")[2])
    shift = SPLITTING.get(name.removeprefix("torch."))
    if shift is None:
        return None
    rank = None if first.rank is None else max(first.rank + shift, 0)
    part = Tensor(rank, first.dtype, assumed=first.assumed, random=first.random, why=f"`{name}`")
    return Sequence("tuple", part)


def _joined(name: str, operands: tuple[Value, ...]) -> Value | None:
    """``torch.cat`` of tensors of one element type."""
    tensors = operands[0] if operands else None
    member = tensor_in(elements(tensors)) if isinstance(tensors, Sequence) else None
    if member is None or member.dtype is None:
        return None
    shift = JOINING[name]
    rank = None if member.rank is None or shift is None else member.rank + shift
    last = name.rpartition(".")[2]
    return Tensor(rank, member.dtype, random=member.random, why=f"result of `{last}`")


def _chosen(test: Value, one: Value, other: Value) -> Value | None:
    """``torch.where`` of three operands promotes the last two like their sum."""
    condition, result = tensor_in(test), tensor_in(binary(ast.Add(), one, other))
    if condition is None or result is None:
        return None
    known = condition.rank is not None and result.rank is not None
    rank = max(condition.rank or 0, result.rank or 0) if known else None
    return result.changed(rank=rank, assumed=False, why="result of `where`")
