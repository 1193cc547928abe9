"""Attribute access: on tensors, modules, libraries, containers."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeGuard

from tclint import torch_facts
from tclint.semantics.collect import dotted_name
from tclint.semantics.interpreter.abstract import implementation
from tclint.semantics.interpreter.annotations import annotation_value
from tclint.semantics.interpreter.arguments import AUTOGRAD_CONTEXT, GRADIENT, Arguments
from tclint.semantics.interpreter.contexts import ask
from tclint.semantics.interpreter.evaluate import evaluate, handles
from tclint.semantics.interpreter.frame import Frame
from tclint.semantics.interpreter.functions import PROPERTIES, attributes_of, call_function
from tclint.semantics.interpreter.special import special
from tclint.semantics.interpreter.transfer import made_of
from tclint.semantics.lattice import as_assumed, join, options, spread, with_dtype
from tclint.semantics.symbols import ClassInfo, FunctionInfo, ways_of
from tclint.semantics.syntax import path_of
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
    NumpyScalar,
    Object,
    Sequence,
    Static,
    Tensor,
    Union,
    Unknown,
    Value,
    set_by_default,
)
from tclint.torch_facts.modules import HOOKS, MODULE_METHODS

if TYPE_CHECKING:
    from tclint.semantics.interpreter.analysis import Analysis

SIZE: Final = Sequence("Size", SYMINT)
# Dynamo takes a parameter's sizes for constants: they are the same in each call.
_FIXED_SIZE: Final = Sequence("Size", Static("int"))
DTYPE: Final = Static("dtype")
DEVICE: Final = Static("device")
_SPELLED_OUT: Final = (ast.Constant, ast.UnaryOp, ast.Tuple, ast.List)
_TENSOR_KINDS: Final[dict[str, Value]] = {
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
    if frame.tracked and not isinstance(base, External):
        tracked = frame.env.get(path_of(node) or "")
        if tracked is not None:
            return tracked
    return attribute_of(frame, base, node.attr, node)


def attribute_of(frame: Frame, base: Value, name: str, node: ast.expr) -> Value:
    """The value of ``base.name``; properties of project classes are walked."""
    if type(base) is not Union:
        return _attribute_of(frame, base, name, node)
    if UNKNOWN in base.members and torch_facts.is_tensor_member(name):
        base = _as_tensor(base)
    return spread(lambda kind: _attribute_of(frame, kind, name, node), base)


def _as_tensor(value: Union) -> Value:
    """A tensor, or something that is not known and used like it: then that is one, too."""
    tensors = [option for option in value.options if isinstance(option, Tensor)]
    if not tensors:
        return value
    rest = [o for o in value.options if o is not UNKNOWN and not isinstance(o, Tensor)]
    return join([*rest, *map(as_assumed, tensors)])


def _attribute_of(frame: Frame, base: Value, name: str, node: ast.expr) -> Value:
    access = _ACCESS.get(type(base))
    return UNKNOWN if access is None else access(frame, base, name, node)


def _of_unknown(frame: Frame, _base: Value, name: str, node: ast.expr) -> Value:
    """Some names mean one thing on whatever has them."""
    if name in ("device", "dtype"):
        return _TENSOR_KINDS[name]
    if torch_facts.is_only_of_tensors(name) or _is_call_of_array(frame, name, node):
        return tensor_attribute(Tensor(assumed=True, why=f"has the method `{name}`"), name)
    if name in HOOKS:
        module = Object("torch.nn.Module", is_module=True)
        return BoundExternal(f"torch.nn.Module.{name}", module)
    return UNKNOWN


def _is_call_of_array(frame: Frame, name: str, node: ast.expr) -> bool:
    """True for ``y.sum(1)`` in compiled code; ``y.mean(x)`` may be a layer of that name."""
    if frame.region is None or not torch_facts.is_only_of_arrays(name):
        return False
    call = _call_of(frame, node)
    return call is not None and all(isinstance(given, _SPELLED_OUT) for given in call.args)


def _of_tensor(frame: Frame, base: Tensor, name: str, node: ast.expr) -> Value:
    if base.cls is not None:
        own = _of_tensor_class(frame, base, base.cls, name, node)
        if own is not None:
            return own
    if base.assumed and not torch_facts.is_tensor_member(name):
        return UNKNOWN  # then it is none
    if name in ("values", "indices") and not _is_called(frame, node):
        return base if name == "values" else with_dtype(base, None)  # of `x.max(dim=0)`
    return tensor_attribute(base, name)


def _of_tensor_class(
    frame: Frame, base: Tensor, cls: ClassInfo, name: str, node: ast.expr
) -> Value | None:
    """What a class of the project adds to tensors; None for what all of them have."""
    project = frame.analysis.project
    method = project.method(cls, name)
    if method is not None:
        return _bound_to(frame, base, cls, method, node)
    held = attributes_of(frame.analysis, cls).get(name) or _class_level(frame, cls, name)
    if held is not UNKNOWN:
        return _later(frame, cls, name, held)
    if torch_facts.is_tensor_member(name):
        return None
    missing = project.method(cls, "__getattr__")
    if missing is None or frame.region is None:
        return None
    given = Arguments((Static("str", name, known=True),))
    return call_function(frame, Function(missing, base), given, node)


def _is_called(frame: Frame, node: ast.expr) -> bool:
    return _call_of(frame, node) is not None


def _call_of(frame: Frame, node: ast.expr) -> ast.Call | None:
    outer = frame.body.parent(node)
    return outer if isinstance(outer, ast.Call) and outer.func is node else None


def _of_object(frame: Frame, base: Object, name: str, node: ast.expr) -> Value:
    if base.cls is not None:
        if frame.region is not None and base.name != "super":
            ask(frame.analysis.asked, base.cls, name)
        return _object_attribute(frame, base, base.cls, name, node)
    if base.fields is not None:
        return base.field(name) or UNKNOWN
    if base.is_optimizer and name == "param_groups":
        return _param_groups(base)
    if base == AUTOGRAD_CONTEXT and name == "saved_tensors":
        return Sequence("tuple", GRADIENT)
    return _foreign_attribute(base, name)


def _is_optimizer(analysis: Analysis, cls: ClassInfo) -> bool:
    above = (base for base in analysis.project.ancestry(cls) if isinstance(base, str))
    return any(base.startswith("torch.optim.") for base in above)


def _param_groups(optimizer: Object) -> Object:
    return Object("torch.optim.param_groups", site=optimizer.site)


def _foreign_attribute(base: Object, name: str) -> Value:
    if base.name == "torch.nn.Module":
        return _library_member(base, name)  # any module: it has attributes of its own
    if base.is_module and name in HOOKS:
        return BoundExternal(f"torch.nn.Module.{name}", base)
    return _of_layer(base.name, name) or BoundExternal(f"{base.name}.{name}", base)


def _of_layer(layer: str, name: str) -> Value | None:
    """A parameter or buffer of a layer of torch."""
    role = torch_facts.layer_tensor(layer, name)
    if role is None:
        return None
    tensor = Tensor(role=role, why=f"{role} of `{layer}`")
    return tensor if name == "weight" else join((tensor, NONE))


def _of_external(frame: Frame, base: External, name: str, _node: ast.expr) -> Value:
    return frame.analysis.external(f"{base.name}.{name}", frame.body.module)


def _of_class(frame: Frame, base: Class, name: str, _node: ast.expr) -> Value:
    if frame.region is not None:  # what `apply` of an autograd function calls is its `forward`
        asked = "forward" if name == "apply" else name
        ask(frame.analysis.asked, base.info, asked)
    return _class_attribute(frame, base.info, name)


def _of_static(_frame: Frame, base: Static, name: str, _node: ast.expr) -> Value:
    return BoundExternal(f"builtins.{base.type}.{name}", base) if base.type in _TYPED else STATIC


def _of_array(frame: Frame, base: NDArray, name: str, node: ast.expr) -> Value:
    if name == "shape":
        return Sequence("tuple", SYMINT)
    return SYMINT if name in ("size", "ndim") else _of_container(frame, base, name, node)


# The fields of what torch returns as named tuples, such as `x.max(dim=0)`, by their places.
_RESULTS: Final = {
    "values": 0, "indices": 1, "min": 0, "max": 1, "Q": 0, "R": 1, "U": 0, "S": 1, "V": 2, "Vh": 2,
    "P": 0, "L": 0, "LU": 0, "pivots": 1, "eigenvalues": 0, "eigenvectors": 1, "solution": 0,
    "residuals": 1, "sign": 0, "logabsdet": 1,
}  # fmt: skip


def _of_sequence(frame: Frame, base: Sequence, name: str, node: ast.expr) -> Value:
    if name in _RESULTS and base.items and all(isinstance(item, Tensor) for item in base.items):
        return base.items[min(_RESULTS[name], len(base.items) - 1)]
    return _of_container(frame, base, name, node)


def _of_container(_frame: Frame, base: Value, name: str, _node: ast.expr) -> Value:
    return BoundExternal(f"builtins.{type(base).__name__}.{name}", base)


def _of_function(_frame: Frame, base: Function, name: str, _node: ast.expr) -> Value:
    if name == "__get__":
        return BoundExternal("types.FunctionType.__get__", base)
    return Static("str", base.info.name, known=True) if name == "__name__" else UNKNOWN


_ACCESS: Final[dict[type[Value], Callable[..., Value]]] = {
    Tensor: _of_tensor,
    Unknown: _of_unknown,
    Compiled: lambda frame, base, name, node: attribute_of(frame, base.inner, name, node),
    Object: _of_object,
    External: _of_external,
    Class: _of_class,
    Static: _of_static,
    NDArray: _of_array,
    NumpyScalar: _of_container,
    Sequence: _of_sequence,
    Mapping: _of_container,
    Iteration: _of_container,
    Function: _of_function,
}
_TYPED: Final = frozenset({"str", "bytes", "int", "float", "dtype", "device"})


def tensor_attribute(tensor: Tensor, name: str) -> Value:
    """An attribute of a tensor, or the method of that name."""
    if torch_facts.attribute_kind(name) == "tensor":
        dtype = tensor.dtype
        if name in ("real", "imag") and dtype is not None:
            dtype = made_of("real", dtype)
        return Tensor(tensor.rank, dtype, tensor.device, assumed=tensor.assumed)
    if name == "grad":
        return join((Tensor(tensor.rank, tensor.dtype), NONE))
    kind = torch_facts.attribute_kind(name)
    if kind == "size" and tensor.role == "parameter":
        return _FIXED_SIZE
    if kind in _TENSOR_KINDS:
        return _TENSOR_KINDS[kind]
    return BoundExternal(f"torch.Tensor.{name}", tensor)


_LOADERS: Final = frozenset({"from_pretrained", "from_config", "_from_config"})


def _class_attribute(frame: Frame, info: ClassInfo, name: str) -> Value:
    if name in _LOADERS and info.module.installed and frame.analysis.project.is_module_class(info):
        return Class(info)  # called like the class itself, with weights from elsewhere
    method = frame.analysis.project.method(info, name)
    if method is not None:
        bound = Class(info) if "classmethod" in method.decorators else None
        return Function(method, bound)
    if name in ("__name__", "__qualname__"):
        return Static("str", info.name if name == "__name__" else info.qualname, known=True)
    called = applied(frame.analysis, info) if name == "apply" else None
    return called or _later(frame, info, name, _class_level(frame, info, name))


def _later(frame: Frame, cls: ClassInfo, name: str, made: Value) -> Value:
    """What an attribute may be in compiled code, where somebody may have written to it."""
    if frame.region is None or made is UNKNOWN or isinstance(made, (Tensor, Object)):
        return made
    return frame.analysis.changes.attribute(frame, cls, name, made)


_AUTOGRAD: Final = frozenset({"torch.autograd.Function", "torch.autograd.function.Function"})


def applied(analysis: Analysis, info: ClassInfo) -> Function | None:
    """What ``apply`` of an autograd function calls: Dynamo traces its ``forward``; else None."""
    if _AUTOGRAD.isdisjoint(base for base in analysis.project.ancestry(info) if type(base) is str):
        return None
    forward = analysis.project.method(info, "forward")
    if forward is None:
        return None
    without = analysis.project.method(info, "setup_context") is not None
    return Function(forward, None if without else AUTOGRAD_CONTEXT)


def _object_attribute(
    frame: Frame, base: Object, cls: ClassInfo, name: str, node: ast.expr
) -> Value:
    analysis = frame.analysis
    above = _super_class(analysis, base)
    method = analysis.project.method(cls, name, after=above)
    if above is not None:
        receiver = Object(cls.qualname, cls, is_module=base.is_module, fields=base.fields)
        if method is None and name == "__call__" and base.is_module:
            method = analysis.project.method(cls, "forward")  # which `nn.Module.__call__` calls
        return Function(method, receiver) if method else _library_member(receiver, name)
    if method is not None:
        below = implementation(frame, base, cls, method, node)
        return below or _one_of(frame, _receiver(base), cls, method, node)
    if name == "__class__":
        return Class(cls)
    held = _held(frame, base, cls, name)
    if held is not None:
        held = held if base.is_module else _as_declared(frame, cls, name, held)
        return _later(frame, cls, name, held)
    value = _class_level(frame, cls, name)
    if value is not UNKNOWN:
        return _later(frame, cls, name, value)
    if base.is_module:
        if name == "training":
            return Static("bool")
        layers = [above for above in analysis.project.ancestry(cls) if isinstance(above, str)]
        known = (_of_layer(layer, name) for layer in layers)
        later = next(filter(None, known), None) or _library_member(base, name)
    elif name == "_replace" and base.fields is not None:
        return BoundExternal("typing.NamedTuple._replace", base)
    elif name == "param_groups" and _is_optimizer(analysis, cls):
        return _param_groups(base)
    else:
        later = _set_elsewhere(frame, cls, name)
    if later is not UNKNOWN or name.startswith("__"):
        return later
    return special(frame, node, base, "__getattr__", Static("str", name, known=True)) or UNKNOWN


def _held(frame: Frame, base: Object, cls: ClassInfo, name: str) -> Value | None:
    """What the object was made with; for one that was made elsewhere, what such objects are."""
    if base.fields is None:
        return attributes_of(frame.analysis, cls).get(name)
    return base.field(name)


def _as_declared(frame: Frame, cls: ClassInfo, name: str, held: Value) -> Value:
    """What an object was made with, or what its class says where that was not known.

    Not for modules: what those are given is configuration, whatever class of it is meant.
    """
    if held is not STATIC and held is not UNKNOWN:
        return held
    for base in frame.analysis.project.ancestry(cls):
        if isinstance(base, ClassInfo):
            match frame.analysis.class_variables(base).get(name):
                case ast.AnnAssign(annotation=kind, value=None):
                    promised = annotation_value(frame.analysis, base, kind)
                    return held if promised is UNKNOWN else promised
    return held


def _set_elsewhere(frame: Frame, cls: ClassInfo, name: str) -> Value:
    """What is set once the object is made, and nowhere before."""
    made = frame.analysis.attributes.get(cls, {}).get(name, UNKNOWN)
    if frame.region is None:
        return made
    return frame.analysis.changes.attribute(frame, cls, name, made)


def _super_class(analysis: Analysis, base: Object) -> ClassInfo | None:
    """The class after which ``super()`` starts to look."""
    if base.name != "super" or base.cls is None:
        return None
    return next((c for c in analysis.project.ancestry(base.cls) if _made_by(c, base.site)), None)


def _made_by(cls: ClassInfo | str, node: ast.AST | None) -> TypeGuard[ClassInfo]:
    return isinstance(cls, ClassInfo) and cls.node is node


def _library_member(base: Object, name: str) -> Value:
    if name == "__call__" and base.cls is not None:
        return base
    if name in MODULE_METHODS:
        return BoundExternal(f"torch.nn.Module.{name}", base)
    return UNKNOWN


def _one_of(
    frame: Frame, receiver: Value, cls: ClassInfo, method: FunctionInfo, node: ast.expr
) -> Value:
    """The method that conditions leave in the class, or any of several."""
    if method.cls is None or not method.cls.others:
        return _bound_to(frame, receiver, cls, method, node)
    return join([_bound_to(frame, receiver, cls, one, node) for one in ways_of(method)])


def _bound_to(
    frame: Frame, receiver: Value, cls: ClassInfo, method: FunctionInfo, node: ast.expr
) -> Value:
    """A method of a class, looked up on an object of it."""
    if not method.decorators:
        return Function(method, receiver)
    if not PROPERTIES.isdisjoint(method.decorators):
        return call_function(frame, Function(method, receiver), Arguments(), node)
    if "staticmethod" in method.decorators:
        return Function(method)
    if "classmethod" in method.decorators:
        return Function(method, Class(cls))
    return Function(method, receiver)


def _receiver(base: Object) -> Object:
    """``self``: which of a class's objects it is matters for optimizers only."""
    if base.site is None or base.is_optimizer:
        return base
    return Object(base.name, base.cls, is_module=base.is_module, fields=base.fields)


def _class_level(frame: Frame, info: ClassInfo, name: str) -> Value:
    """A class attribute: assigned in the class body, or declared there by an annotation."""
    analysis = frame.analysis
    known = analysis.class_level.get((info, name))
    if known is None:
        known = analysis.class_level[info, name] = _declared(analysis, info, name)
    return known


def _declared(analysis: Analysis, info: ClassInfo, name: str) -> Value:
    for base in analysis.project.ancestry(info):
        if not isinstance(base, ClassInfo):
            continue
        if name in base.classes:
            return Class(base.classes[name])
        match analysis.class_variables(base).get(name):
            case ast.AnnAssign(annotation=kind, value=ast.Constant(value=None)):
                promised = annotation_value(analysis, base, kind)
                return join((promised, NONE)) if promised is not UNKNOWN else UNKNOWN
            case ast.Assign(value=value):
                known = _constant_of(value)
                return known if known is not UNKNOWN else _made_of_torch(analysis, base, value)
            case ast.AnnAssign(value=ast.Constant() as value):
                return _constant_of(value)
            case ast.AnnAssign(annotation=kind):
                return annotation_value(analysis, base, kind)
    return UNKNOWN


_UNSET: Final = join((NONE, UNKNOWN))
"""A class attribute that is None: somebody sets it later."""
_RECORDS: Final = frozenset({"collections.OrderedDict", "typing.NamedTuple"})


def record_item(frame: Frame, record: Object, place: int) -> Value:
    """``record[place]`` of a named tuple, or of a model's output, which leaves out what is None."""
    cls = record.cls
    if cls is None or place < 0:
        return UNKNOWN
    ancestry = frame.analysis.project.ancestry(cls)
    kinds = _RECORDS.intersection(base for base in ancestry if isinstance(base, str))
    owners = [base for base in reversed(ancestry) if isinstance(base, ClassInfo)]
    names = dict.fromkeys(n for base in owners for n in frame.analysis.class_variables(base))
    values = [_class_level(frame, cls, name) for name in names][place:]
    if not kinds or not values:
        return UNKNOWN
    if kinds != {"collections.OrderedDict"}:
        return values[0]
    first = [option for option in options(values[0]) if option is not NONE]
    if place == 0:
        return join(first)
    return join([option for v in values for option in options(v) if option is not NONE])


def typed_item(frame: Frame, record: Object, key: str) -> Value:
    """``record["name"]`` of a ``TypedDict``, as it is declared."""
    if record.cls is None:
        return UNKNOWN
    foreign = {b for b in frame.analysis.project.ancestry(record.cls) if isinstance(b, str)}
    return UNKNOWN if _DICTS.isdisjoint(foreign) else _class_level(frame, record.cls, key)


_DICTS: Final = frozenset({"typing.TypedDict", "typing_extensions.TypedDict"})


def _made_of_torch(analysis: Analysis, cls: ClassInfo, node: ast.expr) -> Value:
    """What a class attribute holds that torch makes: a tensor, or a layer."""
    if not isinstance(node, ast.Call):
        return UNKNOWN
    name = dotted_name(cls.module, node.func) or ""
    if not name.startswith("torch.") or "compile" in name or name.startswith("torch.jit."):
        return UNKNOWN
    body = analysis.body(cls.module, None)
    return evaluate(Frame(analysis, body, None, (), {}, ast.Expr(node)), node)


def _constant_of(node: ast.expr) -> Value:
    if isinstance(node, ast.Constant) and node.value is None:
        return _UNSET
    if isinstance(node, ast.Constant):
        return set_by_default(node.value)
    return STATIC if isinstance(node, (ast.List, ast.Tuple, ast.Dict, ast.Set)) else UNKNOWN
