"""Methods of tensors and functions of torch on tensors: what they give, what they read."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Final

from tclint import torch_facts
from tclint.semantics.events import Call, DynamicShape, TensorFactory
from tclint.semantics.interpreter.arguments import Arguments
from tclint.semantics.interpreter.evaluate import need_drawn, need_number
from tclint.semantics.interpreter.expressions import host_read, number_read
from tclint.semantics.interpreter.frame import Frame
from tclint.semantics.interpreter.operators import (
    DEFAULT,
    FLOAT32,
    computed_in,
    is_random,
    named_dtype,
)
from tclint.semantics.interpreter.transfer import answer
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
from tclint.torch_facts.elements import KEEPING, MEASURING
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
    if name in ("to", "type"):
        return _converted(tensor, node, name, arguments)
    if name in MEASURING:
        length = Static("int") if tensor.role == "parameter" else SYMINT
        bare = name in ("size", "stride") and not node.args
        return Sequence("Size", length) if bare else length
    read_numbers(frame, node, name, arguments)
    if name == "new_tensor":
        return _made_like(frame, node, tensor, arguments)
    given = Arguments((tensor, *arguments.positional), arguments.keywords, arguments.exact)
    return returned(frame, node, name, given, torch_facts.method_returns(name))


def _made_like(frame: Frame, node: ast.Call, tensor: Tensor, arguments: Arguments) -> Value:
    """``x.new_tensor(...)``: on the device that the tensor is on, not the same on every step."""
    frame.analysis.emit(
        frame, TensorFactory, node, function="torch.Tensor.new_tensor", call=node, moved=None,
        destination=None, constant=False,
    )  # fmt: skip
    dtype = _asked_dtype(arguments) if "dtype" in arguments.keywords else tensor.dtype
    return Tensor(dtype=dtype, assumed=tensor.assumed, why="`new_tensor()`")


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
    return returned(frame, node, name, arguments, torch_facts.function_returns(name))


def _taken_for_tensor(name: str, arguments: Arguments) -> Tensor | None:
    """What is not known, given to a function of torch that takes tensors alone."""
    given = arguments.positional[0] if arguments.positional else None
    known = given is None or not may_be_unknown(given)
    return None if known else Tensor(assumed=True, why=f"argument of `{name}`")


def returned(
    frame: Frame, node: ast.Call, key: str, arguments: Arguments, kind: str | None
) -> Value:
    """What a call gives: by the table of operations, or else by torch's own annotations."""
    tensors = [*_tensors(arguments.values())]
    name = key.rpartition(".")[2]
    if name.endswith("_") and tensors and not name.endswith("__"):
        return _like(tensors[0], tensors[0].dtype)
    if not arguments.exact:  # what stands behind a star may be any argument
        hidden = "." in key and any(isinstance(one, STARRED) for one in node.args[:1])
        arguments = Arguments(arguments.positional[: 1 - hidden], arguments.keywords, exact=False)
    found = answer(key, arguments, partial(computed_in, key, site=_place(frame, node)))
    made = _loose(name, tensors)
    if found is None:
        return _by_kind(frame, node, made, kind)
    if not found.results:
        return UNKNOWN
    if "." in key:  # functions of torch take nothing but tensors
        made = made.changed(assumed=False)
    results = [
        made.changed(rank=one.rank, dtype=settled_dtype(frame, one.dtype)) for one in found.results
    ]
    if found.each:
        return Sequence("tuple", results[0])
    if len(results) > 1:
        return Sequence("tuple", items=tuple(results))
    only = results[0]
    return only if only.dtype is not None else only.changed(dtype=fresh_dtype(frame, node))


def settled_dtype(frame: Frame, dtype: DType | None) -> DType | None:
    """The default dtype is float32 in a file that does not set another."""
    if dtype == DEFAULT and not frame.analysis.sets_default_dtype(frame.body.module):
        return FLOAT32
    return dtype


def _by_kind(frame: Frame, node: ast.Call, made: Tensor, kind: str | None) -> Value:
    """What a call gives of which only that is known, such as ``tensor*2``."""
    codes = kind.split("|") if kind is not None else []
    if "tensor" in codes:
        return made.changed(dtype=fresh_dtype(frame, node))
    code = codes[0] if codes else ""
    if code.startswith("tensor*") and len(codes) == 1:
        return Sequence("tuple", items=(made,) * int(code.partition("*")[2]))
    if code.startswith("tensor"):
        return Sequence("tuple", made)
    return _PLAIN.get(code, UNKNOWN) if len(codes) == 1 else UNKNOWN


def _tensors(values: Iterable[Value]) -> Iterator[Tensor]:
    """The tensors among arguments, and in the lists among them."""
    for value in values:
        if isinstance(value, Sequence):
            yield from _tensors((value.element,) if value.items is None else value.items)
        elif is_tensor(value):
            yield from (option for option in options(value) if isinstance(option, Tensor))


def _loose(name: str, tensors: list[Tensor]) -> Tensor:
    assumed = bool(tensors) and all(t.assumed for t in tensors)
    return Tensor(assumed=assumed, random=is_random(*tensors), why=f"result of `{name}`")


def fresh_dtype(frame: Frame, node: ast.Call, category: str | None = None) -> DType:
    """An element type of which only that is known: it is what this call gives."""
    return DType(f"~{_place(frame, node)}", category)


def _place(frame: Frame, node: ast.Call) -> str:
    return f"{frame.body.module.name}:{node.lineno}:{node.col_offset}"
