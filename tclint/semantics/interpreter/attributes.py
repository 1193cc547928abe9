"""Attribute access: on tensors, modules, libraries, containers."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, TypeGuard

from tclint import torch_api
from tclint.semantics.interpreter.evaluate import evaluate, handles
from tclint.semantics.interpreter.frame import Frame
from tclint.semantics.interpreter.functions import (
    PROPERTIES,
    Arguments,
    attributes_of,
    call_function,
)
from tclint.semantics.interpreter.narrowing import path_of
from tclint.semantics.interpreter.parameters import annotation_value
from tclint.semantics.symbols import ClassInfo, FunctionInfo
from tclint.semantics.values import (
    NONE,
    STATIC,
    SYMINT,
    UNKNOWN,
    BoundExternal,
    Class,
    Compiled,
    External,
    Function,
    Iteration,
    Mapping,
    NDArray,
    Object,
    Sequence,
    Static,
    Tensor,
    Union,
    Value,
    join,
    spread,
)

if TYPE_CHECKING:
    from tclint.semantics.interpreter.analysis import Analysis

SIZE = Sequence("Size", SYMINT)
DTYPE = Static("dtype")
DEVICE = Static("device")
_TENSOR_KINDS: dict[str, Value] = {
    "size": SIZE,
    "dtype": DTYPE,
    "device": DEVICE,
    "bool": Static("bool"),
    "int": Static("int"),
    "str": Static("str"),
}


@handles(ast.Attribute)
def _attribute(frame: Frame, node: ast.Attribute) -> Value:
    base = evaluate(frame, node.value)
    if frame.tracked:
        path = path_of(node)
        tracked = frame.env.get(path) if path is not None else None
        if tracked is not None:
            return tracked
    return attribute_of(frame, base, node.attr, node)


def attribute_of(frame: Frame, base: Value, name: str, node: ast.expr) -> Value:
    """The value of ``base.name``; properties of project classes are walked."""
    if type(base) is not Union:
        return _attribute_of(frame, base, name, node)
    return spread(lambda kind: _attribute_of(frame, kind, name, node), base)


def _attribute_of(frame: Frame, base: Value, name: str, node: ast.expr) -> Value:
    match base:
        case Tensor():
            return tensor_attribute(base, name)
        case Compiled(inner=inner):
            return attribute_of(frame, inner, name, node)
        case Object(cls=ClassInfo()):
            return _object_attribute(frame, base, name, node)
        case Object(is_optimizer=True) if name == "param_groups":
            return Object("torch.optim.param_groups", site=base.site)
        case Object():
            return BoundExternal(f"{base.name}.{name}", base)
        case External():
            return frame.analysis.external(f"{base.name}.{name}", frame.body.module)
        case Class(info=info):
            return _class_attribute(frame, info, name)
        case Static():
            return (
                BoundExternal(f"builtins.{base.type}.{name}", base)
                if base.type in _TYPED
                else STATIC
            )
        case NDArray() if name in ("shape", "size", "ndim"):
            return Sequence("tuple", SYMINT) if name == "shape" else SYMINT
        case Sequence() | Mapping() | NDArray() | Iteration():
            return BoundExternal(f"builtins.{type(base).__name__}.{name}", base)
        case Function(info=info) if name == "__name__":
            return Static("str", info.name, known=True)
    return UNKNOWN


_TYPED = frozenset({"str", "bytes", "int", "float", "dtype", "device"})


def tensor_attribute(tensor: Tensor, name: str) -> Value:
    """An attribute of a tensor, or the method of that name."""
    if name in ("T", "mT", "H", "mH", "data", "real", "imag"):
        return Tensor(tensor.rank, tensor.dtype, tensor.device, assumed=tensor.assumed)
    if name == "grad":
        return join((Tensor(tensor.rank, tensor.dtype), NONE))
    kind = torch_api.attribute_kind(name)
    if kind in _TENSOR_KINDS:
        return _TENSOR_KINDS[kind]
    return BoundExternal(f"torch.Tensor.{name}", tensor)


def _class_attribute(frame: Frame, info: ClassInfo, name: str) -> Value:
    method = frame.analysis.project.method(info, name)
    if method is not None:
        bound = Class(info) if "classmethod" in method.decorators else None
        return Function(method, bound)
    return _class_level(frame, info, name)


def _object_attribute(frame: Frame, base: Object, name: str, node: ast.expr) -> Value:
    assert base.cls is not None
    analysis = frame.analysis
    above = _super_class(analysis, base)
    method = analysis.project.method(base.cls, name, after=above)
    if above is not None:
        receiver = Object(base.cls.qualname, base.cls, is_module=base.is_module)
        return Function(method, receiver) if method else _library_member(receiver, name)
    if method is not None:
        return _bound_method(frame, base, method, node)
    attributes = attributes_of(analysis, base.cls)
    if name in attributes:
        return attributes[name]
    value = _class_level(frame, base.cls, name)
    if value != UNKNOWN:
        return value
    if base.is_module:
        return Static("bool") if name == "training" else _library_member(base, name)
    return UNKNOWN


def _super_class(analysis: Analysis, base: Object) -> ClassInfo | None:
    """The class after which ``super()`` starts to look."""
    if base.name != "super" or base.cls is None:
        return None
    return next((c for c in analysis.project.ancestry(base.cls) if _made_by(c, base.site)), None)


def _made_by(cls: ClassInfo | str, node: ast.AST | None) -> TypeGuard[ClassInfo]:
    return isinstance(cls, ClassInfo) and cls.node is node


_MODULE_METHODS = frozenset(
    {
        "register_buffer", "register_parameter", "parameters", "named_parameters", "buffers",
        "modules", "children", "named_children", "named_modules", "state_dict", "eval", "train",
        "to", "cuda", "cpu", "half", "float", "requires_grad_", "zero_grad", "apply", "compile",
        "add_module", "register_module", "__call__", "load_state_dict",
    }
)  # fmt: skip


def _library_member(base: Object, name: str) -> Value:
    if name in _MODULE_METHODS:
        return BoundExternal(f"torch.nn.Module.{name}", base)
    return UNKNOWN


def _bound_method(frame: Frame, base: Object, method: FunctionInfo, node: ast.expr) -> Value:
    if PROPERTIES & set(method.decorators):
        return call_function(frame, Function(method, _receiver(base)), Arguments(), node)
    if "staticmethod" in method.decorators:
        return Function(method)
    if "classmethod" in method.decorators and base.cls is not None:
        return Function(method, Class(base.cls))
    return Function(method, _receiver(base))


def _receiver(base: Object) -> Object:
    """``self``: which of a class's objects it is matters for optimizers only."""
    if base.site is None or base.is_optimizer:
        return base
    return Object(base.name, base.cls, is_module=base.is_module)


def _class_level(frame: Frame, info: ClassInfo, name: str) -> Value:
    """A class attribute: assigned in the class body, or declared there by an annotation."""
    for base in frame.analysis.project.ancestry(info):
        if not isinstance(base, ClassInfo):
            continue
        match frame.analysis.class_variables(base).get(name):
            case ast.Assign(value=value) | ast.AnnAssign(value=ast.Constant() as value):
                return _constant_of(value)
            case ast.AnnAssign(annotation=kind):
                function = next(iter(base.methods.values()), None)
                if function is not None:
                    return annotation_value(frame.analysis, function, kind)
    return UNKNOWN


def _constant_of(node: ast.expr) -> Value:
    if isinstance(node, ast.Constant):
        return Static(type(node.value).__name__, default_off=node.value is False)
    return STATIC if isinstance(node, (ast.List, ast.Tuple, ast.Dict, ast.Set)) else UNKNOWN
