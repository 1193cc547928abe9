"""Calls of libraries: torch, numpy, math, logging and whatever else a region reaches."""

from __future__ import annotations

import ast
from typing import Final

from tclint import torch_api
from tclint.semantics.events import ArrayRead, Call, NumpyCall
from tclint.semantics.interpreter.evaluate import need_number
from tclint.semantics.interpreter.expressions import host_read
from tclint.semantics.interpreter.factories import create_module, create_parameter, create_tensor
from tclint.semantics.interpreter.frame import Frame
from tclint.semantics.interpreter.functions import Arguments
from tclint.semantics.interpreter.operators import held
from tclint.semantics.interpreter.sinks import LOGGER
from tclint.semantics.interpreter.tensor_calls import call_function_of_torch
from tclint.semantics.lattice import is_static, tensor_in
from tclint.semantics.values import (
    FALSE,
    TRUE,
    UNKNOWN,
    DataScalar,
    Iteration,
    NDArray,
    NumpyScalar,
    Object,
    Static,
    SymInt,
    Tensor,
    Value,
)

COMPILING: Final = frozenset(
    {
        "torch.compiler.is_compiling", "torch.compiler.is_dynamo_compiling",
        "torch._dynamo.is_compiling", "torch._dynamo.external_utils.is_compiling",
        "torch._utils.is_compiling",
    }
)  # fmt: skip
COMPILING_NAMES: Final = frozenset(
    {"is_torchdynamo_compiling", "is_dynamo_compiling", "is_compiling"}
)
NOT_COMPILING: Final = frozenset(
    {
        "torch.jit.is_scripting", "torch.jit.is_tracing", "torch.onnx.is_in_onnx_export",
        "torch.compiler.is_exporting", "torch._C._get_tracing_state",
    }
)  # fmt: skip
SCRIPT: Final = ("torch.jit.script", "torch.jit.script_if_tracing")
_LOGGERS: Final = frozenset({"getLogger", "get_logger"})


def call_library(frame: Frame, node: ast.Call, name: str, arguments: Arguments) -> Value:
    """The result of calling a library's function or class by its dotted name."""
    result = _called(frame, node, name, arguments)
    made = torch_api.instance_class(name)
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
        if name in torch_api.DRAWN:
            return NumpyScalar("float" if last == "uniform" else None)
        # At others the graph breaks, and what they answer is a number like any other.
        return Static("float") if last in ("random", "gauss") else UNKNOWN
    return Object(name, site=node) if last[:1].isupper() else UNKNOWN


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
    if torch_api.factory(name) is not None:
        if torch_api.skipped_by_dynamo(name) is not None or "generator" in arguments.keywords:
            given = arguments.positional
            frame.analysis.emit(frame, Call, node, function=name, call=node, arguments=given)
        return create_tensor(frame, node, name, arguments)
    if torch_api.is_module(name):
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
    kind = torch_api.numpy_returns(name)
    values = arguments.positional
    arrays = any(isinstance(value, NDArray) for value in values)
    last = name.rpartition(".")[2]
    if arrays and last in ("allclose", "array_equal"):
        frame.analysis.emit(frame, ArrayRead, node, via=last)
        return DataScalar("bool")
    numbers = bool(values) and all(is_static(v) or isinstance(v, NumpyScalar) for v in values)
    if name == "numpy.arange":
        return Iteration(NumpyScalar("int" if _whole(arguments) else None, from_loop=True), "numpy")
    converts = last in ("array", "asarray")
    if kind == "pointwise" or converts:
        if numbers:
            return NumpyScalar()
        return NDArray() if arrays or converts else UNKNOWN
    if kind == "scalar":
        return NumpyScalar(of_array=arrays)
    return NDArray() if kind == "array" else UNKNOWN


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
            need_number(frame, node.args[place], value)
    return Static("float")
