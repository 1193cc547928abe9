"""Creating things inside a region: tensors, parameters, layers, containers of layers."""

from __future__ import annotations

import ast
from typing import Final

from tclint import torch_facts
from tclint.semantics.events import ModuleConstruction, TensorFactory
from tclint.semantics.interpreter.arguments import Arguments
from tclint.semantics.interpreter.frame import Frame
from tclint.semantics.interpreter.iteration import element_of
from tclint.semantics.interpreter.operators import DEFAULT, INT64, held, named_dtype
from tclint.semantics.interpreter.tensor_calls import read_numbers, returned, settled_dtype
from tclint.semantics.lattice import tensor_in
from tclint.semantics.syntax import path_of
from tclint.semantics.values import (
    UNKNOWN,
    DType,
    Mapping,
    Object,
    Sequence,
    Static,
    SymInt,
    Tensor,
    Value,
)
from tclint.torch_facts.modules import DICTS, LISTS

MOVES: Final = frozenset({"to", "cuda", "cpu"})


def create_tensor(frame: Frame, node: ast.Call, name: str, arguments: Arguments) -> Value:
    """The result of a tensor factory, reported with the call that moves it elsewhere."""
    facts = torch_facts.factory(name)
    assert facts is not None
    moved, destination = _moved(frame, node)
    frame.analysis.emit(
        frame, TensorFactory, node, function=name, call=node, moved=moved,
        destination=destination, constant=is_constant(frame, node),
    )  # fmt: skip
    read_numbers(frame, node, name, arguments)
    like = tensor_in(arguments.positional[0]) if arguments.positional else None
    has_dtype = "dtype" in arguments.keywords
    given = named_dtype(arguments.keywords.get("dtype", UNKNOWN))
    device = next((k.value for k in node.keywords if k.arg == "device"), None)
    place = "cpu" if device is None else f"like:{path_of(device) or ast.unparse(device)}"
    if facts.dtype == "like" and like is not None:
        return Tensor(like.rank, given if has_dtype else like.dtype, like.device,
                      assumed=like.assumed, random=facts.random, why=f"`{name}`")  # fmt: skip
    if facts.source == "size" and like is not None:  # `torch.normal(mean, std)`
        return returned(frame, node, name, arguments, "tensor")
    made = settled_dtype(frame, _factory_dtype(facts.dtype, arguments))
    dtype = given if has_dtype else made
    rank = facts.rank if isinstance(facts.rank, int) else _sized_rank(facts.rank, arguments)
    return Tensor(rank, dtype, place, random=facts.random, why=f"`{name}`")


def _factory_dtype(rule: str, arguments: Arguments) -> DType | None:
    if rule == "default":
        return DEFAULT
    if rule == "range":
        whole = all(_integral(v) for v in arguments.positional)
        return INT64 if whole and arguments.positional else None
    if rule in ("data", "fill", "like"):
        return _data_dtype(arguments.positional[-1]) if arguments.positional else None
    category = "float" if "float" in rule else "bool" if rule == "bool" else "int"
    return DType(rule, category)


def _integral(value: Value) -> bool:
    return isinstance(value, SymInt) or (isinstance(value, Static) and value.type == "int")


def _data_dtype(value: Value) -> DType | None:
    while isinstance(value, Sequence) and value.items:
        value = value.items[0]
    if isinstance(value, Static) and value.type in ("int", "float", "bool"):
        return {"int": INT64, "float": DEFAULT, "bool": DType("bool", "bool")}[value.type]
    return None


def _sized_rank(rule: str, arguments: Arguments) -> int | None:
    values = arguments.positional
    if not arguments.exact or not values:
        return None
    first = values[0]
    if rule == "size":
        if isinstance(first, Sequence):
            return len(first.items) if first.items is not None else None
        return len(values) if all(_integral(v) for v in values) else None
    if rule == "data":
        depth = 0
        while isinstance(first, Sequence) and first.items is not None:
            depth += 1
            first = first.items[0] if first.items else Static()
        return depth if isinstance(first, Static) and first.type is not None else None
    return None


def _moved(frame: Frame, node: ast.Call) -> tuple[ast.Call | None, ast.expr | None]:
    call = frame.moves.get(node)
    if call is None:
        return None, None
    keyword = next((k.value for k in call.keywords if k.arg == "device"), None)
    return call, keyword or (call.args[0] if call.args else None)


def is_constant(frame: Frame, node: ast.Call) -> bool:
    """True when a call's arguments are the same on every step; only a region has steps."""
    if frame.region is None:
        return False
    inputs = [*node.args, *(k.value for k in node.keywords if k.arg not in ("device", "dtype"))]
    return all(_constant_expression(frame, expression) for expression in inputs)


def _constant_expression(frame: Frame, node: ast.expr) -> bool:
    match node:
        case ast.Constant():
            return True
        case ast.UnaryOp(operand=operand):
            return _constant_expression(frame, operand)
        case ast.BinOp(left=left, right=right):
            return _constant_expression(frame, left) and _constant_expression(frame, right)
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return all(_constant_expression(frame, element) for element in elements)
        case ast.Attribute(value=ast.Name(id="self")):
            return _settled(frame.body.values.get(node)) and not _written(frame, node.attr)
        case ast.Name(id=name):
            module = frame.body.module
            return name not in frame.env and name in module.assigned
    return False


def _settled(value: Value | None) -> bool:
    if isinstance(value, Sequence):
        return value.items is not None and all(map(_settled, value.items))
    return isinstance(value, Static)


def _written(frame: Frame, attribute: str) -> bool:
    """True where ``self.attribute`` may change after ``__init__``."""
    function = frame.body.function
    if function is None or function.cls is None:
        return True
    return frame.analysis.changes.is_rewritten(frame, function.cls, attribute)


def create_module(frame: Frame, node: ast.Call, name: str, arguments: Arguments) -> Value:
    """A layer of ``torch.nn``; containers become sequences and mappings of their members."""
    name = torch_facts.canonical(name)
    if name in LISTS:
        members = element_of(arguments.positional[0]) if arguments.positional else UNKNOWN
        return Sequence("ModuleList", members)
    if name == "torch.nn.Sequential":
        if arguments.exact:
            return Sequence("Sequential", items=arguments.positional)
        return Sequence("Sequential", UNKNOWN)
    if name in DICTS:
        first = arguments.positional[0] if arguments.positional else Mapping()
        return first if isinstance(first, Mapping) else Mapping()
    frame.analysis.emit(
        frame, ModuleConstruction, node, function=name, call=node,
        has_parameters=torch_facts.has_parameters(name), constant=is_constant(frame, node),
    )  # fmt: skip
    return Object(name, site=node, is_module=True)


def create_parameter(frame: Frame, node: ast.Call, name: str, arguments: Arguments) -> Value:
    """``nn.Parameter(...)``."""
    frame.analysis.emit(
        frame, ModuleConstruction, node, function=name, call=node, has_parameters=True,
        constant=is_constant(frame, node),
    )  # fmt: skip
    data = tensor_in(arguments.positional[0]) if arguments.positional else None
    dtype = held(data.dtype) if data else None
    return Tensor(data.rank if data else None, dtype, role="parameter", why="parameter")
