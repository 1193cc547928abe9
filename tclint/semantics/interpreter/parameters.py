"""What a parameter holds when no call says: from its annotation, its default, its name."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tclint.semantics.collect import dotted_name
from tclint.semantics.lattice import join
from tclint.semantics.project import MODULE_CLASSES
from tclint.semantics.symbols import ClassInfo, FunctionInfo, FunctionNode
from tclint.semantics.values import (
    NONE,
    STATIC,
    UNKNOWN,
    DType,
    NDArray,
    Object,
    Sequence,
    Static,
    Tensor,
    Value,
)

if TYPE_CHECKING:
    from tclint.semantics.interpreter.analysis import Analysis

_TYPED_TENSORS = {
    "torch.LongTensor": DType("int64", "int"),
    "torch.IntTensor": DType("int32", "int"),
    "torch.BoolTensor": DType("bool", "bool"),
    "torch.FloatTensor": DType("float32", "float"),
    "torch.DoubleTensor": DType("float64", "float"),
    "torch.HalfTensor": DType("float16", "float"),
}
_PLAIN_TYPES = frozenset({"int", "float", "bool", "str", "bytes"})
_SEQUENCES = {
    "list": "list", "List": "list", "Sequence": "list", "Iterable": "list",
    "tuple": "tuple", "Tuple": "tuple",
}  # fmt: skip
_OPTIONAL = frozenset({"typing.Optional", "Optional"})
_UNION = frozenset({"typing.Union", "Union"})

# Names under which an optional tensor is passed around in model code ("mask=None").
_TENSOR_NAME = re.compile(
    r"^(?!(?:output|return|use|is|has|do|with|num|max|min|add|skip|no)_)(?:.*_)?"
    r"(masks?|ids|labels?|targets?|states?|embeds?|embeddings?|logits|indices|positions?|"
    r"lengths?|features?|images?|pixel_values|query|key|value|tokens|inputs?|bias|x|y|z|q|k|v)$"
)


def arguments_of(node: FunctionNode) -> list[tuple[ast.arg, ast.expr | None]]:
    """The named parameters with their defaults, in order, without ``*args`` and ``**kwargs``."""
    spec = node.args
    positional = [*spec.posonlyargs, *spec.args]
    missing = len(positional) - len(spec.defaults)
    defaults: list[ast.expr | None] = [*([None] * missing), *spec.defaults]
    return [
        *zip(positional, defaults, strict=True),
        *zip(spec.kwonlyargs, spec.kw_defaults, strict=True),
    ]


def assumed_value(
    analysis: Analysis, info: FunctionInfo, argument: ast.arg, default: ast.expr | None
) -> Value:
    """The value of a region root's parameter.

    Annotations are believed. An unannotated parameter without default is taken for a tensor (and
    marked ``assumed``), one with a constant default for a constant, one with ``None`` for a tensor
    where its name says so.
    """
    dtype = DType(f"~{argument.arg}:{info.qualname}:{argument.lineno}")
    annotated = annotation_value(analysis, info, argument.annotation, dtype)
    if annotated != UNKNOWN:
        return _with_default(annotated, default)
    if argument.annotation is not None:
        return UNKNOWN
    why = f"parameter `{argument.arg}` of `{info.qualname}`"
    tensor = Tensor(dtype=dtype, assumed=True, why=why)
    match default:
        case None:
            return STATIC if used_as_number(analysis, info.node, argument.arg) else tensor
        case ast.Constant(value=None):
            named = _TENSOR_NAME.search(argument.arg)
            return join((tensor, NONE)) if named else UNKNOWN
        case ast.Constant(value=constant):
            return Static(type(constant).__name__, default_off=constant is False)
    return UNKNOWN


def _with_default(value: Value, default: ast.expr | None) -> Value:
    match default:
        case ast.Constant(value=None):
            return join((value, NONE))
        case ast.Constant(value=False) if isinstance(value, Static):
            return Static(value.type, default_off=True)
    return value


def annotation_value(
    analysis: Analysis,
    info: FunctionInfo | ClassInfo,
    node: ast.expr | None,
    dtype: DType | None = None,
) -> Value:
    """The value that an annotation promises; Unknown where it says nothing usable.

    ``info`` is what the annotation belongs to.
    """
    if node is None:
        return UNKNOWN
    if dtype is not None:
        return _promised(analysis, info, node, dtype)
    known = analysis.annotations.get(node)
    if known is None:
        known = analysis.annotations[node] = _promised(analysis, info, node, None)
    return known


def _promised(
    analysis: Analysis, info: FunctionInfo | ClassInfo, node: ast.expr, dtype: DType | None
) -> Value:
    match node:
        case ast.Constant(value=None):
            return NONE
        case ast.Constant(value=str() as text):
            return annotation_value(analysis, info, _parse(text), dtype)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _either(analysis, info, [left, right], dtype)
        case ast.Subscript(value=generic, slice=argument):
            return _generic(analysis, info, generic, argument, dtype)
    name = dotted_name(info.module, node)
    if name is None:
        return UNKNOWN
    if name in {"torch.Tensor", "torch.nn.Parameter"} or name in _TYPED_TENSORS:
        # A library's models run in any floating type, whatever its annotations were written for.
        typed = None if info.module.installed else _TYPED_TENSORS.get(name)
        return Tensor(dtype=typed or dtype, why="annotated as a tensor")
    if name in _PLAIN_TYPES:
        return Static(name)
    if name in {"numpy.ndarray", "numpy.typing.NDArray"}:
        return NDArray()
    if name in MODULE_CLASSES:
        return Object("torch.nn.Module", is_module=True)
    found = analysis.project.lookup(name, info.module) or info.module.classes.get(name)
    if isinstance(found, ClassInfo):
        return Object(found.qualname, found, is_module=analysis.project.is_module_class(found))
    return UNKNOWN


def _parse(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        return None


def _either(
    analysis: Analysis,
    info: FunctionInfo | ClassInfo,
    nodes: list[ast.expr],
    dtype: DType | None,
) -> Value:
    values = [annotation_value(analysis, info, node, dtype) for node in nodes]
    return UNKNOWN if UNKNOWN in values else join(values)


def _generic(
    analysis: Analysis,
    info: FunctionInfo | ClassInfo,
    generic: ast.expr,
    argument: ast.expr,
    dtype: DType | None,
) -> Value:
    name = dotted_name(info.module, generic) or ""
    if name in _OPTIONAL:
        return _either(analysis, info, [argument, ast.Constant(None)], dtype)
    if name in _UNION and isinstance(argument, ast.Tuple):
        return _either(analysis, info, argument.elts, dtype)
    kind = _SEQUENCES.get(name.rpartition(".")[2])
    if kind is None:
        return UNKNOWN
    elements = argument.elts if isinstance(argument, ast.Tuple) else [argument]
    values = [annotation_value(analysis, info, e) for e in elements if not _ellipsis(e)]
    if kind == "tuple" and isinstance(argument, ast.Tuple) and not any(map(_ellipsis, elements)):
        return Sequence("tuple", items=tuple(values))
    return Sequence(kind, join(values) if values else UNKNOWN)


def _ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def used_as_number(analysis: Analysis, node: FunctionNode, name: str) -> bool:
    """True where the body uses a parameter in ways that only a Python number allows.

    ``range(n)`` and slice bounds would read a tensor on the host; nobody passes one there on
    purpose without annotating it.
    """
    if node not in analysis.numbers:
        analysis.numbers[node] = _number_names(node)
    return name in analysis.numbers[node]


def _number_names(node: FunctionNode) -> frozenset[str]:
    names: set[str] = set()
    for inner in ast.walk(node):
        match inner:
            case ast.Call(func=ast.Name(id="range"), args=parts):
                names.update(part.id for part in parts if isinstance(part, ast.Name))
            case ast.Slice(lower=lower, upper=upper):
                names.update(part.id for part in (lower, upper) if isinstance(part, ast.Name))
    return frozenset(names)
