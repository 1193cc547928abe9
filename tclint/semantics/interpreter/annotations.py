"""What an annotation promises: tensors, plain types, classes, containers and aliases of them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from tclint import torch_facts
from tclint.semantics.collect import dotted_name
from tclint.semantics.lattice import join, may_be_tensor, options, with_dtype
from tclint.semantics.symbols import ClassInfo, FunctionInfo, ModuleInfo
from tclint.semantics.values import (
    NONE,
    UNKNOWN,
    DType,
    Mapping,
    NDArray,
    Object,
    Sequence,
    Static,
    Tensor,
    Value,
)
from tclint.torch_facts.dtypes import DTYPES, TYPED
from tclint.torch_facts.modules import MODULE_CLASSES

if TYPE_CHECKING:
    from tclint.semantics.interpreter.analysis import Analysis

_TYPED_TENSORS: Final = {
    f"torch.{name}": DType(dtype, DTYPES[dtype]) for name, dtype in TYPED.items()
}
_PLAIN_TYPES: Final = frozenset({"int", "float", "bool", "str", "bytes"})
_SEQUENCES: Final = {
    "list": "list", "List": "list", "Sequence": "list", "Iterable": "list",
    "tuple": "tuple", "Tuple": "tuple",
}  # fmt: skip
_MAPPINGS: Final = frozenset({"dict", "Dict", "Mapping", "MutableMapping"})
_OPTIONAL: Final = frozenset({"typing.Optional", "Optional"})
_UNION: Final = frozenset({"typing.Union", "Union"})
# These say more about their first argument, or something of no interest here.
_TRANSPARENT: Final = frozenset(
    f"{package}.{name}"
    for package in ("typing", "typing_extensions")
    for name in ("Annotated", "ClassVar", "Final", "Required", "NotRequired")
)


def annotation_value(
    analysis: Analysis,
    info: FunctionInfo | ClassInfo,
    node: ast.expr | None,
    dtype: DType | None = None,
) -> Value:
    """The value that an annotation promises; Unknown where it says nothing usable.

    ``info`` is what the annotation belongs to.
    """
    return _value(analysis, info.module, node, dtype)


def kept_promise(value: Value, promised: Value) -> Value:
    """A value, completed by what an annotation promises where it is not known."""
    if value is UNKNOWN:
        return promised
    if isinstance(value, Mapping) and isinstance(promised, Mapping) and value.element is UNKNOWN:
        return Mapping(value.items, promised.element)
    return value


def _value(
    analysis: Analysis, module: ModuleInfo, node: ast.expr | None, dtype: DType | None = None
) -> Value:
    if node is None:
        return UNKNOWN
    if dtype is not None:
        return _promised(analysis, module, node, dtype)
    known = analysis.annotations.get(node)
    if known is None:
        analysis.annotations[node] = UNKNOWN  # where an alias leads to itself
        known = analysis.annotations[node] = _promised(analysis, module, node, None)
    return known


def _promised(analysis: Analysis, module: ModuleInfo, node: ast.expr, dtype: DType | None) -> Value:
    match node:
        case ast.Constant(value=None):
            return NONE
        case ast.Constant(value=str() as text):
            return _value(analysis, module, _parse(text), dtype)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _either(analysis, module, [left, right], dtype)
        case ast.Subscript(value=generic, slice=argument):
            return _generic(analysis, module, generic, argument, dtype)
    name = dotted_name(module, node)
    return UNKNOWN if name is None else _named(analysis, module, name, dtype)


def _named(analysis: Analysis, module: ModuleInfo, name: str, dtype: DType | None) -> Value:
    if name in {"torch.Tensor", "torch.nn.Parameter"} or name in _TYPED_TENSORS:
        # A library's models run in any floating type, whatever its annotations were written for.
        typed = None if module.installed else _TYPED_TENSORS.get(name)
        return Tensor(dtype=typed or dtype, why="annotated as a tensor")
    if name in _PLAIN_TYPES:
        return Static(name)
    if name in {"numpy.ndarray", "numpy.typing.NDArray"}:
        return NDArray()
    if name in MODULE_CLASSES:
        return Object("torch.nn.Module", is_module=True)
    made = torch_facts.instance_class(name)
    if made == name:
        return Object(made)
    found = analysis.project.lookup(name, module) or module.classes.get(name)
    if isinstance(found, ClassInfo) and analysis.project.is_tensor_class(found):
        return Tensor(dtype=dtype, why="annotated as a tensor", cls=found)
    if isinstance(found, ClassInfo):
        return Object(found.qualname, found, is_module=analysis.project.is_module_class(found))
    if isinstance(found, tuple):
        return _alias(analysis, *found, dtype)
    return _alias(analysis, module, name, dtype)


def _alias(analysis: Analysis, module: ModuleInfo, name: str, dtype: DType | None) -> Value:
    """What ``OptTensor = Optional[Tensor]`` promises."""
    meant = module.assigned.get(name)
    if not isinstance(meant, (ast.Subscript, ast.BinOp, ast.Attribute, ast.Name)):
        return UNKNOWN
    value = _value(analysis, module, meant)
    if dtype is None:
        return value
    return join(
        [
            with_dtype(option, dtype)
            if isinstance(option, Tensor) and option.dtype is None
            else option
            for option in options(value)
        ]
    )


def _parse(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        return None


def _either(
    analysis: Analysis, module: ModuleInfo, nodes: list[ast.expr], dtype: DType | None
) -> Value:
    values = [_value(analysis, module, node, dtype) for node in nodes]
    known = UNKNOWN not in values or any(map(may_be_tensor, values))
    return join(values) if known else UNKNOWN


def _generic(
    analysis: Analysis,
    module: ModuleInfo,
    generic: ast.expr,
    argument: ast.expr,
    dtype: DType | None,
) -> Value:
    name = dotted_name(module, generic) or ""
    if name in _OPTIONAL:
        return _either(analysis, module, [argument, ast.Constant(None)], dtype)
    elements = argument.elts if isinstance(argument, ast.Tuple) else [argument]
    if name in _UNION:
        return _either(analysis, module, elements, dtype)
    if name in _TRANSPARENT:
        return _value(analysis, module, elements[0], dtype)
    last = name.rpartition(".")[2]
    if last in _MAPPINGS and len(elements) == 2:
        element = _value(analysis, module, elements[1])
        return Mapping((), element) if element is not UNKNOWN else UNKNOWN
    kind = _SEQUENCES.get(last)
    if kind is None:
        return UNKNOWN
    values = [_value(analysis, module, e) for e in elements if not _ellipsis(e)]
    if kind == "tuple" and isinstance(argument, ast.Tuple) and not any(map(_ellipsis, elements)):
        return Sequence("tuple", items=tuple(values))
    return Sequence(kind, join(values) if values else UNKNOWN)


def _ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...
