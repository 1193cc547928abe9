"""Calls of libraries: torch, numpy, math, logging and whatever else a region reaches."""

from __future__ import annotations

import ast
from typing import Final

from tclint import torch_facts
from tclint.semantics.events import ArrayRead, Call, DynamicShape, NumpyCall
from tclint.semantics.interpreter.arguments import Arguments
from tclint.semantics.interpreter.evaluate import need_number, need_sizes
from tclint.semantics.interpreter.expressions import host_read
from tclint.semantics.interpreter.factories import create_module, create_parameter, create_tensor
from tclint.semantics.interpreter.frame import Frame
from tclint.semantics.interpreter.operators import held
from tclint.semantics.interpreter.sinks import LOGGER
from tclint.semantics.interpreter.tensor_calls import call_function_of_torch
from tclint.semantics.lattice import is_static, is_tensor, options, tensor_in
from tclint.semantics.values import (
    FALSE,
    TRUE,
    UNKNOWN,
    DataScalar,
    Iteration,
    NDArray,
    NumpyScalar,
    Object,
    Sequence,
    Static,
    SymInt,
    Tensor,
    Value,
)
from tclint.torch_facts.compiling import COMPILING, COMPILING_NAMES, NOT_COMPILING, SCRIPT

_LOGGERS: Final = frozenset({"getLogger", "get_logger"})


def call_library(frame: Frame, node: ast.Call, name: str, arguments: Arguments) -> Value:
    """The result of calling a library's function or class by its dotted name."""
    result = _called(frame, node, name, arguments)
    made = torch_facts.instance_class(name)
    return result if made is None else Object(made, site=node)


def _called(frame: Frame, node: ast.Call, name: str, arguments: Arguments) -> Value:
    last = name.rpartition(".")[2]
    if name in COMPILING or last in COMPILING_NAMES:
        return _is_compiling(frame)
    if name in NOT_COMPILING:
        return FALSE
    if name in SCRIPT and arguments.positional:
        frame.analysis.scripted.append((arguments.positional[0], frame.body.module))
    if last in _LOGGERS:
        frame.analysis.emit(frame, Call, node, function=name, call=node)
        return Object(LOGGER, site=node)
    if name.startswith("torch."):
        return _call_torch(frame, node, name, arguments)
    if name.startswith("numpy."):
        return _call_numpy(frame, node, name, arguments)
    if name.startswith("math."):
        return _call_math(frame, node, arguments)
    frame.analysis.emit(frame, Call, node, function=name, call=node, arguments=arguments.positional)
    if name.startswith("random."):
        if name in torch_facts.DRAWN:
            return drawn(frame, node, name)
        # At others the graph breaks, and what they answer is a number like any other.
        return Static("float") if last == "gauss" else UNKNOWN
    return Object(name, site=node) if last[:1].isupper() else UNKNOWN


def drawn(frame: Frame, node: ast.Call, name: str) -> Value:
    """The number that ``random.randint()`` and its like give."""
    kind = "int" if name.endswith(("randint", "randrange")) else "float"
    if frame.region is None:
        return Static(kind)
    frame.analysis.drawn[node] = name
    return NumpyScalar(kind, origin="drawn", made=(node,))


def _is_compiling(frame: Frame) -> Value:
    """Known in compiled code, and at the top level of a module, which no compiled code runs."""
    if frame.region is not None:
        return TRUE
    return Static("bool") if frame.body.function is not None else FALSE


def _call_torch(frame: Frame, node: ast.Call, name: str, arguments: Arguments) -> Value:
    if name in ("torch.nn.Parameter", "torch.nn.parameter.Parameter"):
        return create_parameter(frame, node, "torch.nn.Parameter", arguments)
    if name in ("torch.nn.Buffer", "torch.nn.parameter.Buffer"):
        data = tensor_in(arguments.positional[0]) if arguments.positional else None
        known = data or Tensor()
        return Tensor(known.rank, held(known.dtype), None, role="buffer", why="registered buffer")
    if torch_facts.factory(name) is not None:
        if torch_facts.is_skipped(name) or "generator" in arguments.keywords:
            given = arguments.positional
            frame.analysis.emit(frame, Call, node, function=name, call=node, arguments=given)
        return create_tensor(frame, node, name, arguments)
    if torch_facts.is_module(name):
        return create_module(frame, node, name, arguments)
    if name == "torch.is_tensor":
        return _is_tensor(arguments)
    return call_function_of_torch(frame, node, name, arguments)


def _is_tensor(arguments: Arguments) -> Value:
    if arguments.positional and isinstance(arguments.positional[0], Tensor):
        return TRUE
    return Static("bool")


def _call_numpy(frame: Frame, node: ast.Call, name: str, arguments: Arguments) -> Value:
    frame.analysis.emit(
        frame, NumpyCall, node, function=name, call=node, arguments=arguments.positional
    )
    kind = torch_facts.numpy_returns(name)
    values = arguments.positional
    arrays = any(isinstance(value, NDArray) for value in values)
    last = name.rpartition(".")[2]
    if arrays and last in ("allclose", "array_equal"):
        frame.analysis.emit(frame, ArrayRead, node, via=last)
        return DataScalar("bool")
    numbers = bool(values) and all(is_static(v) or isinstance(v, NumpyScalar) for v in values)
    if last in _SELECTING and not (last == "where" and len(values) != 1):
        report_selection(frame, node, last)
    if last in _SIZED or last in _SHAPED:
        _need_sizes(frame, node, last, arguments)
    if name == "numpy.arange":
        return Iteration(NumpyScalar("int" if _whole(arguments) else None, from_loop=True), "numpy")
    converts = last in ("array", "asarray")
    if kind == "pointwise" or converts:
        if numbers:
            return _number(frame, node, name, values)
        return NDArray() if arrays or converts else UNKNOWN
    if kind == "scalar":
        return NDArray() if arrays and _keeps_axes(node) else _number(frame, node, name, values)
    if kind != "array":
        return UNKNOWN
    return _several(last, node) or NDArray()


def _need_sizes(frame: Frame, node: ast.Call, last: str, arguments: Arguments) -> None:
    """The numbers that a function takes as sizes, alone or in a shape."""
    given = list(zip(node.args, arguments.positional, strict=False))
    if last in _SHAPED and last != "indices":
        del given[:1]  # the array itself
    for keyword in node.keywords:
        if keyword.arg in arguments.keywords:
            given.append((keyword.value, arguments.keywords[keyword.arg]))
    for part, value in given:
        need_sizes(frame, part, value)


def _several(last: str, node: ast.Call) -> Value | None:
    """The arrays of a function that gives more than one, which an index picks from."""
    asked = any((keyword.arg or "").startswith("return_") for keyword in node.keywords)
    if last in _TUPLES or (last == "where" and len(node.args) == 1) or (last == "unique" and asked):
        return Sequence("tuple", NDArray())
    return Sequence("list", NDArray()) if last in _LISTS else None


# One array for each axis, or for each part.
_TUPLES: Final = frozenset({"histogram", "nonzero"})
_LISTS: Final = frozenset({"meshgrid", "split"})
_SIZED: Final = frozenset(
    {"arange", "empty", "eye", "full", "identity", "linspace", "ones", "zeros"}
)
_SHAPED: Final = frozenset({"broadcast_to", "indices", "reshape", "roll"})
_MEASURING: Final = ("numpy.ndim", "numpy.size")


_SELECTING: Final = frozenset({"argwhere", "flatnonzero", "nonzero", "unique", "where"})


def report_selection(frame: Frame, node: ast.Call, name: str) -> None:
    """Report a function of numpy that gives as many elements as the data says."""
    frame.analysis.emit(
        frame, DynamicShape, node, via=name, gb_id="GB0036", source=node.func, tensor=Tensor()
    )


def _keeps_axes(node: ast.Call) -> bool:
    """True for a reduction along an axis: what is left of an array may have others."""
    return len(node.args) > 1 or any(keyword.arg == "axis" for keyword in node.keywords)


def _number(frame: Frame, node: ast.Call, name: str, values: tuple[Value, ...]) -> Value:
    """The number that a function of numpy gives, and how much Dynamo knows of it."""
    kind = torch_facts.numpy_number_type(name.removeprefix("numpy.")) or _type_of(values)
    if name.endswith((".sum", ".prod")) and kind == "bool":
        kind = "int"
    if frame.region is None:
        return NumpyScalar(kind, origin="outside")
    converted = not torch_facts.numpy_reduces(name.removeprefix("numpy."))
    array = any(isinstance(v, NDArray) or (converted and is_tensor(v)) for v in values)
    if array and name not in _MEASURING:
        return NumpyScalar(kind, origin="array")
    origin = "constant" if array else _origin(values)
    if origin == "computed" and node.args and _has_one_size(frame, node.args[0]):
        origin = "constant"
    if origin and torch_facts.numpy_reduces(name.removeprefix("numpy.")) and Static() in values:
        origin = "computed"  # a setting that is reduced holds several numbers
    number = NumpyScalar(kind, origin=origin, made=(node,))
    if name in _MEASURING and number.origin is not None:
        # Dynamo knows the answer, and has no tensor for it.
        frame.analysis.note_need(frame, number.made, node, "call")
    return number


def _has_one_size(frame: Frame, node: ast.expr) -> bool:
    """True for the shape of a tensor with one dimension, and for ``shape[:1]``."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        bounds = (node.slice.lower, node.slice.upper, node.slice.step)
        return [bound and ast.unparse(bound) for bound in bounds] in _ONE
    if not isinstance(node, ast.Attribute) or node.attr != "shape":
        return False
    tensor = tensor_in(frame.body.values.get(node.value, UNKNOWN))
    return tensor is not None and tensor.rank == 1


_ONE: Final = ([None, "1", None], ["-1", None, None])


def _origin(values: tuple[Value, ...]) -> str | None:
    origins = {_origin_of(option) for value in values for option in options(value)}
    if None in origins or not origins:
        return None
    return "constant" if origins == {"constant"} else "computed"


def _origin_of(value: Value) -> str | None:
    match value:
        case Static(type="tuple" | "list"):
            return "computed"
        case Static() | SymInt():
            return "constant"
        case NumpyScalar(origin=origin):
            return origin if origin == "constant" else origin and "computed"
        case Sequence(items=tuple() as items) if len(items) == 1:
            return _origin(items)
        case Sequence():
            members = value.items if value.items is not None else (value.element,)
            return _origin(members) and "computed"
        case Iteration(element=element, source="range" | "shape"):
            return _origin((element,)) and "computed"
    return None


def _type_of(values: tuple[Value, ...]) -> str | None:
    """The type of the numbers that are given."""
    found = {_type(option) for value in values for option in options(value)}
    if found <= {"int", "bool"} and "int" in found:
        return "int"
    if None in found or not found:
        return None
    return "float" if "float" in found else found.pop()


def _type(value: Value) -> str | None:
    match value:
        case SymInt():
            return "int"
        case Sequence():
            return _type_of(value.items if value.items is not None else (value.element,))
        case Iteration(element=element):
            return _type_of((element,))
        case Static(type=kind) if kind in ("int", "float", "bool"):
            return kind
        case NumpyScalar(type=kind):
            return kind
        case DataScalar(type=kind):
            return kind
    return None


def _whole(arguments: Arguments) -> bool:
    return all(
        isinstance(v, SymInt) or (isinstance(v, Static) and v.type == "int")
        for v in arguments.positional
    )


def _call_math(frame: Frame, node: ast.Call, arguments: Arguments) -> Value:
    for place, value in enumerate(arguments.positional):
        tensor = tensor_in(value)
        if tensor is not None and place < len(node.args):
            host_read(frame, node, "math", node.args[place], tensor)
        elif place < len(node.args):
            need_number(frame, node.args[place], value, "torch")
    return Static("float")
