"""Methods of tensors and functions of torch on tensors: what they give, what they read."""

from __future__ import annotations

import ast
from typing import Final

from tclint import torch_facts
from tclint.semantics.events import Call, DynamicShape, TensorFactory
from tclint.semantics.interpreter.arguments import Arguments
from tclint.semantics.interpreter.dtype_preserving import dtype_preserved, rearranged
from tclint.semantics.interpreter.evaluate import need_drawn, need_number
from tclint.semantics.interpreter.expressions import host_read, number_read
from tclint.semantics.interpreter.frame import Frame
from tclint.semantics.interpreter.operators import (
    BOOL,
    INT64,
    binary,
    computed_in,
    derived,
    named_dtype,
)
from tclint.semantics.lattice import (
    is_tensor,
    may_be_unknown,
    options,
    tensor_in,
    tensor_on_some_paths,
)
from tclint.semantics.syntax import STARRED
from tclint.semantics.values import (
    NONE,
    SYMINT,
    UNKNOWN,
    Class,
    DataScalar,
    DType,
    External,
    NDArray,
    Sequence,
    Static,
    Tensor,
    Value,
)
from tclint.torch_facts.dtypes import CASTS, DTYPES
from tclint.torch_facts.elements import KEEPING, MEASURING, REARRANGING, VIEWING
from tclint.torch_facts.numbers import NO_NUMBERS

_CASTS: Final = {name: DType(dtype, DTYPES[dtype]) for name, dtype in CASTS.items()}
_PLAIN: Final = {
    "int": Static("int"), "bool": Static("bool"), "size": Sequence("Size", SYMINT),
    "dtype": Static("dtype"), "device": Static("device"), "str": Static("str"),
    "float": Static("float"), "none": NONE,
}  # fmt: skip
_READ_TYPES: Final = {
    "item": None,
    "tolist": "list",
    "bool": "bool",
    "int": "int",
    "float": "float",
}
_GIVING_TENSORS: Final = ("branch", "copy")
"""Reads whose calls give tensors, not what was read."""


def _of_class(tensor: Tensor, cls: Value) -> Tensor:
    """A tensor as one of a class of the project."""
    return tensor.changed(cls=cls.info if isinstance(cls, Class) else None)


def call_method(
    frame: Frame, node: ast.Call, tensor: Tensor, name: str, arguments: Arguments
) -> Value:
    """The result of ``tensor.name(...)``; host reads are reported."""
    via = torch_facts.reads_host(name)
    if via in _GIVING_TENSORS:
        if via == "branch":
            host_read(frame, node, via, _owner(frame, node), tensor)
    elif via is not None:
        return _read(frame, node, tensor, name, via)
    frame.analysis.emit(
        frame, Call, node, function=f"torch.Tensor.{name}", call=node,
        arguments=tuple(arguments.positional), owner=tensor,
    )  # fmt: skip
    report_dynamic_shape(frame, node, name, tensor, node.func, arguments)
    if name == "as_subclass" and arguments.positional:
        return _of_class(tensor, arguments.positional[0])
    if name in _CASTS:
        return _like(tensor, _CASTS[name])
    if name in KEEPING:
        return _like(tensor, tensor.dtype)
    if name in ("to", "type", "type_as"):
        return _converted(tensor, node, name, arguments)
    if name in MEASURING:
        length = Static("int") if tensor.role == "parameter" else SYMINT
        bare = name in ("size", "stride") and not node.args
        return Sequence("Size", length) if bare else length
    read_numbers(frame, node, name, arguments)
    if name in VIEWING:
        return _viewed(tensor, node, arguments)
    if name in REARRANGING:
        return rearranged(tensor, name)
    if name.startswith("new_"):
        return _made_like(frame, node, tensor, name, arguments)
    operands = (tensor, *arguments.positional)
    return _returned(frame, node, name, operands, torch_facts.method_returns(name))


def _made_like(
    frame: Frame, node: ast.Call, tensor: Tensor, name: str, arguments: Arguments
) -> Value:
    if name == "new_tensor":  # on the device that the tensor is on: not the same on every step
        frame.analysis.emit(
            frame, TensorFactory, node, function="torch.Tensor.new_tensor", call=node, moved=None,
            destination=None, constant=False,
        )  # fmt: skip
    dtype = _asked_dtype(arguments) if "dtype" in arguments.keywords else tensor.dtype
    return Tensor(dtype=dtype, assumed=tensor.assumed, why=f"`{name}()`")


def read_numbers(frame: Frame, node: ast.Call, key: str, arguments: Arguments) -> None:
    """What torch needs as a number and is given as a tensor, or by numpy, is read on the host."""
    _read_drawn(frame, node, key, arguments)
    wanted = torch_facts.numbers_of(key)
    if wanted is NO_NUMBERS:
        return
    if arguments.exact:
        parts = _parts(node, len(arguments.positional))
        for place, value in enumerate(arguments.positional):
            if wanted.at(place):
                _read_number(frame, node, parts[place], value)
    for keyword in node.keywords:
        if keyword.arg in wanted.names and keyword.arg in arguments.keywords:
            _read_number(frame, node, keyword.value, arguments.keywords[keyword.arg])


def _read_drawn(frame: Frame, node: ast.Call, key: str, arguments: Arguments) -> None:
    """What takes tensors and numbers, but no number that `random` drew."""
    told = torch_facts.drawn_numbers_of(key)
    if told is None or (key == "torch.normal" and not _is_sized(arguments)):
        return
    why, wanted = told
    parts = _parts(node, len(arguments.positional))
    for place, value in enumerate(arguments.positional if arguments.exact else ()):
        if place in wanted.places:
            need_drawn(frame, parts[place], value, why)
    for keyword in node.keywords:
        if keyword.arg in wanted.names and keyword.arg in arguments.keywords:
            need_drawn(frame, keyword.value, arguments.keywords[keyword.arg], why)


def _is_sized(arguments: Arguments) -> bool:
    """True for `torch.normal` with a size: its mean and its deviation are numbers then."""
    return len(arguments.positional) > 2 or "size" in arguments.keywords


def _parts(node: ast.Call, count: int) -> list[ast.expr]:
    """The expressions of the last arguments; the call itself where one stands for several."""
    plain = len(node.args) >= count and not any(isinstance(a, STARRED) for a in node.args)
    return node.args[len(node.args) - count :] if plain else [node] * count


def _read_number(frame: Frame, node: ast.Call, part: ast.expr, value: Value) -> None:
    members = [value]
    if isinstance(value, Sequence):
        members = [*value.items] if value.items is not None else [value.element]
    for member in members:
        need_number(frame, part, member, "torch")
        tensor = tensor_in(member) or tensor_on_some_paths(member)
        if tensor is not None and not _is_known_number(tensor):
            number_read(frame, node, "number", part, member)
            return


def _is_known_number(tensor: Tensor) -> bool:
    """Dynamo knows what a module's own tensor of integers holds, and takes that for a size."""
    return bool(tensor.role) and (tensor.dtype is None or tensor.dtype.category != "float")


def _asked_dtype(arguments: Arguments) -> DType | None:
    """The element type that ``.to(...)`` names, or has the tensor that it is given."""
    named = [*arguments.positional[:2], *(v for k, v in arguments.keywords.items() if k == "dtype")]
    for value in named:
        dtype = value.dtype if isinstance(value, Tensor) else named_dtype(value)
        if dtype is not None:
            return dtype
    return None


def _moves_only(arguments: Arguments) -> bool:
    """True for ``.to(...)`` with a device and no element type."""
    moved = [*arguments.positional, *(v for k, v in arguments.keywords.items() if k == "device")]
    return (
        "dtype" not in arguments.keywords
        and bool(moved)
        and all(isinstance(v, Static) and v.type in ("device", "str") for v in moved)
    )


def report_dynamic_shape(
    frame: Frame,
    node: ast.Call,
    name: str,
    tensor: Tensor | None,
    source: ast.expr,
    arguments: Arguments,
) -> None:
    """Report a call whose result's shape depends on the data."""
    found = torch_facts.dynamic_shape(name)
    if found is None or tensor is None:
        return
    gb_id, condition = found
    given = {keyword.arg for keyword in node.keywords}
    alone = len(node.args) == 1 and "repeats" not in given  # torch.repeat_interleave(repeats)
    place = 0 if "." not in name or alone else 1
    repeats = arguments.positional[place] if len(arguments.positional) > place else UNKNOWN
    applies = {
        "always": True,
        "one-argument": len(node.args) == 1 and not node.keywords,
        "no-num-classes": len(node.args) < 2 and "num_classes" not in given,
        "tensor-repeats": arguments.keywords.get("output_size", NONE) is NONE
        and is_tensor(arguments.keywords.get("repeats", repeats)),
    }
    if applies[condition]:
        frame.analysis.emit(
            frame, DynamicShape, node, via=name.rpartition(".")[2], gb_id=gb_id, source=source,
            tensor=tensor,
        )  # fmt: skip


def _read(frame: Frame, node: ast.Call, tensor: Tensor, name: str, via: str) -> Value:
    source = _owner(frame, node)
    host_read(
        frame,
        node,
        name if via == "bool" and name not in ("bool", "__bool__") else via,
        source,
        tensor,
    )
    if via == "numpy":
        return NDArray(from_tensor=True)
    if via == "item":
        category = tensor.dtype.category if tensor.dtype else None
        return DataScalar(category, tensor.dtype)
    return DataScalar(_READ_TYPES.get(via))


def _converted(tensor: Tensor, node: ast.Call, name: str, arguments: Arguments) -> Value:
    if name == "type" and not node.args and not node.keywords:
        return _PLAIN["str"]  # its name: "torch.cuda.FloatTensor"
    keeps = name == "to" and _moves_only(arguments)
    return _like(tensor, tensor.dtype if keeps else _asked_dtype(arguments))


def _owner(frame: Frame, node: ast.Call) -> ast.expr:
    """The expression of the tensor that a method is called on."""
    unbound = frame.body.values.get(node.func)
    if isinstance(unbound, External) and node.args:
        return node.args[0]  # torch.Tensor.item(t)
    # Without a dot the method was kept in a variable: that is the closest to the tensor's name.
    return node.func.value if isinstance(node.func, ast.Attribute) else node.func


def _like(tensor: Tensor, dtype: DType | None) -> Tensor:
    return Tensor(tensor.rank, dtype, None, assumed=tensor.assumed, random=tensor.random,
                  why=tensor.why, guess=tensor.guess)  # fmt: skip


def _viewed(tensor: Tensor, node: ast.Call, arguments: Arguments) -> Tensor:
    sizes = arguments.positional
    rank: int | None = len(sizes)
    if len(sizes) == 1:
        only = sizes[0]
        rank = None
        if isinstance(only, Sequence):
            rank = len(only.items) if only.items is not None else None
        elif only == SYMINT or (isinstance(only, Static) and only.type == "int"):
            rank = 1
    if not arguments.exact or not node.args or isinstance(node.args[0], ast.Starred):
        rank = None
    return Tensor(rank, tensor.dtype, tensor.device, assumed=tensor.assumed, why="reshaped tensor")


def call_function_of_torch(frame: Frame, node: ast.Call, name: str, arguments: Arguments) -> Value:
    """The result of a ``torch.*`` function that is neither a factory nor a class."""
    name = torch_facts.canonical(name)
    frame.analysis.operations += 1
    given = [*arguments.positional, *(v for k, v in arguments.keywords.items() if k == "input")]
    tensors = [v for v in given if is_tensor(v)]
    first = next((o for v in tensors for o in options(v) if isinstance(o, Tensor)), None)
    via = torch_facts.reads_host(name)
    if first is None and (via is not None or torch_facts.dynamic_shape(name) is not None):
        first = _taken_for_tensor(name, arguments)
    if via is not None and first is not None and node.args:
        host_read(frame, node, name.rpartition(".")[2], node.args[0], first)
        if via != "branch":
            return Static("bool") if via == "bool" else DataScalar()
    read_numbers(frame, node, name, arguments)
    frame.analysis.emit(
        frame, Call, node, function=name, call=node, arguments=tuple(arguments.positional)
    )
    report_dynamic_shape(frame, node, name, first, node.func, arguments)
    return _returned(frame, node, name, arguments.positional, torch_facts.function_returns(name))


def _taken_for_tensor(name: str, arguments: Arguments) -> Tensor | None:
    """What is not known, given to a function of torch that takes tensors alone."""
    given = arguments.positional[0] if arguments.positional else None
    known = given is None or not may_be_unknown(given)
    return None if known else Tensor(assumed=True, why=f"argument of `{name}`")


def _returned(
    frame: Frame, node: ast.Call, key: str, operands: tuple[Value, ...], kind: str | None
) -> Value:
    if kind is None:
        return dtype_preserved(key, operands) or UNKNOWN
    if not _is_known(node, key, operands):
        passed_on = dtype_preserved(key, operands)
        if passed_on is not None:
            return passed_on
    codes = kind.split("|")
    tensors = [o for v in operands if is_tensor(v) for o in options(v) if isinstance(o, Tensor)]
    name = key.rpartition(".")[2]
    if "tensor" in codes:
        rule = torch_facts.binary_dtype(key)
        if rule in ("promote", "float") and len(operands) == 2 and not node.keywords:
            return binary(_operator(name, rule), *operands)
        return _tensor_result(frame, node, key, name, tensors)
    code = codes[0]
    if code.startswith("tensor*"):
        count = int(code.partition("*")[2])
        return Sequence("tuple", items=(_loose(node, name, tensors),) * count)
    if code == "tensors":
        return Sequence("tuple", _loose(node, name, tensors))
    return _PLAIN.get(code, UNKNOWN) if len(codes) == 1 else UNKNOWN


def _operator(name: str, rule: str) -> ast.operator:
    if name == "pow":
        return ast.Pow()
    return ast.Add() if rule == "promote" else ast.Div()


def _is_known(node: ast.Call, key: str, operands: tuple[Value, ...]) -> bool:
    """True for a call with one tensor alone, of which a table knows what it gives."""
    alone = _is_plain(node, key) and all(map(is_tensor, operands))
    return alone and torch_facts.call_result(key) is not None


def _is_plain(node: ast.Call, key: str) -> bool:
    return len(node.args) == (0 if "." not in key else 1) and not node.keywords


def _loose(node: ast.Call, name: str, tensors: list[Tensor]) -> Tensor:
    assumed = bool(tensors) and all(t.assumed for t in tensors)
    return Tensor(assumed=assumed, random=any(t.random for t in tensors), why=f"result of `{name}`")


def _tensor_result(
    frame: Frame, node: ast.Call, key: str, name: str, tensors: list[Tensor]
) -> Tensor:
    loose = _loose(node, name, tensors)
    if name.endswith("_") and tensors and not name.endswith("__"):
        return _like(tensors[0], tensors[0].dtype)
    if len(tensors) == 1 and _is_plain(node, key):
        return _unary_result(key, tensors[0], loose)
    if torch_facts.binary_dtype(key) == "bool" or key == "torch.isin":
        return Tensor(
            None, BOOL, assumed=loose.assumed, random=loose.random, why=loose.why, guess=loose.guess
        )
    if len(tensors) == 1 and torch_facts.reduces_along_dim(key):
        return loose.changed(
            rank=_reduced_rank(node, key, tensors[0]),
            dtype=_reduced_dtype(frame, node, key, tensors[0]),
        )
    if torch_facts.reduces_to_scalar(key) and not _has_dim(node, key, max(len(tensors), 1)):
        return Tensor(
            0, _dtype_symbol(frame, node), assumed=loose.assumed, why=loose.why, guess=loose.guess
        )
    return Tensor(None, _dtype_symbol(frame, node), assumed=loose.assumed, random=loose.random,
                  why=loose.why, guess=loose.guess)  # fmt: skip


def _reduced_rank(node: ast.Call, key: str, tensor: Tensor) -> int | None:
    """The rank after reducing along one dimension that is written out, or along all."""
    kept = any(keyword.arg == "keepdim" for keyword in node.keywords)
    if torch_facts.reduces_to_scalar(key) and not kept and not _has_dim(node, key, 1):
        return 0
    if tensor.rank is None or not _one_dim(node, key):
        return None
    return tensor.rank if kept else tensor.rank - 1


def _reduced_dtype(frame: Frame, node: ast.Call, key: str, tensor: Tensor) -> DType | None:
    for keyword in node.keywords:
        if keyword.arg == "dtype":
            return named_dtype(External(frame.site().dotted(keyword.value) or ""))
    result = torch_facts.call_result(key)
    if result is None:
        return None
    return _result_dtype(result.dtype, computed_in(key, tensor.dtype))


def _one_dim(node: ast.Call, key: str) -> bool:
    given = [*node.args[(0 if "." not in key else 1) :]]
    given += [k.value for k in node.keywords if k.arg == "dim"]
    return len(given) == 1 and isinstance(given[0], (ast.Constant, ast.UnaryOp))


def _has_dim(node: ast.Call, key: str, tensors: int) -> bool:
    extra = len(node.args) > (0 if "." not in key else tensors)
    return extra or any(k.arg in ("dim", "axis", "reduction", None) for k in node.keywords)


def _dtype_symbol(frame: Frame, node: ast.Call) -> DType:
    return DType(f"~{frame.body.module.name}:{node.lineno}:{node.col_offset}")


def _unary_result(key: str, tensor: Tensor, loose: Tensor) -> Tensor:
    result = torch_facts.call_result(key)
    if result is None:
        return loose
    ranks = {"same": tensor.rank, "zero": 0, "one": 1, "two": 2}
    rank = ranks.get(result.rank)
    if result.rank.startswith(("-", "+")) and tensor.rank is not None:
        rank = tensor.rank + int(result.rank)
    dtype = _result_dtype(result.dtype, computed_in(key, tensor.dtype))
    return Tensor(rank, dtype, None, assumed=loose.assumed, random=loose.random, why=loose.why,
                  guess=loose.guess)  # fmt: skip


def _result_dtype(rule: str, dtype: DType | None) -> DType | None:
    if rule == "same":
        return dtype
    if rule in ("float", "inexact", "sum", "varies"):
        if rule != "varies" and dtype is not None and dtype.category in ("float", "complex"):
            return dtype
        if rule == "sum" and dtype is not None and dtype.category in ("int", "bool"):
            return INT64
        real = rule == "float" or (rule == "inexact" and dtype is not None and dtype.category)
        return derived(dtype, rule, "float" if real else None)
    categories = {"bool": "bool"} | {"int64": "int", "int32": "int"}
    return DType(rule, categories.get(rule, "float" if rule.startswith("float") else None))
